"""Prediction-powered inference: a figure from many judged reviews and the few of them that people checked.

A judge's figure is biased by its errors, people's is exact but wide. The judge's figure plus the mean of what people
say less the judge, on the reviews that both saw, has the right centre whatever the judge is worth, and is narrower
than people's alone where the judge is good. `trust` scales the judge's part (PPI++), from 0 (people alone) on, to the
least variance.

    estimate = trust * judge(unchecked) + (people - trust * judge)(checked)

Ratios (precision: right comments over comments) are treated as such: each part is a ratio of sums, with the variance of
its linearised residuals (Cochran 1977, section 6.3). Units are clusters (a change), independent of each other, and who
was checked was drawn at random.
Sources: Angelopoulos, Bates, Fannjiang, Jordan, Zrnic, Prediction-powered inference, Science 382 (2023);
Angelopoulos, Duchi, Zrnic, PPI++: Efficient prediction-powered inference, arXiv:2311.01453 (2023), section 6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reviewbench.analysis.bag import Numbers
from reviewbench.core.validity import Figure

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


def powered_ratio(checked: Sums, judge: Numbers, size: Numbers, *, level: float = 0.95) -> Powered:
    """The ratio of sums people / size, from `checked` clusters and from the others' `judge` sums and `size`.

    A mean is a ratio with sizes of 1. Shares are not cut to 0..1 inside; the interval is that of Student's t.
    """
    n = int(checked.size.size)
    total = float(checked.size.sum() + size.sum())
    raw = float((checked.judge.sum() + judge.sum()) / total) if total else None
    if n < 2 or not checked.size.sum():
        reason = f"people checked {n} of these: 2 are the least, {FEWEST} are enough"
        none = Figure(value=None, n=n, level=level, reason=reason)
        return Powered(raw, none, none, None)
    value, error, trust = estimates(
        Sums(*(np.atleast_2d(part) for part in checked)), np.atleast_2d(judge), np.atleast_2d(size)
    )
    alone, alone_error, _ = estimates(
        Sums(*(np.atleast_2d(part) for part in checked)), np.zeros((1, 0)), np.zeros((1, 0))
    )
    few = f"only {n} checked: the interval is rough" if n < FEWEST else ""
    return Powered(
        raw,
        _figure(float(alone[0]), float(alone_error[0]), n, level, few),
        _figure(float(value[0]), float(error[0]), n, level, few),
        float(trust[0]),
    )


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


def _figure(value: float, error: float, n: int, level: float, reason: str) -> Figure:
    reach = half_width(n, level) * error
    if error == 0:
        return Figure(value=value, n=n, level=level, reason="all that was checked is alike: no interval")
    low, high = max(0.0, value - reach), value + reach
    return Figure(value=value, low=low, high=high, n=n, level=level, reason=reason)
