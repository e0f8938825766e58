"""Correlation of scores with human values, with intervals from resampled clusters and exact p-values for few values.

Every resample is a row of cluster weights, and a row of data counts as often as its cluster was drawn. Rows are
sorted once: cumulated weights give the midranks of a resample, and Kendall's concordant pairs bit by bit of the grade.
1,000 resamples of 5,164 rows take about half a second.
Sources: Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945) (tau-b); Knight, A computer method
for calculating Kendall's tau with ungrouped data, JASA 61 (1966) (counting pairs by merging); Kendall and Gibbons,
Rank Correlation Methods (1990), chapter 4 (exact p-values); Phipson and Smyth, Permutation p-values should never be
zero, SAGMB 9 (2010); Field and Welsh (2007): see bootstrap.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Integers, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import Resampler, percentile_interval
from reviewgauge.core.document import Value

PEARSON, SPEARMAN, KENDALL = "pearson", "spearman", "kendall"
FEWEST_ROWS = 3
_CELLS = 250_000  # 2 MB of row weights at a time, and several times as much while they are used, in each thread
_ROUNDING = 1e-12  # a variance this small beside the mean square is rounding


def correlate(score: Numbers, human: Numbers, cluster: Integers, resampler: Resampler) -> dict[str, Value]:
    """Pearson's r, Spearman's rho and Kendall's tau-b of `score` with `human`, under those names.

    The arrays have one entry a row; `cluster` counts from 0 below `resampler.clusters`. Each figure has scipy's p-value
    (for Spearman's rho that of `spearman_p`), which assumes independent rows, and the percentile interval over
    resampled clusters. An undefined correlation has no value and a reason.
    """
    return _figures((PEARSON, SPEARMAN, KENDALL), Rows(score, human, cluster), resampler)


def spearman_only(score: Numbers, human: Numbers, cluster: Integers, resampler: Resampler) -> Value:
    """Spearman's rho as in `correlate`, without the other two; for slices, of which there are many."""
    return _figures((SPEARMAN,), Rows(score, human, cluster), resampler)[SPEARMAN]


def spearman_within(score: Numbers, human: Numbers, cluster: Integers, group: Integers, resampler: Resampler) -> Value:
    """The mean over groups of rows of Spearman's rho within each, weighted by rows; no p-value.

    For scores that do not compare across groups, such as grades by fits on different folds: each fit maps the many
    rows that it cannot separate to a value of its own, and ranked together those values would be noise. Groups with
    an undefined rho are left out, and `n` counts the rows of the others. There is no value if those are less than
    half of all rows.
    """
    all_rows = Rows(score, human, cluster)
    if all_rows.undefined:
        return Value(value=None, n=all_rows.n, reason=all_rows.undefined)
    groups = defined_groups(all_rows.score, all_rows.human, group)
    n = sum(rows.size for rows in groups)
    if 2 * n < all_rows.n:
        total = np.unique(group).size
        reason = f"defined in only {len(groups)} of {total} groups of rows, {n} of {all_rows.n:,} rows"
        return Value(value=None, n=n, reason=reason if n else "undefined within every group of rows")
    parts = [Rows(all_rows.score[at], all_rows.human[at], all_rows.cluster[at]) for at in groups]

    def mean(weights: Numbers) -> Numbers:
        rhos = np.stack([part.spearman(weights[:, at]) for part, at in zip(parts, groups, strict=True)])
        rows = np.stack([weights[:, at].sum(axis=1) for at in groups]) * np.isfinite(rhos)
        return ratio((rows * np.nan_to_num(rhos)).sum(axis=0), rows.sum(axis=0))

    value = float(mean(np.ones((1, all_rows.n)))[0])
    return interval_figure(value, n, all_rows.cluster, resampler, mean)


def defined_groups(score: Numbers, human: Numbers, group: Integers) -> list[Integers]:
    """The row numbers of each group within which a correlation is defined."""
    rows = [np.flatnonzero(group == number) for number in np.unique(group)]
    return [at for at in rows if not Rows(score[at], human[at], group[at]).undefined]


def mean_within(score: Numbers, human: Numbers, groups: Sequence[Integers]) -> float | None:
    """The value of `spearman_within` on these groups, without an interval; None where undefined."""
    parts = [Rows(score[at], human[at], at) for at in groups]
    rhos = [(float(rows.spearman(np.ones((1, rows.n)))[0]), rows.n) for rows in parts if not rows.undefined]
    return sum(rho * n for rho, n in rhos) / sum(n for _, n in rhos) if rhos else None


def interval_figure(
    value: float, n: int, cluster: Integers, resampler: Resampler, draw: Callable[[Numbers], Numbers]
) -> Value:
    """The figure `value` with the percentile interval of what `draw` makes of row weights (resamples x rows)."""
    drawn = [draw(weights) for weights in row_weights(cluster, resampler)] if _spread(cluster) else []
    return figure_of(value, n, np.concatenate(drawn) if drawn else np.zeros(0), cluster)


def mean_figure(values: Numbers, cluster: Integers, resampler: Resampler) -> Value:
    """The mean of at least one value with the percentile interval over resampled clusters."""
    return interval_figure(
        float(values.mean()),
        int(values.size),
        cluster,
        resampler,
        lambda weights: ratio(weights @ values, weights.sum(axis=1)),
    )


def figure_of(value: float, n: int, draws: Numbers, cluster: Integers, *, p: float | None = None) -> Value:
    """The figure `value` with the percentile interval of its resampled `draws` (NaN where undefined)."""
    if not _spread(cluster):
        return Value(unit="coefficient", value=value, n=n, p=p, reason="only one cluster, so no interval")
    if not draws.size:
        return Value(unit="coefficient", value=value, n=n, p=p, reason="no resamples, so no interval")
    low, high, undefined = percentile_interval(draws)
    reason = "" if low is not None else f"no interval: undefined in {undefined:.0%} of the resamples"
    return Value(unit="coefficient", value=value, low=low, high=high, n=n, p=p, reason=reason)


def row_weights(cluster: Integers, resampler: Resampler) -> Iterator[Numbers]:
    """How often each row was drawn, in chunks of resamples (resamples x rows)."""
    step = max(1, _CELLS // max(cluster.size, 1))
    for weights in resampler.weights():
        for start in range(0, weights.shape[0], step):
            yield weights[start : start + step][:, cluster]


def _spread(cluster: Integers) -> bool:
    return bool(cluster.size) and bool((cluster != cluster[0]).any())


def _figures(names: Sequence[str], rows: Rows, resampler: Resampler) -> dict[str, Value]:
    if reason := rows.undefined:
        return {name: Value(value=None, n=rows.n, reason=reason) for name in names}
    draws: dict[str, list[Numbers]] = {name: [] for name in names}
    if _spread(rows.cluster):
        for weights in row_weights(rows.cluster, resampler):
            for name in names:
                draws[name].append(rows.drawn[name](weights))
    found: dict[str, Value] = {}
    for name in names:
        value, p = _scipy(name, rows)
        drawn = np.concatenate(draws[name]) if draws[name] else np.zeros(0)
        reason = "the scores or the human values differ by rounding only"
        found[name] = Value(unit="coefficient", value=None, n=rows.n, reason=reason)
        if value is not None:
            found[name] = figure_of(value, rows.n, drawn, rows.cluster, p=p)
    return found


def _scipy(name: str, rows: Rows) -> tuple[float | None, float | None]:
    """Value and p-value; None for both where the variation is only rounding."""
    from scipy import stats

    functions = {PEARSON: stats.pearsonr, SPEARMAN: stats.spearmanr, KENDALL: stats.kendalltau}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # about nearly constant input, which the result shows
        if name == PEARSON and (_nearly_constant(rows.score) or _nearly_constant(rows.human)):
            return None, None
        result = functions[name](rows.score, rows.human)
    value, p = float(result.statistic), float(result.pvalue)
    if not np.isfinite(value):
        return None, None
    if name == SPEARMAN:
        return value, spearman_p(rows.score, rows.human)
    return value, p if np.isfinite(p) else None


def _nearly_constant(values: Numbers) -> bool:
    mean = float(values.mean())
    return bool(np.linalg.norm(values - mean) < 1e-13 * abs(mean))


@dataclass(frozen=True)
class _Sorted:
    """One variable sorted: `order` (row numbers), the `codes` of its distinct values by row, `starts` of each value."""

    order: Integers
    codes: Integers
    starts: Integers

    @classmethod
    def of(cls, values: Numbers) -> _Sorted:
        distinct, codes = np.unique(values, return_inverse=True)
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(distinct.size))
        return cls(order, codes.reshape(-1), starts)

    def value_weights(self, weights: Numbers) -> Numbers:
        """The summed weight of each distinct value (resamples x values)."""
        found: Numbers = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        return found

    def midranks(self, of_values: Numbers) -> Numbers:
        """Midranks less a half, by row, from the weights of the values (resamples x rows)."""
        ranks = np.cumsum(of_values, axis=1) - of_values / 2
        found: Numbers = ranks[:, self.codes]
        return found


class Rows:
    """Scores and human values by row, ready to be resampled. Each method takes row weights (resamples x rows).

    A weight of w is the same as the row repeated w times. Draws are NaN where the resample leaves them undefined.
    """

    def __init__(self, score: Numbers, human: Numbers, cluster: Integers) -> None:
        self.score = np.asarray(score, dtype=np.float64).reshape(-1)
        self.human = np.asarray(human, dtype=np.float64).reshape(-1)
        self.cluster = np.asarray(cluster, dtype=np.int64).reshape(-1)
        if not self.score.size == self.human.size == self.cluster.size:
            sizes = f"{self.score.size} scores, {self.human.size} human values, {self.cluster.size} clusters"
            raise ValueError(f"scores, human values and clusters must have the same length, got {sizes}")
        if not (np.isfinite(self.score).all() and np.isfinite(self.human).all()):
            raise ValueError("scores and human values must be finite; leave other rows out")

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.score.size)

    @property
    def undefined(self) -> str:
        """Why a correlation is undefined on these rows; empty where it is defined."""
        if self.n < FEWEST_ROWS:
            return f"{self.n} rows: a correlation needs at least {FEWEST_ROWS}"
        for values, what in ((self.score, "scores"), (self.human, "human values")):
            if (values == values[0]).all():
                return f"all {self.n:,} {what} are equal, so a correlation is undefined"
        return ""

    @property
    def drawn(self) -> Mapping[str, Callable[[Numbers], Numbers]]:
        """Correlation name -> the function of row weights that computes it."""
        return {PEARSON: self.pearson, SPEARMAN: self.spearman, KENDALL: self.kendall}

    @cached_property
    def _by_score(self) -> _Sorted:
        return _Sorted.of(self.score)

    @cached_property
    def _by_human(self) -> _Sorted:
        return _Sorted.of(self.human)

    @cached_property
    def _powers(self) -> Numbers:
        """1, x, y, xx, yy, xy of the centred and scaled values (rows x 6)."""
        x, y = (_standard(values) for values in (self.score, self.human))
        return np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])

    def pearson(self, weights: Numbers) -> Numbers:
        """Pearson's r of each resample."""
        n, x, y, xx, yy, xy = (weights @ self._powers).T
        with np.errstate(all="ignore"):
            spread_x, spread_y = xx - x * x / n, yy - y * y / n
            flat = (spread_x <= _ROUNDING * xx) | (spread_y <= _ROUNDING * yy) | (n == 0)
            return _clipped((xy - x * y / n) / np.sqrt(spread_x * spread_y), flat)

    def spearman(self, weights: Numbers) -> Numbers:
        """Spearman's rho of each resample: Pearson's r of the midranks."""
        total = weights.sum(axis=1)
        of_scores, of_humans = self._by_score.value_weights(weights), self._by_human.value_weights(weights)
        ranks = self._by_score.midranks(of_scores)
        ranks -= total[:, None] / 2  # the mean rank, so that the product below is one of deviations
        ranks *= weights
        product = np.einsum("rn,rn->r", ranks, self._by_human.midranks(of_humans))
        with np.errstate(all="ignore"):
            spread = np.sqrt(_rank_spread(total, of_scores)) * np.sqrt(_rank_spread(total, of_humans))
            return _clipped(product / spread, _one_value(total, of_scores) | _one_value(total, of_humans))

    def kendall(self, weights: Numbers) -> Numbers:
        """Kendall's tau-b of each resample."""
        total = weights.sum(axis=1)
        of_scores, of_humans = self._by_score.value_weights(weights), self._by_human.value_weights(weights)
        with np.errstate(all="ignore"):
            untied = [total * total - np.einsum("rv,rv->r", values, values) for values in (of_scores, of_humans)]
            tau = 2 * self._excess(weights) / (np.sqrt(untied[0]) * np.sqrt(untied[1]))
            return _clipped(tau, _one_value(total, of_scores) | _one_value(total, of_humans))

    def _excess(self, weights: Numbers) -> Numbers:
        """Concordant less discordant pairs.

        The codes of two different values first differ, from the top, in one bit. For each bit, rows with equal higher
        bits form a block; within it, each row with the bit set is compared with the rows without it, in order of the
        other variable. So every pair is counted once, in one pass per bit.
        """
        found = np.zeros(weights.shape[0])
        for level in self._levels:
            here = weights[:, level.order]
            below = np.zeros((here.shape[0], here.shape[1] + 1))
            np.cumsum(np.where(level.unset, here, 0.0), axis=1, out=below[:, 1:])
            net = below[:, level.lower] + below[:, level.upper] - below[:, level.start] - below[:, level.end]
            found += np.einsum("rn,rn->r", here[:, level.set], net)
        return found

    @cached_property
    def _levels(self) -> list[_Level]:
        few, other = sorted((self._by_score.codes, self._by_human.codes), key=lambda codes: int(codes.max(initial=0)))
        return [_level(few, other, bit) for bit in range(int(few.max(initial=0)).bit_length())]


@dataclass(frozen=True)
class _Level:
    """One bit of Kendall's count: rows in `order`, which lack the bit (`unset`), and the positions of those with it.

    For each row with the bit (`set`), as positions in `order`: its block runs from `start` to `end`, rows with a lower
    value of the other variable end at `lower`, those with a higher one start at `upper`.
    """

    order: Integers
    unset: Flags
    set: Integers
    start: Integers
    end: Integers
    lower: Integers
    upper: Integers


def _level(bits_of: Integers, other: Integers, bit: int) -> _Level:
    block, is_set = bits_of >> (bit + 1), (bits_of >> bit) & 1 == 1
    both = np.unique(block[is_set])
    used = np.flatnonzero(np.isin(block, both))  # a block without a set bit has no pair to count
    order = used[np.lexsort((other[used], block[used]))]
    blocks, values = block[order], other[order]
    keys = blocks * (int(other.max(initial=0)) + 1) + values
    here = np.flatnonzero(is_set[order])
    return _Level(
        order=order,
        unset=~is_set[order],
        set=here,
        start=np.searchsorted(blocks, blocks[here], side="left"),
        end=np.searchsorted(blocks, blocks[here], side="right"),
        lower=np.searchsorted(keys, keys[here], side="left"),
        upper=np.searchsorted(keys, keys[here], side="right"),
    )


def _standard(values: Numbers) -> Numbers:
    """Centred, and scaled to at most 1, so that squares neither vanish nor overflow."""
    if not values.size:
        return values
    largest = float(np.abs(values).max())
    scaled = values / largest if largest else values
    centred: Numbers = scaled - scaled.mean()
    spread = float(np.abs(centred).max())
    return centred / spread if spread else centred


def _rank_spread(total: Numbers, of_values: Numbers) -> Numbers:
    """The summed squared deviation of midranks: (n^3 - sum of t^3) / 12 over ties of t."""
    found: Numbers = (total**3 - np.einsum("rv,rv,rv->r", of_values, of_values, of_values)) / 12
    return found


def _one_value(total: Numbers, of_values: Numbers) -> Flags:
    """Whether a resample has at most one distinct value."""
    found: Flags = of_values.max(axis=1, initial=0.0) >= total
    return found


def _clipped(values: Numbers, undefined: Flags) -> Numbers:
    found: Numbers = np.where(undefined | ~np.isfinite(values), np.nan, np.clip(values, -1.0, 1.0))
    return found


EXACT = 8  # values up to which every order is counted; beyond, Student's distribution is as good
_EQUAL = 1e-9  # sums of products of ranks that differ by less are equal


def spearman_p(first: Numbers, second: Numbers) -> float | None:
    """The two-sided p-value of Spearman's rho; None where rho is undefined.

    Up to 8 values it is exact: the share of all orders in which rho is as far from 0, ties included. Of n values the
    rarest order has the probability 1 / n!, so four systems in one order have p 1/12 where Student's distribution says
    0. Beyond 8 values it is scipy's, but never below the share of the two rarest orders.
    """
    from scipy import stats

    n = first.size
    if n > EXACT:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about constant input, which gives None
            found = float(stats.spearmanr(first, second).pvalue)
        return max(found, 2 / math.factorial(min(n, 170))) if math.isfinite(found) else None
    ranks, others = (stats.rankdata(values) - (n + 1) / 2 for values in (first, second))
    if n < 2 or not ranks.any() or not others.any():
        return None
    here = abs(float(ranks @ others))
    return float((np.abs(ranks[_orders(n)] @ others) >= here - _EQUAL).mean())


@cache
def _orders(n: int) -> Integers:
    """Every order of the places below n (n! x n)."""
    return np.array(list(permutations(range(n))), dtype=np.int64)
