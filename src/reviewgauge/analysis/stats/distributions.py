"""The distribution of scores in each human grade, and the distance of the distributions of two grades.

Sources: Smirnov, Table for estimating the goodness of fit of empirical distributions, Annals of Mathematical
Statistics 19 (1948) (the two-sample statistic); Scott, Multivariate Density Estimation (1992) (the bandwidth);
Hyndman and Fan, Sample quantiles in statistical packages, The American Statistician 50 (1996) (quartiles: type 7);
Davison and Hinkley, Bootstrap Methods and their Application (1997), section 5.2 (the basic interval).
"""

from __future__ import annotations

import warnings
from functools import partial
from itertools import combinations

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.stats.correlation import figure_of, interval_figure, mean_figure, row_weights
from reviewgauge.core.reports.validity import GradeRow, KsCell

DENSITY_POINTS = 64
_NEARLY_EQUAL = 1e-9  # relative to the largest score: below it no density is drawn
_CELLS = 2_000_000  # 16 MB of distribution functions at a time


def grade_rows(score: Numbers, human: Numbers, cluster: Integers, resampler: Resampler) -> tuple[GradeRow, ...]:
    """One row for each human value, lowest first. The arrays are those of `correlation.correlate`.

    Quartiles interpolate linearly. The density is Gaussian with Scott's bandwidth, at up to 64 points between the
    lowest and the highest score.
    """
    found = []
    for grade in np.unique(human):
        here = human == grade
        values, own = score[here], cluster[here]
        order = np.argsort(values, kind="stable")
        values, own = values[order], own[order]
        minimum, q1, median, q3, maximum = (float(q) for q in np.quantile(values, (0, 0.25, 0.5, 0.75, 1)))
        n = int(values.size)
        row = GradeRow(
            grade=float(grade),
            n=n,
            minimum=minimum,
            q1=q1,
            median=interval_figure(median, n, own, resampler, partial(_median, values)),
            q3=q3,
            maximum=maximum,
            mean=mean_figure(values, own, resampler),
            density=density(values),
        )
        found.append(row)
    return tuple(found)


def density(values: Numbers) -> tuple[tuple[float, float], ...]:
    """(score, density) points from the lowest to the highest value; empty where all are equal."""
    if values.size < 2:
        return ()
    low, high = float(values.min()), float(values.max())
    if high / 2 - low / 2 <= _NEARLY_EQUAL * max(abs(low), abs(high)) or not np.isfinite(high - low):
        return ()
    from scipy.stats import gaussian_kde

    places = np.linspace(low, high, DENSITY_POINTS)
    heights = gaussian_kde((values - low) / (high - low))((places - low) / (high - low))
    with np.errstate(over="ignore"):
        heights = heights / (high - low)
    return tuple((float(x), float(y)) for x, y in zip(places, heights, strict=True) if np.isfinite(y))


def ks_table(
    score: Numbers,
    human: Numbers,
    cluster: Integers | None = None,
    resampler: Resampler | None = None,
) -> tuple[KsCell, ...]:
    """The two-sample Kolmogorov-Smirnov statistic of every pair of human values, with scipy's two-sided p-value.

    p is exact up to 10,000 rows a grade and asymptotic beyond, and assumes independent rows. With `cluster` (one
    number a row) and `resampler` each cell has an interval. Resamples add noise of their own, so a largest distance d
    is biased upwards in them, and percentile intervals of small distances lie wholly above d. The interval is
    therefore the basic one: 2 d minus the upper and the lower quantile of the resampled distances, clipped to 0..1 and
    extended to include d. In simulations of unclustered rows (300 and 50 of one grade beside 2,000; 40 beside 60)
    such 95% intervals contain the true distance in 71% to 93% of samples, percentile intervals in 0% to 88%; coverage
    is lowest where the true distance is near 0 or 1.
    """
    grades = [float(grade) for grade in np.unique(human)]
    pairs = list(combinations(grades, 2))
    cells = [_cell(first, second, score, human) for first, second in pairs]
    if cluster is None or resampler is None or not cells:
        return tuple(cells)
    found = [np.zeros((0, len(cells)))]
    if (cluster != cluster[0]).any():
        distances = _Distances(score, human)
        found += [distances(weights) for weights in row_weights(cluster, resampler)]
    draws = np.concatenate(found)
    return tuple(_with_interval(cell, draws[:, at], cluster) for at, cell in enumerate(cells))


def _with_interval(cell: KsCell, draws: Numbers, cluster: Integers) -> KsCell:
    value = cell.statistic
    percentile = figure_of(value, cell.n_first + cell.n_second, draws, cluster)
    if percentile.low is None or percentile.high is None:
        return cell.model_copy(update={"reason": percentile.reason})
    low, high = 2 * value - percentile.high, 2 * value - percentile.low
    return cell.model_copy(update={"low": max(0.0, min(low, value)), "high": min(1.0, max(high, value))})


def _cell(first: float, second: float, score: Numbers, human: Numbers) -> KsCell:
    from scipy.stats import ks_2samp

    one, two = score[human == first], score[human == second]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the exact calculation failed: scipy falls back to asymptotic
        result = ks_2samp(one, two)
    return KsCell(
        first=first,
        second=second,
        statistic=float(result.statistic),
        p=float(result.pvalue),
        n_first=int(one.size),
        n_second=int(two.size),
    )


class _Distances:
    """The distance of each pair of grades under row weights (resamples x pairs), NaN where a grade was not drawn.

    Two distribution functions are furthest apart at a value of the smaller sample, or just before one. So it is enough
    to look at the values of all grades but the most common, and at the gaps between them.
    """

    def __init__(self, score: Numbers, human: Numbers) -> None:
        grades, label = np.unique(human, return_inverse=True)
        label = label.reshape(-1)
        values = np.unique(score[label != np.bincount(label).argmax()])
        self.places = 2 * values.size + 1
        self.grades = int(grades.size)
        place = np.searchsorted(values, score, "left") + np.searchsorted(values, score, "right")
        cell = label * self.places + place
        self.order = np.argsort(cell, kind="stable")
        self.cells, self.starts = np.unique(cell[self.order], return_index=True)

    def __call__(self, weights: Numbers) -> Numbers:
        step = max(1, _CELLS // (self.grades * self.places))
        return np.concatenate([self._of(weights[at : at + step]) for at in range(0, weights.shape[0], step)])

    def _of(self, weights: Numbers) -> Numbers:
        drawn = np.zeros((weights.shape[0], self.grades * self.places))
        drawn[:, self.cells] = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        passed = np.cumsum(drawn.reshape(-1, self.grades, self.places), axis=2)
        total = passed[:, :, -1:]
        share = ratio(passed, total)
        pairs = combinations(range(self.grades), 2)
        return np.stack([np.abs(share[:, one] - share[:, two]).max(axis=1) for one, two in pairs], axis=1)


def _median(values: Numbers, weights: Numbers) -> Numbers:
    """The median of sorted `values` under whole row weights: the mean of the two middle ones of an even number."""
    passed = np.cumsum(weights, axis=1)
    total = passed[:, -1]
    middle = [(passed > np.floor((total - 1 + side) / 2)[:, None]).argmax(axis=1) for side in (0, 1)]
    return np.where(total > 0, (values[middle[0]] + values[middle[1]]) / 2, np.nan)
