"""How much of a difference's variance lies between changes, and how much between attempts at one change.

A reading that is not a mean, such as a micro-averaged F1, is made one first: each attempt gets its influence, how the
reading moves when that attempt takes the place of an average one. Means of influences behave, in large samples, as the
reading does. Sources: Hampel, The influence curve and its role in robust estimation, JASA 69 (1974); Efron, The
Jackknife, the Bootstrap and Other Resampling Plans (1982), chapter 6 (the infinitesimal jackknife); Searle, Casella and
McCulloch, Variance Components (1992), for splitting a variance by unweighted means of unbalanced groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reviewgauge.analysis.stats.bootstrap import Clusters, Resampler
from reviewgauge.analysis.stats.sums import MatrixBag, Numbers, readings_of
from reviewgauge.core.protocols import Metric

_STEP = 1e-5  # the largest relative change of a total when a slope is taken: a slope, yet far above rounding

_NOTHING = 1e-12  # a distance from the mean this small (relative) is rounding


@dataclass(frozen=True)
class Attempts:
    """Measurements of one system: `rows` (m x parts) of attempts at case `case` (m, counted from 0) of n cases.

    With `weights` (m), the attempts at one case weigh 1 together.
    """

    rows: Numbers
    case: np.ndarray[tuple[int], np.dtype[np.int64]]
    cases: int

    @property
    def counts(self) -> Numbers:
        """How many attempts each case has (n)."""
        return np.bincount(self.case, minlength=self.cases).astype(np.float64)

    @property
    def weights(self) -> Numbers:
        """What each attempt weighs in a mean over cases (m)."""
        return np.asarray(1 / self.counts[self.case])


def influences(metric: Metric, names: Sequence[str], attempts: Attempts, reading: str) -> Numbers | None:
    """The influence of each attempt on `reading` (m), in its unit; None where the reading has no slope.

    The attempts at a case are averaged before cases are added up, as everywhere. The influences of all cases sum to 0.
    """
    table = np.column_stack([attempts.rows, np.ones(len(attempts.rows))])
    total = attempts.weights @ table
    towards = attempts.cases * table - total
    ratio = np.divide(towards, total, out=np.zeros_like(towards), where=total != 0)
    largest = np.abs(ratio).max(axis=1, initial=0.0)
    step = _STEP / np.where(largest > 0, largest, 1.0)
    moved = step[:, None] * towards
    here = _read(metric, names, total[None], reading)
    above, below = (_read(metric, names, total + sign * moved, reading) for sign in (1.0, -1.0))
    if here is None or above is None or below is None or not np.isfinite(here).all():
        return None
    both = (above - below) / (2 * step)
    side = np.where(np.isfinite(above), above - here, here - below) / step  # at the edge of where it is defined
    found = np.where(np.isfinite(both), both, side)
    return found if np.isfinite(found).all() else None


def _read(metric: Metric, names: Sequence[str], totals: Numbers, reading: str) -> Numbers | None:
    columns = np.ascontiguousarray(totals.T)
    return readings_of(metric, MatrixBag(names, columns[:-1], columns[-1])).get(reading)


@dataclass(frozen=True)
class Spread:
    """The variance of one system's values around their case's mean: what another attempt would change.

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
        """How many cases had two attempts."""
        return int(np.isfinite(self.own).sum())

    @property
    def known(self) -> bool:
        """Whether any case had two attempts."""
        return self.repeated > 0


def case_means(values: Numbers, attempts: Attempts) -> Numbers:
    """The mean of the attempts at each case (n)."""
    return np.bincount(attempts.case, weights=values, minlength=attempts.cases) / attempts.counts


@dataclass(frozen=True)
class Components:
    """The variance of the difference of two means over cases, split.

    With n cases and k attempts of each system its variance is (between + within[0] / k + within[1] / k) / n. A system
    without two attempts anywhere has no `within` (None), and what its attempts vary by is part of `between`.
    `draws` are resampled values of the three (3 x resamples).
    """

    between: float
    within: tuple[float | None, float | None]
    cases: int
    clusters: int
    draws: Numbers

    def variance(self, attempts: int) -> float:
        """The variance of the difference on a single case, with so many attempts where attempts can be planned."""
        return self.between + sum(part or 0.0 for part in self.within) / attempts

    def drawn(self, attempts: int) -> Numbers:
        """The same under each resample of the pilot's clusters."""
        return np.asarray(self.draws[0] + (self.draws[1] + self.draws[2]) / attempts)


def split(difference: Numbers, spreads: Sequence[Spread], clusters: Clusters, resampler: Resampler) -> Components:
    """Split the variance of `difference` (n, one value a case: the mean of its attempts) of one or two systems.

    The cases of one cluster are added up before variances are taken, so what they share counts into `between`.
    A negative `between`, which chance can give, is taken as 0.
    """
    index, groups, n = clusters.index, clusters.count, difference.size
    columns = [np.ones(n), difference - difference.mean()]
    for spread in spreads:
        known = np.isfinite(spread.own)
        columns += [np.where(known, spread.own, 0.0), known.astype(np.float64), 1 / spread.counts]
    sums = np.stack([np.bincount(index, weights=column, minlength=groups) for column in columns])
    size, gap = sums[:2]
    table = np.vstack([size, gap, size**2, gap**2, size * gap, sums[2:]])
    point = _from_sums(table.sum(axis=1)[:, None], groups, 1)
    drawn = [_from_sums(table @ weights.T, groups, 2) for weights in resampler.weights()]
    draws = np.concatenate(drawn, axis=1) if drawn else np.zeros((3, 0))
    within = [float(point[1 + s, 0]) if spread.known else None for s, spread in enumerate(spreads)]
    return Components(float(point[0, 0]), (within[0], within[1] if len(within) > 1 else None), n, groups, draws)


def _from_sums(total: Numbers, groups: int, corrections: int) -> Numbers:
    """(between, within of the first, of the second) from sums over clusters, a column a resample.

    Each correction by g / (g - 1) puts one reason right for which a variance of g clusters comes out too small: that
    their mean was taken from them, and that they were drawn from g clusters and not from all there are.
    """
    cases, gap, size2, gap2, cross = total[:5]
    mean = gap / cases
    whole = (gap2 - 2 * mean * cross + mean**2 * size2) / cases * (groups / (groups - 1)) ** corrections
    within: list[Numbers] = []
    for own, known, inverse in (total[at : at + 3] for at in range(5, len(total), 3)):
        each = np.divide(own, known, out=np.zeros_like(own), where=known > 0)
        whole = whole - each * inverse / cases
        within.append(each)
    while len(within) < 2:
        within.append(np.zeros_like(whole))
    return np.stack([np.maximum(whole, 0.0), *within])
