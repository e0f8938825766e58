"""A share that was found in a sample: its interval, and its margin of error.

Sources: Wilson, Probable inference, JASA 22 (1927); Cochran, Sampling Techniques (1977), sections 2.6 and 4.4, for
the correction of a finite population and the margin of a share that is not known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from statistics import NormalDist
from typing import NamedTuple

from reviewgauge.core.records import Case

LABELS_FACT, CLEAN_FACT = "labels_that_hold", "clean_that_hold"  # on every case: "17 of 20"
_CHECKED = re.compile(r"(\d{1,9}) of (\d{1,9})")
_Z = NormalDist().inv_cdf(0.975)  # of a 95% interval


def margin(n: int, population: int | None = None, share: float = 0.5) -> float | None:
    """Half the width of the usual interval of a share found in `n` of `population` (None: infinite).

    With a share of one half it is the largest possible: the margin of error that is stated with the size of a sample.
    None without a sample; 0 where all were checked.
    """
    if n < 1:
        return None
    return _Z * math.sqrt(share * (1 - share) / n) * math.sqrt(_left_over(n, population))


def wilson(right: float, n: int, population: int | None = None) -> tuple[float, float] | None:
    """Wilson's interval of a share, corrected for a finite population. None without a sample."""
    if n < 1:
        return None
    share, left = right / n, _left_over(n, population)
    if left == 0:
        return share, share
    size, square = n / left, _Z**2
    middle = (share + square / (2 * size)) / (1 + square / size)
    half = _Z / (1 + square / size) * math.sqrt(share * (1 - share) / size + square / (4 * size**2))
    return max(0.0, middle - half) if right else 0.0, min(1.0, middle + half) if right < n else 1.0


def _left_over(n: int, population: int | None) -> float:
    """The correction of the variance for a finite population: 1 for an infinite one, 0 where all were checked."""
    if population is None:
        return 1.0
    return 0.0 if n >= population else (population - n) / (population - 1)


class PeopleFound(NamedTuple):
    """`words`, such as "17 of 20", and the share with the ends of its interval."""

    words: str
    ends: tuple[float, float, float]


def people_found(cases: Iterable[Case], fact: str) -> PeopleFound | None:
    """How many of the drawn labels, or clean changes, hold, as each case says; None where nobody checked."""
    stated = next((str(case.facts[fact]) for case in cases if fact in case.facts), "")
    if not (found := _CHECKED.fullmatch(stated)):
        return None
    right, n = int(found[1]), int(found[2])
    interval = wilson(right, n) if right <= n else None
    return PeopleFound(stated, (right / n, *interval)) if interval else None
