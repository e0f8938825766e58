"""Prediction-powered inference: a figure from many judged reviews and the few of them that people checked.

A judge's figure is biased by its errors, people's is exact but wide. The judge's figure plus the mean of what people
say less the judge, on the reviews that both saw, has the right centre whatever the judge is worth, and is narrower
than people's alone where the judge is good. `trust` scales the judge's part (PPI++), from 0 (people alone) on, to the
least variance.

    estimate = trust * judge(unchecked) + (people - trust * judge)(checked)

Ratios (precision: right comments over comments) are treated as such: each part is a ratio of sums, with the variance of
its linearised residuals (Cochran 1977, section 6.3). Units are clusters (a change), independent of each other, and who
was checked was drawn at random. What counts 0 for sure, without anybody's judgement (a silent review finds nothing),
stands apart: the estimate is made on the rest, and scaled by the rest's share of the sizes.
Sources: Angelopoulos, Bates, Fannjiang, Jordan, Zrnic, Prediction-powered inference, Science 382 (2023);
Angelopoulos, Duchi, Zrnic, PPI++: Efficient prediction-powered inference, arXiv:2311.01453 (2023), section 6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.core.reports.validity import Figure

FEWEST = 10  # checked clusters under which the interval is said to be rough


class Powered(NamedTuple):
    """The judge's own figure, people's alone, both together, and the trust that was put into the judge."""

    raw: float | None
    people: Figure
    corrected: Figure
    trust: float | None


class Sums(NamedTuple):
    """Sums by cluster, one entry a cluster in each: what people counted, what the judge did, and the denominator."""

    people: Numbers
    judge: Numbers
    size: Numbers


def powered_ratio(
    checked: Sums,
    judge: Numbers,
    size: Numbers,
    *,
    silent: Numbers | None = None,
    limits: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Powered:
    """The ratio of sums people / size, from `checked` clusters and from the others' `judge` sums and `size`.

    `silent` are sizes of clusters that count 0 for sure. A mean is a ratio with sizes of 1. Estimates and intervals
    (Student's t) are cut to `limits`, such as 0 and 1 of a share.
    """
    n = int(checked.size.size)
    quiet = np.zeros(0) if silent is None else silent
    total = float(checked.size.sum() + size.sum() + quiet.sum())
    raw = float((checked.judge.sum() + judge.sum()) / total) if total else None
    if n < 2 or not checked.size.sum():
        reason = f"people checked {n} of these: 2 are the least, {FEWEST} are enough"
        none = Figure(value=None, n=n, level=level, reason=reason)
        return Powered(raw, none, none, None)
    own = Sums(*(np.atleast_2d(part) for part in checked))
    share, wobble = _share(np.concatenate([checked.size, size]), quiet)
    few = f"only {n} checked: the interval is rough" if n < FEWEST else ""

    def figure(judged: Numbers, sizes: Numbers) -> tuple[Figure, float]:
        value, error, trust = (float(one[0]) for one in estimates(own, np.atleast_2d(judged), np.atleast_2d(sizes)))
        if error == 0:
            alike = "all that was checked is alike: no interval"
            return Figure(value=_cut(share * value, limits), n=n, level=level, reason=alike), trust
        reach = half_width(n, level) * float(np.hypot(share * error, value * wobble))
        low, high = (_cut(share * value + sign * reach, limits) for sign in (-1, 1))
        return Figure(value=_cut(share * value, limits), low=low, high=high, n=n, level=level, reason=few), trust

    corrected, trust = figure(judge, size)
    return Powered(raw, figure(np.zeros(0), np.zeros(0))[0], corrected, trust)


def _share(sizes: Numbers, quiet: Numbers) -> tuple[float, float]:
    """(the share of all sizes that is not quiet, its standard error over clusters)."""
    if not quiet.sum():
        return 1.0, 0.0
    total, n = float(sizes.sum() + quiet.sum()), sizes.size + quiet.size
    share = float(sizes.sum()) / total
    squares = float((((1 - share) * sizes) ** 2).sum() + ((share * quiet) ** 2).sum())
    return share, float(np.sqrt(squares * n / (n - 1))) / total


def _cut(value: float, limits: tuple[float, float] | None) -> float:
    return value if limits is None else min(max(value, limits[0]), limits[1])


def estimates(checked: Sums, judge: Numbers, size: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """(estimate, standard error, trust) of many data sets at once: every array is data sets x clusters."""
    own, others = checked.size.sum(axis=1), size.sum(axis=1)
    people = checked.people.sum(axis=1) / own
    judged = checked.judge.sum(axis=1) / own
    u = checked.people - people[:, None] * checked.size
    v = checked.judge - judged[:, None] * checked.size
    n, m = checked.size.shape[1], size.shape[1]
    scale = n / (n - 1) / own**2
    if m > 1 and (others > 0).all():
        elsewhere = judge.sum(axis=1) / others
        rest = judge - elsewhere[:, None] * size
        far = (rest**2).sum(axis=1) * m / (m - 1) / others**2
        spread = (v**2).sum(axis=1) * scale + far
        both = (u * v).sum(axis=1) * scale
        trust = np.clip(np.divide(both, spread, out=np.zeros_like(both), where=spread > 0), 0.0, 1.0)
        value = trust * elsewhere + people - trust * judged
    else:
        far, trust, value = np.zeros_like(own), np.zeros_like(own), people
    near = ((u - trust[:, None] * v) ** 2).sum(axis=1) * scale
    return value, np.sqrt(near + trust**2 * far), trust


def half_width(n: int, level: float) -> float:
    """Standard errors on each side, by Student's t with n - 1 degrees of freedom."""
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, n - 1))
