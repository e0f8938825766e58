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
    # The number of cases is one more column: it is never swapped, but a mean depends on it.
    tables = (np.column_stack([first, sizes]), np.column_stack([second, sizes]))
    pair = _Pair(metric, names, tables, readings)
    observed = pair.statistics(np.zeros((1, first.shape[0])))
    extreme = dict.fromkeys(readings, 0)
    total = 0
    for swaps in _all_swaps(differ, first.shape[0]) if exact else _random_swaps(first.shape[0], draws, seed):
        total += swaps.shape[0]
        for reading, values in pair.statistics(swaps).items():
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

    def __init__(
        self, metric: Metric, names: Sequence[str], tables: tuple[Numbers, Numbers], readings: Sequence[str]
    ) -> None:
        self.metric, self.names, self.readings = metric, tuple(names), tuple(readings)
        self.first, self.second = tables
        self.gap = self.second - self.first
        self.step = _STEP * (np.abs(self.first) + np.abs(self.second)).sum(axis=0) / 2
        # Most readings rest on few of the parts: which, is found on a handful of swaps, and the others are left alone.
        self.columns = np.flatnonzero(self.step)
        clusters = len(self.gap)
        probes = np.vstack([np.zeros(clusters), np.ones(clusters), *_random_swaps(clusters, 16, 0)])
        slopes = self._slopes(self.first.sum(axis=0) + probes @ self.gap)[1]
        moving = np.any([slope.any(axis=0) for slope in slopes.values()], axis=0)
        self.columns = self.columns[moving]
        self._square_up()

    def _square_up(self) -> None:
        """Products of the parts by cluster, as they are and as they change by a swap.

        What a cluster adds to the difference is (a, -b) . (first, second), with a and b the slopes of the reading for
        the two systems; these add up to 0 for any reading that is a quotient of sums. Its square is a quadratic form,
        so the sum of squares after any swap is one matrix product.
        """
        one, two = self.first[:, self.columns], self.second[:, self.columns]
        kept, swapped = np.hstack([one, -two]), np.hstack([two, -one])
        rows, columns = np.triu_indices(kept.shape[1])
        # Entries off the diagonal stand for two of the symmetric form.
        self.entries = (rows, columns, np.where(rows == columns, 1.0, 2.0))
        before = kept[:, rows] * kept[:, columns]
        self.squares = before.sum(axis=0)
        self.changes = np.hstack([self.gap, swapped[:, rows] * swapped[:, columns] - before])

    def statistics(self, swaps: Numbers) -> dict[str, Numbers]:
        """By reading: |difference| / standard error after each row of `swaps` (rows x clusters, 1 is swapped)."""
        changed = swaps @ self.changes
        moved, squares = changed[:, : self.gap.shape[1]], self.squares + changed[:, self.gap.shape[1] :]
        values_one, slopes_one = self._slopes(self.first.sum(axis=0) + moved)
        values_two, slopes_two = self._slopes(self.second.sum(axis=0) - moved)
        rows, columns, twice = self.entries
        found: dict[str, Numbers] = {}
        for reading in self.readings:
            one, two = values_one[reading], values_two[reading]
            slopes = np.hstack([slopes_one[reading], slopes_two[reading]])
            square = np.einsum("re,re,re,e->r", squares, slopes[:, rows], slopes[:, columns], twice)
            error = np.sqrt(np.maximum(square, 0.0))
            found[reading] = _divide(np.abs(one - two), error, np.maximum(np.abs(one), np.abs(two)))
        return found

    def _slopes(self, totals: Numbers) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
        """The readings at `totals` (rows x columns), and their slopes in `self.columns` by central differences."""
        values = self._read(totals)
        slopes = {reading: np.zeros((totals.shape[0], self.columns.size)) for reading in self.readings}
        moved = totals.copy()
        for at, column in enumerate(self.columns):
            width = self.step[column]
            moved[:, column] = totals[:, column] + width
            above = self._read(moved)
            moved[:, column] = totals[:, column] - width
            below = self._read(moved)
            moved[:, column] = totals[:, column]
            for reading, slope in slopes.items():
                both = (above[reading] - below[reading]) / (2 * width)
                right = (above[reading] - values[reading]) / width
                left = (values[reading] - below[reading]) / width
                side = np.where(np.isfinite(right), right, np.where(np.isfinite(left), left, 0.0))
                slope[:, at] = np.where(np.isfinite(both), both, side)
        return values, slopes

    def _read(self, totals: Numbers) -> dict[str, Numbers]:
        columns = np.ascontiguousarray(totals.T)
        found = readings_of(self.metric, MatrixBag(self.names, columns[:-1], columns[-1]))
        return {reading: found[reading] for reading in self.readings}


def _divide(difference: Numbers, error: Numbers, scale: Numbers) -> Numbers:
    """The studentised difference: 0 where there is none, infinite where it is certain, NaN where undefined."""
    nothing = difference <= 1e-12 * scale
    certain = error <= 1e-7 * scale  # it is no more exact than that
    with np.errstate(all="ignore"):
        quotient = np.where(certain, np.inf, difference / error)
    found: Numbers = np.where(np.isnan(difference), np.nan, np.where(nothing, 0.0, quotient))
    return found


def _all_swaps(differ: np.ndarray[tuple[int, ...], np.dtype[np.int64]], clusters: int) -> Iterator[Numbers]:
    """Every way to swap the clusters in which the systems differ, none of the others."""
    codes = np.arange(2**differ.size)
    swaps = np.zeros((codes.size, clusters))
    swaps[:, differ] = (codes[:, None] >> np.arange(differ.size)) & 1
    rows = _chunk_rows(clusters)
    yield from (swaps[start : start + rows] for start in range(0, codes.size, rows))


def _chunk_rows(clusters: int) -> int:
    return min(2000, max(16, _CHUNK_CELLS // max(clusters, 1)))


def _random_swaps(clusters: int, draws: int, seed: int) -> Iterator[Numbers]:
    """`draws` rows of fair coins, in chunks."""
    rows = _chunk_rows(clusters)
    for chunk, start in enumerate(range(0, draws, rows)):
        here = min(rows, draws - start)
        packed = np.random.default_rng([seed, chunk, 1]).integers(0, 256, (here, -(-clusters // 8)), dtype=np.uint8)
        yield np.unpackbits(packed, axis=1, count=clusters).astype(np.float64)


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction over the p-values that are there; never below p, at most 1, in the same order."""
    known = sorted((value, at) for at, value in enumerate(p) if value is not None)
    found: list[float | None] = [None] * len(p)
    highest = 0.0
    for rank, (value, at) in enumerate(known):
        highest = max(highest, min(1.0, value * (len(known) - rank)))
        found[at] = highest
    return found
