"""What a useful metric must beat: trivial properties of a review, compared with people like any metric."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.scored import Scored
from reviewgauge.metrics.coverage.sentences import sentences

LENGTH = "review length"
_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _share_of_diff(review: str, diff: str) -> float | str:
    """The share of the different words of the diff that the review has."""
    there = set(_words(diff))
    return len(there & set(_words(review))) / len(there) if there else "the case has no diff"


BASELINES: Mapping[str, tuple[str, Callable[[str, str], float | str]]] = {
    LENGTH: ("characters", lambda review, _: float(len(review))),
    "number of sentences": ("sentences", lambda review, _: float(len(sentences(review)))),
    "number of words": ("words", lambda review, _: float(len(_words(review)))),
    "words of the diff": ("share", _share_of_diff),
}
"""Name -> (unit, value of the texts of the review and of the diff, or why there is none)."""


def length_baseline(bench: ReviewTable) -> Scored:
    """The length of the review in characters."""
    return _baseline(bench, LENGTH)


def baselines(bench: ReviewTable) -> tuple[Scored, ...]:
    """Every baseline that any review has a value of."""
    found = [_baseline(bench, name) for name in BASELINES]
    return tuple(one for one in found if not all(isinstance(value, str) for value in one.values.values()))


def _baseline(bench: ReviewTable, name: str) -> Scored:
    unit, value = BASELINES[name]
    texts = zip(bench.keys, bench.hypothesis, bench.diff, strict=True)
    values = {key: value(review, diff) for key, review, diff in texts}
    return Scored(name, f"{name} (baseline)", unit, unit, values, {}, baseline=True)
