"""Paired sign-flip test of the difference of any measure, and Holm's correction.

The contribution of a cluster to the difference of two systems is, for a quotient of sums, (numerator - r x
denominator) / volume of the first system minus the same of the second, where r is the value that both would share and
a volume is a sum of denominators. Contributions sum to the difference. If the systems are equally good, each
contribution is as likely to be positive as negative, so signs may be flipped; p is the share of flips at least as
extreme as the data. For the mean of a number this is the usual sign-flip test.

Two things are unknown, and p is the largest over their candidates:

- the shared value r: that of the first system, of the second, or of both together. Without this, the many tiny
  contributions of other clusters could make a system with a single hit significantly different.
- the spread by volume: as each system showed it, or shared in proportion to the volumes (both divided by their
  geometric mean). A quiet system that was expected to hit twice and hit nothing shows no spread at all; with the
  first candidate alone, up to 28% of simulated pairs of equal F1, one system noisy and one very quiet, differed at
  the 5% level. With both it is below 6% (docs/explanation/statistics.md).

Swapping the comments of the two systems, the more usual test, asks whether they behave alike and not whether they are
equally good: with one hit in all, different numbers of comments alone could give p < .001.
Sources: Hemerik, Goeman and Finos, Robust testing in generalized linear models by sign flipping score contributions,
JRSS B 82 (2020); Berger and Boos, P values maximized over a confidence set for the nuisance parameter, JASA 89 (1994),
for taking the largest (over a few points only, our simplification); Phipson and Smyth, Permutation
p-values should never be zero, SAGMB 9 (2010); Holm, A simple sequentially rejective multiple test procedure,
Scandinavian Journal of Statistics 6 (1979).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers, measures_of_totals
from reviewgauge.core.protocols import Metric

EXACT_CLUSTERS = 12
_STEP = 1e-5  # relative change of a part for a slope: small, yet far above rounding
_TIE = 1e-6  # statistics this close (relative) are equal, computed in another order
_NOTHING = 1e-12  # a relative difference below this is rounding
_CHUNK_CELLS = 1_000_000


class FlipTest(NamedTuple):
    """A two-sided p-value (None: the difference is undefined), and the name of the test."""

    p: float | None
    test: str


def flip_test(
    metric: Metric,
    names: Sequence[str],
    first: Numbers,
    second: Numbers,
    sizes: Numbers,
    *,
    measures: Sequence[str],
    draws: int,
    seed: int,
) -> dict[str, FlipTest]:
    """Test these measures of `metric` between two systems measured on the same cases.

    `first` and `second` are sums by cluster (clusters x parts), `sizes` the cases in each cluster. With up to 12
    contributing clusters all flips are tried; with more, `draws` random ones, and p counts the data as one more. A
    measure that is undefined for either system, or has no slope there, has no p.
    """
    if not first.shape[0]:
        return dict.fromkeys(measures, FlipTest(None, "none: no case in common"))
    tables = np.stack([np.column_stack([first, sizes]), np.column_stack([second, sizes])])
    pair = _Pair(metric, names, tables, measures)
    return {m: (_swap if m in metric.curved else _flip)(pair, m, draws, seed) for m in measures}


def _swap(pair: _Pair, measure: str, draws: int, seed: int) -> FlipTest:
    """The two systems' results exchanged cluster by cluster, and the measure itself computed again: for curved ones."""
    difference = pair.difference(measure)
    if np.isnan(difference):
        return FlipTest(None, "none: the difference is undefined")
    one, two = pair.tables
    gaps = (two - one)[(two != one).any(axis=1)]
    exact = len(gaps) <= EXACT_CLUSTERS
    extreme, total = (0, 0) if exact else (1, 1)
    for signs in [_all_signs(len(gaps))] if exact else _random_signs(len(gaps), draws, seed):
        moved = (signs < 0).astype(np.float64) @ gaps
        ends = [
            measures_of_totals(pair.metric, pair.names, totals)[measure]
            for totals in (one.sum(axis=0) + moved, two.sum(axis=0) - moved)
        ]
        total += len(signs)
        extreme += int(np.count_nonzero(np.abs(ends[0] - ends[1]) >= abs(difference) * (1 - _TIE)))
    kind = f"exact, all {total:,}" if exact else f"{total - 1:,} at random"
    return FlipTest(extreme / total, f"results exchanged pair by pair, {kind}")


def _flip(pair: _Pair, measure: str, draws: int, seed: int) -> FlipTest:
    difference, rows = pair.difference(measure), pair.contributions(measure)
    if rows is None:
        return FlipTest(None, "none: the difference is undefined")
    limit = abs(difference) * (1 - _TIE)
    few = np.count_nonzero(rows, axis=1) <= EXACT_CLUSTERS
    short = [row[row != 0] for row in rows[few]]
    exact = [_count_extreme(row[None], limit, [_all_signs(row.size)]) for row in short]
    found = [extreme / total for extreme, total in exact]
    kind = f"exact, all {max((total for _, total in exact), default=0):,}"
    if not few.all():
        extreme, total = _count_extreme(rows[~few], limit, _random_signs(rows.shape[1], draws, seed))
        found.append((extreme + 1) / (total + 1))
        kind = f"{total:,} at random"
    return FlipTest(max(found), f"paired sign flips, {kind}")


def _count_extreme(rows: Numbers, limit: float, flips: Iterable[Numbers]) -> tuple[int, int]:
    """(the number of `flips` that reach `limit`, in the row with the most; the number of flips)."""
    extreme, total = np.zeros(rows.shape[0], dtype=np.int64), 0
    columns = np.ascontiguousarray(rows.T)
    for signs in flips:
        total += signs.shape[0]
        extreme += np.count_nonzero(np.abs(signs @ columns) >= limit, axis=0)
    return int(extreme.max()), total


class _Pair:
    """Two systems on the same clusters, and the contribution of each cluster to their difference."""

    def __init__(self, metric: Metric, names: Sequence[str], tables: Numbers, measures: Sequence[str]) -> None:
        """`tables` is systems x clusters x (the parts and, last, the number of cases)."""
        self.metric, self.names, self.measures = metric, tuple(names), tuple(measures)
        self.tables = tables
        self.shares = tables[0, :, -1] / tables[0, :, -1].sum()
        one, two = self.tables.sum(axis=1)
        self.points = (one, two, one + two)
        self.values = self._read(np.stack(self.points))
        self.slopes = [self._slopes(point) for point in self.points]

    def difference(self, measure: str) -> float:
        """First minus second; 0 where only rounding differs."""
        one, two = (float(value) for value in self.values[measure][:2])
        return 0.0 if abs(one - two) <= _NOTHING * max(abs(one), abs(two)) else one - two

    def contributions(self, measure: str) -> Numbers | None:
        """The contribution of each cluster to the difference, a row for each candidate (candidates x clusters).

        The first three candidates take the slopes at the totals of the first system, of the second, and of both. A
        slope is (numerator - r x denominator) / volume at that point, so it is multiplied by that volume and divided
        by the system's own. The fourth divides both by the geometric mean of their volumes. A measure that is not a
        quotient of sums has one candidate: each system's own slopes.
        """
        difference = self.difference(measure)
        if np.isnan(difference):
            return None
        if difference == 0:
            return np.zeros((1, self.tables.shape[1]))
        at_one, at_two, at_both = (slopes[measure] for slopes in self.slopes)
        share = self._volume_share(measure)
        rows: list[Numbers] = []
        if share is not None and np.isfinite(at_both).all():
            rows = [
                self._add_up(at_one[0] - at_one[1] * (share / (1 - share)), difference),
                self._add_up(at_two[0] * ((1 - share) / share) - at_two[1], difference),
                self._add_up(at_both[0] / share - at_both[1] / (1 - share), difference),
                (at_both[0] - at_both[1]) / np.sqrt(share * (1 - share)),
            ]
            rows = [row for row in rows if np.isfinite(row).all()]
        if not rows:
            rows = [self._add_up(at_one[0] - at_two[1], difference)]
        found = np.array(rows)
        if not np.isfinite(found).all():
            return None
        return np.where(np.abs(found) <= _TIE / 10 * np.abs(found).max(), 0.0, found)

    def _volume_share(self, measure: str) -> float | None:
        """The first system's share of the volume of both; None for a measure that is not a quotient of sums.

        The quotient of both systems together lies between the two, closer to the one with the larger volume.
        """
        one, two, both = self.values[measure]
        share = float((both - two) / (one - two))
        return share if 0 < share < 1 else None

    def _add_up(self, row: Numbers, difference: float) -> Numbers:
        """`row` with the rest of the difference spread over the cases; the rest is 0 for a quotient of sums."""
        return np.asarray(row + (difference - row.sum()) * self.shares)

    def _slopes(self, point: Numbers) -> dict[str, Numbers]:
        """Measure -> its slope at `point` towards each cluster of each system (systems x clusters).

        Slopes go along whole clusters, not single parts: an F1 of precision 0 and recall 0 has no slope in either.
        """
        systems, clusters, width = self.tables.shape
        towards = self.tables.reshape(systems * clusters, width)
        ratio = np.divide(towards, point, out=np.zeros_like(towards), where=point != 0)
        largest = np.abs(ratio).max(axis=1)
        step = _STEP / np.where(largest > 0, largest, 1.0)
        moved = step[:, None] * towards
        values = self._read(point[None])
        above, below = self._read(point + moved), self._read(point - moved)
        found: dict[str, Numbers] = {}
        for measure in self.measures:
            right = (above[measure] - values[measure]) / step
            left = (values[measure] - below[measure]) / step
            both = (above[measure] - below[measure]) / (2 * step)
            side = np.where(np.isfinite(right), right, left)
            found[measure] = np.where(np.isfinite(both), both, side).reshape(systems, clusters)
        return found

    def _read(self, totals: Numbers) -> dict[str, Numbers]:
        found = measures_of_totals(self.metric, self.names, totals)
        return {measure: found[measure] for measure in self.measures}


def _all_signs(clusters: int) -> Numbers:
    """Every way to give `clusters` clusters a sign (rows x clusters)."""
    return _signs((np.arange(2**clusters)[:, None] >> np.arange(clusters)) & 1)


def _random_signs(clusters: int, draws: int, seed: int) -> Iterator[Numbers]:
    """`draws` rows of fair signs, in chunks."""
    rows = max(16, _CHUNK_CELLS // max(clusters, 1))
    for chunk, start in enumerate(range(0, draws, rows)):
        here = min(rows, draws - start)
        packed = np.random.default_rng([seed, chunk, 1]).integers(0, 256, (here, -(-clusters // 8)), dtype=np.uint8)
        yield _signs(np.unpackbits(packed, axis=1, count=clusters))


def _signs(coins: np.ndarray[Any, np.dtype[np.integer[Any]]]) -> Numbers:
    found: Numbers = 2.0 * coins.astype(np.float64) - 1.0
    return found


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction of the defined p-values, in the same order; never below p, at most 1."""
    known = sorted((value, at) for at, value in enumerate(p) if value is not None)
    found: list[float | None] = [None] * len(p)
    highest = 0.0
    for rank, (value, at) in enumerate(known):
        highest = max(highest, min(1.0, value * (len(known) - rank)))
        found[at] = highest
    return found
