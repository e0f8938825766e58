"""Paired permutation test for any reading, and Holm's correction.

Under the null hypothesis it does not matter which system said what, so in every cluster the two systems' parts may
be swapped. The statistic is the difference of the readings divided by its own standard error, recomputed after
every swap. The division matters: a reading such as micro-F1 can be equal for a noisy and a quiet system, and the
bare difference then calls up to 14% of such equal pairs different at the 5% level (docs/statistics.md). Divided,
the test stays exact when the systems are exchangeable, and holds its level for large samples when only the readings
are equal. For a mean over clusters of one size it is the sign-flip test.
Sources: Chung and Romano, Exact and asymptotically robust permutation tests, Annals of Statistics 41 (2013);
Konietschke and Pauly, Bootstrapping and permuting paired t-test type statistics, Statistics and Computing 24 (2014);
Phipson and Smyth, Permutation p-values should never be zero, SAGMB 9 (2010); Holm, A simple sequentially rejective
multiple test procedure, Scandinavian Journal of Statistics 6 (1979).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from reviewbench.analysis.bag import MatrixBag, Numbers, readings_of
from reviewbench.core.protocols import Metric

EXACT_CLUSTERS = 12
_STEP = 1e-5  # of a part's own size: small enough to be a slope, large enough to rise above rounding
_TIE = 1e-6  # two statistics this close (relative) are the same one, computed in another order
_CHUNK_CELLS = 1_000_000


class SwapTest(NamedTuple):
    """Two-sided p-values by reading (None: the difference is undefined), and how they were come by."""

    p: Mapping[str, float | None]
    test: str


def swap_test(
    metric: Metric,
    names: Sequence[str],
    first: Numbers,
    second: Numbers,
    sizes: Numbers,
    *,
    readings: Sequence[str],
    draws: int,
    seed: int,
) -> SwapTest:
    """Test these readings of `metric` between two systems measured on the same cases.

    `first` and `second` are sums by cluster (clusters x parts), `sizes` the cases in each cluster. Up to 12 clusters
    in which the systems differ, every swap is tried; beyond, `draws` random ones, and p counts the data as one more.
    A swap that leaves a reading undefined counts as being as extreme as the data.
    """
    if not first.shape[0]:
        return SwapTest(dict.fromkeys(readings), "none: no case in common")
    differ = np.flatnonzero((first != second).any(axis=1))
    exact = differ.size <= EXACT_CLUSTERS
    pair = _Pair(metric, names, first, second, sizes)
    observed = pair.statistics(np.zeros((1, first.shape[0])), readings)
    extreme = dict.fromkeys(readings, 0)
    total = 0
    for swaps in _all_swaps(differ, first.shape[0]) if exact else _random_swaps(first.shape[0], draws, seed):
        total += swaps.shape[0]
        for reading, values in pair.statistics(swaps, readings).items():
            limit = observed[reading][0] * (1 - _TIE)
            extreme[reading] += int(np.count_nonzero(~(values < limit)))  # NaN is not below: it counts
    p: dict[str, float | None] = {}
    for reading, count in extreme.items():
        if np.isnan(observed[reading][0]):
            p[reading] = None
        else:
            p[reading] = count / total if exact else (count + 1) / (total + 1)
    kind = f"exact, all {total:,} swaps" if exact else f"{total:,} random swaps"
    return SwapTest(p, f"paired permutation, {kind}")


class _Pair:
    """Two systems whose parts can be swapped cluster by cluster."""

    def __init__(self, metric: Metric, names: Sequence[str], first: Numbers, second: Numbers, sizes: Numbers) -> None:
        self.metric, self.names = metric, tuple(names)
        # The number of cases is one more column: it is never swapped, but a mean depends on it.
        self.first = np.column_stack([first, sizes])
        self.second = np.column_stack([second, sizes])
        self.step = _STEP * (np.abs(self.first) + np.abs(self.second)).sum(axis=0) / 2

    def statistics(self, swaps: Numbers, readings: Sequence[str]) -> dict[str, Numbers]:
        """By reading: |difference| / standard error after each row of `swaps` (rows x clusters, 1 is swapped)."""
        gap = self.second - self.first
        moved = swaps @ gap
        one, two = self.first.sum(axis=0) + moved, self.second.sum(axis=0) - moved
        values_one, slopes_one = self._slopes(one, readings)
        values_two, slopes_two = self._slopes(two, readings)
        found: dict[str, Numbers] = {}
        for reading in readings:
            value = values_one[reading]
            difference = np.abs(value - values_two[reading])
            a, b = slopes_one[reading], slopes_two[reading]
            # What each cluster, as it now is, adds to the difference (the linearised influence).
            influence = a @ self.first.T - b @ self.second.T + swaps * ((a + b) @ gap.T)
            influence -= influence.mean(axis=1, keepdims=True)
            error = np.sqrt((influence**2).sum(axis=1))
            scale = np.maximum(np.abs(value), np.abs(values_two[reading]))
            found[reading] = _divide(difference, error, scale)
        return found

    def _slopes(self, totals: Numbers, readings: Sequence[str]) -> tuple[Mapping[str, Numbers], dict[str, Numbers]]:
        """The readings at `totals` (rows x columns), and their slopes in each column by central differences."""
        values = self._read(totals)
        slopes = {reading: np.zeros_like(totals) for reading in readings}
        for column in np.flatnonzero(self.step):
            width = self.step[column]
            up, down = totals.copy(), totals.copy()
            up[:, column] += width
            down[:, column] -= width
            above, below = self._read(up), self._read(down)
            for reading, slope in slopes.items():
                both = (above[reading] - below[reading]) / (2 * width)
                right = (above[reading] - values[reading]) / width
                left = (values[reading] - below[reading]) / width
                side = np.where(np.isfinite(right), right, np.where(np.isfinite(left), left, 0.0))
                slope[:, column] = np.where(np.isfinite(both), both, side)
        return values, slopes

    def _read(self, totals: Numbers) -> Mapping[str, Numbers]:
        columns = np.ascontiguousarray(totals.T)
        return readings_of(self.metric, MatrixBag(self.names, columns[:-1], columns[-1]))


def _divide(difference: Numbers, error: Numbers, scale: Numbers) -> Numbers:
    """The studentised difference: 0 where there is none, infinite where it is certain, NaN where undefined."""
    nothing = difference <= 1e-12 * scale
    certain = error <= 1e-8 * scale  # the slopes are no more exact than that
    with np.errstate(all="ignore"):
        quotient = np.where(certain, np.inf, difference / error)
    found: Numbers = np.where(np.isnan(difference), np.nan, np.where(nothing, 0.0, quotient))
    return found


def _all_swaps(differ: np.ndarray[tuple[int, ...], np.dtype[np.int64]], clusters: int) -> Iterator[Numbers]:
    """Every way to swap the clusters in which the systems differ, none of the others."""
    codes = np.arange(2**differ.size)
    swaps = np.zeros((codes.size, clusters))
    swaps[:, differ] = (codes[:, None] >> np.arange(differ.size)) & 1
    rows = max(1, _CHUNK_CELLS // max(clusters, 1))
    yield from (swaps[start : start + rows] for start in range(0, codes.size, rows))


def _random_swaps(clusters: int, draws: int, seed: int) -> Iterator[Numbers]:
    rows = min(draws, max(16, _CHUNK_CELLS // clusters))
    for chunk, start in enumerate(range(0, draws, rows)):
        generator = np.random.default_rng([seed, chunk, 1])
        yield generator.integers(0, 2, size=(min(rows, draws - start), clusters)).astype(np.float64)


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction over the p-values that are there; never below p, at most 1, in the same order."""
    known = sorted((value, at) for at, value in enumerate(p) if value is not None)
    found: list[float | None] = [None] * len(p)
    highest = 0.0
    for rank, (value, at) in enumerate(known):
        highest = max(highest, min(1.0, value * (len(known) - rank)))
        found[at] = highest
    return found
