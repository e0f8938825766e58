"""What a study can detect: the variance of a difference between and within changes, and the smallest one it finds.

A measure that is not a mean, such as a micro-averaged F1, is first made one: each attempt gets its influence, the
change of the measure when that attempt takes the place of an average one. In large samples means of influences behave
as the measure does.
Sources: Hampel, The influence curve and its role in robust estimation, JASA 69 (1974); Efron, The Jackknife, the
Bootstrap and Other Resampling Plans (1982), chapter 6 (the infinitesimal jackknife); Searle, Casella and McCulloch,
Variance Components (1992) (splitting a variance by unweighted means of unbalanced groups).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers, Numbers, measures_of_totals
from reviewgauge.analysis.stats.bootstrap import Clusters
from reviewgauge.core.protocols import Metric

_STEP = 1e-5  # relative change of a total for a slope: small, yet far above rounding

_NOTHING = 1e-12  # a relative distance from the mean below this is rounding


@dataclass(frozen=True)
class Attempts:
    """Measurements of one system: `rows` (m x parts) of attempts at case `case` (m, counted from 0) of n cases.

    With `weights` (m), the attempts at one case weigh 1 in total.
    """

    rows: Numbers
    case: Integers
    cases: int

    @property
    def counts(self) -> Numbers:
        """The number of attempts at each case (n)."""
        return np.bincount(self.case, minlength=self.cases).astype(np.float64)

    @property
    def weights(self) -> Numbers:
        """The weight of each attempt in a mean over cases (m)."""
        return np.asarray(1 / self.counts[self.case])


def influences(metric: Metric, names: Sequence[str], attempts: Attempts, measure: str) -> Numbers | None:
    """The influence of each attempt on `measure` (m), in its unit; None where the measure has no slope.

    The attempts at a case are averaged before cases are summed. The influences of all cases sum to 0.
    """
    table = np.column_stack([attempts.rows, np.ones(len(attempts.rows))])
    total = attempts.weights @ table
    towards = attempts.cases * table - total
    ratio = np.divide(towards, total, out=np.zeros_like(towards), where=total != 0)
    largest = np.abs(ratio).max(axis=1, initial=0.0)
    step = _STEP / np.where(largest > 0, largest, 1.0)
    moved = step[:, None] * towards
    here = _read(metric, names, total[None], measure)
    above, below = (_read(metric, names, total + sign * moved, measure) for sign in (1.0, -1.0))
    if here is None or above is None or below is None or not np.isfinite(here).all():
        return None
    both = (above - below) / (2 * step)
    side = np.where(np.isfinite(above), above - here, here - below) / step  # one-sided at the edge of its domain
    found = np.where(np.isfinite(both), both, side)
    return found if np.isfinite(found).all() else None


def _read(metric: Metric, names: Sequence[str], totals: Numbers, measure: str) -> Numbers | None:
    return measures_of_totals(metric, names, totals).get(measure)


@dataclass(frozen=True)
class Spread:
    """The variance of one system's values around the mean of their case: the effect of another attempt.

    `own` (n) is each case's sample variance, NaN with one attempt; `counts` (n) its attempts.
    """

    own: Numbers
    counts: Numbers

    @classmethod
    def of(cls, values: Numbers, attempts: Attempts) -> Spread:
        """From values (m), one an attempt."""
        counts = attempts.counts
        gaps = values - case_means(values, attempts)[attempts.case]
        gaps[np.abs(gaps) <= _NOTHING * np.abs(values).max(initial=0.0)] = 0.0
        squares = np.bincount(attempts.case, weights=gaps**2, minlength=attempts.cases)
        own = np.divide(squares, counts - 1, out=np.full(attempts.cases, np.nan), where=counts > 1)
        return cls(own, counts)

    @property
    def repeated(self) -> int:
        """The number of cases with two or more attempts."""
        return int(np.isfinite(self.own).sum())

    @property
    def known(self) -> bool:
        """Whether any case had two or more attempts."""
        return self.repeated > 0


def case_means(values: Numbers, attempts: Attempts) -> Numbers:
    """The mean of the attempts at each case (n)."""
    return np.bincount(attempts.case, weights=values, minlength=attempts.cases) / attempts.counts


@dataclass(frozen=True)
class Components:
    """The variance of the difference of two means over cases, split.

    With n cases and k attempts of each system its variance is (between + within[0] / k + within[1] / k) / n. Without
    two attempts at any case a system's `within` is None, and the variance of its attempts is part of `between`.
    """

    between: float
    within: tuple[float | None, float | None]
    cases: int
    clusters: int

    def variance(self, attempts: int) -> float:
        """The variance of the difference on a single case with this many attempts."""
        return self.between + sum(part or 0.0 for part in self.within) / attempts


def split(difference: Numbers, spreads: Sequence[Spread], clusters: Clusters) -> Components:
    """Split the variance of `difference` (n, one value a case: the mean of its attempts) of one or two systems.

    Cases are summed over each cluster first, so variance that they share is part of `between`. A negative `between`,
    which can occur by chance, is taken as 0.
    """
    groups, n = clusters.count, difference.size
    gap = np.bincount(clusters.index, weights=difference - difference.mean(), minlength=groups)
    between = float((gap**2).sum()) / n * groups / (groups - 1)
    within = [float(np.nanmean(spread.own)) if spread.known else None for spread in spreads]
    between -= sum((own or 0.0) * float(np.mean(1 / s.counts)) for own, s in zip(within, spreads, strict=True))
    return Components(max(between, 0.0), (within[0], within[1] if len(within) > 1 else None), n, groups)


def standard_error(draws: Numbers, clusters: int) -> float | None:
    """The bootstrap standard error of a statistic: the standard deviation of its resampled values.

    Resampling n clusters gives a variance that is (n - 1) / n of the unbiased one, hence the correction by
    n / (n - 1). NaN draws are left out. None with fewer than two clusters or two defined draws.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 6 and section 5.3.
    """
    defined = draws[np.isfinite(draws)]
    if clusters < 2 or defined.size < 2:
        return None
    return float(np.std(defined, ddof=1) * math.sqrt(clusters / (clusters - 1)))


def allowance(level: float = 0.05) -> int:
    """Clusters to add because a study estimates its own spread: half the squared critical value."""
    return math.ceil(NormalDist().inv_cdf(1 - level / 2) ** 2 / 2)


def detectable_difference(
    error: float | None, clusters: int, *, power: float = 0.8, level: float = 0.05
) -> float | None:
    """The smallest true difference that a two-sided test at `level` finds with probability `power`.

    It is (z[1 - level / 2] + z[power]) times the standard error of the paired difference of so many clusters, 2.80
    standard errors by default, as if `allowance` of them were not there. This is for one comparison; a Holm correction
    over several needs more. None for a standard error that is unknown or 0 (systems that never differ do not show how
    much they might), and for too few clusters.
    Source: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 2; Bloom,
    Minimum Detectable Effects, Evaluation Review 19 (1995), for the form; Guenther (see `plan`) for the allowance.
    """
    left = clusters - allowance(level)
    if error is None or not math.isfinite(error) or error <= 0 or left <= 0:
        return None
    return _reach(power, level) * error * math.sqrt(clusters / left)


def clusters_needed(error: float, clusters: int, difference: float, *, power: float = 0.8, level: float = 0.05) -> int:
    """The clusters that detect `difference`, if so many give the standard error `error`.

    It shrinks with the square root of their number. Raises ValueError for a difference of 0.
    """
    if difference == 0:
        raise ValueError("difference must not be 0: no number of clusters detects it")
    # Rounded first, so that rounding errors never add a cluster.
    needed = math.ceil(round(clusters * (_reach(power, level) * error / difference) ** 2, 9))
    return allowance(level) + max(1, needed)


def clusters_to_find(difference: float, detectable: float, clusters: int, *, level: float = 0.05) -> int:
    """The clusters that detect `difference`, if so many detect `detectable`, both with the same power.

    Raises ValueError for a difference of 0.
    """
    if difference == 0:
        raise ValueError("difference must not be 0: no number of clusters detects it")
    spare = allowance(level)
    return spare + max(1, math.ceil(round((clusters - spare) * (detectable / difference) ** 2, 9)))


def _reach(power: float, level: float) -> float:
    normal = NormalDist()
    return normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)
