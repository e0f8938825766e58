"""Agreement between raters: every coefficient on a table of raters x items in which labels may be missing.

Each coefficient is 1 - disagreement / disagreement by chance, so full agreement is exactly 1. Both are sums over
items: a resample is a row of item weights, and a weight of w repeats the item w times. Where every resample gives the
same, as with full agreement, they say nothing of what so few clusters leave open: a share has Wilson's interval then,
with the clusters as n, and another coefficient none.

- percent agreement: the share of agreeing pairs of labels on an item, averaged over the items judged twice or more.
- Cohen's kappa (two raters): chance from each rater's own labels, on the items that both judged.
- Fleiss' kappa and Gwet's AC1 and AC2: chance from the categories' mean shares over all items, also those judged once.
- Krippendorff's alpha: chance from all labels on items judged twice or more, put together.

Sources: Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20 (1960), and
Weighted kappa, Psychological Bulletin 70 (1968); Fleiss, Measuring nominal scale agreement among many raters,
Psychological Bulletin 76 (1971); Krippendorff, Content Analysis (2004), chapter 11; Gwet, Handbook of Inter-Rater
Reliability, 4th edition (2014), chapters 2 to 5 (AC1, AC2, weights, missing labels).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.stats.correlation import figure_of, row_weights
from reviewgauge.core.document import Value
from reviewgauge.core.reports.agreement import Coefficient
from reviewgauge.core.shares import wilson

Weighting = Literal["identity", "linear", "quadratic", "ordinal"]
Level = Literal["nominal", "ordinal", "interval"]
Draw = Callable[[Numbers], Numbers]  # item weights (resamples x judged items) -> resamples
_MANY = 64  # categories
_CELLS = 2_000_000  # labels x resamples at a time
_ROUNDING = 1e-9  # of a difference that is compared


class Resampling(NamedTuple):
    """How intervals are made: the cluster of each item, and the resampler of clusters."""

    cluster: Integers
    resampler: Resampler


class Table:
    """The labels of raters on items, one entry a label: `rater` (row), `item`, `code` (position of its category).

    `categories` are the values that a rater could have given, in rising order; by default those that occur. Gwet's
    coefficients and weighted kappas depend on them. `names` are the words behind categories that stand for words,
    `raters` the names of the rows. `index` are the items that anyone judged: `item` counts these.
    """

    def __init__(
        self,
        values: Numbers,
        categories: Sequence[float] | Numbers | None = None,
        *,
        at: tuple[Integers, Integers] | None = None,
        names: Sequence[str] = (),
        raters: Sequence[str] = (),
    ) -> None:
        """`values` is raters x items, NaN where a rater did not judge an item; or the label at each place of `at`."""
        table = np.asarray(values, dtype=np.float64)
        if table.ndim != (2 if at is None else 1) or np.isinf(table).any():
            raise ValueError("labels must be a raters x items array of finite numbers and NaN")
        self.rater: Integers
        self.rater, item = np.nonzero(~np.isnan(table)) if at is None else at
        self.size = table.shape[0] if at is None else len(raters)
        given = table[self.rater, item] if at is None else table
        seen = np.unique(given)
        self.categories: Numbers = seen if categories is None else np.unique(np.asarray(categories, dtype=np.float64))
        if not np.isin(seen, self.categories).all():
            raise ValueError(f"{seen[~np.isin(seen, self.categories)][0]:g} is not one of the categories")
        self.code = np.searchsorted(self.categories, given)
        self.index, self.item = np.unique(item, return_inverse=True)
        self.names, self.raters = tuple(names), tuple(raters)

    @cached_property
    def codes(self) -> Integers:
        """The labels as raters x judged items, -1 where there is none: for a few raters."""
        found = np.full((self.size, self.index.size), -1)
        found[self.rater, self.item] = self.code
        return found

    @cached_property
    def counts(self) -> Numbers:
        """The number of raters who put each judged item into each category (items x categories): for a few."""
        found = np.zeros((self.index.size, self.categories.size))
        np.add.at(found, (self.item, self.code), 1.0)
        return found

    @cached_property
    def judged(self) -> Numbers:
        """The number of raters of each judged item."""
        return np.bincount(self.item, minlength=self.index.size).astype(np.float64)

    @cached_property
    def items(self) -> int:
        """The number of items with two raters or more."""
        return int((self.judged >= 2).sum())

    @cached_property
    def active(self) -> int:
        """The number of raters who share an item with another rater."""
        return int(np.unique(self.rater[self.judged[self.item] >= 2]).size)

    @property
    def undefined(self) -> str:
        """Why agreement is undefined; empty where it is defined."""
        raters = np.unique(self.rater).size
        if raters < 2:
            return "there are no labels" if raters == 0 else "only one rater: agreement needs two"
        return "" if self.items else "no item has two raters"

    def name(self, code: int) -> str:
        """The name of a category."""
        return self.names[code] if self.names else f"{self.categories[code]:g}"

    def name_of(self, row: int) -> str:
        """The name of a rater."""
        return self.raters[row] if self.raters else f"rater {row + 1}"

    def pair(self, first: int, second: int) -> Table:
        """The table of two raters on the items that both judged, on the same axis of items."""
        (items, codes), (others, theirs) = self._of[first], self._of[second]
        both, here, there = np.intersect1d(items, others, assume_unique=True, return_indices=True)
        code = np.concatenate([codes[here], theirs[there]])
        # Very many are too many for the coefficients that count those nobody chose.
        kept = np.arange(self.categories.size) if self.categories.size <= _MANY else np.unique(code)
        return Table(
            self.categories[code],
            self.categories[kept],
            at=(np.repeat([0, 1], both.size), np.tile(self.index[both], 2)),
            names=[self.names[at] for at in kept] if self.names else (),
            raters=(self.name_of(first), self.name_of(second)),
        )

    @cached_property
    def _of(self) -> list[tuple[Integers, Integers]]:
        """The items and codes of each rater."""
        order = np.argsort(self.rater, kind="stable")
        ends = np.cumsum(np.bincount(self.rater, minlength=self.size))[:-1]
        return list(zip(np.split(self.item[order], ends), np.split(self.code[order], ends), strict=True))

    def labels_of(self, row: int) -> Integers:
        """The codes that a rater gave."""
        return self._of[row][1]

    def near(self, most: float) -> Numbers:
        """For each label, how many labels of its item are at most `most` apart from it, with itself."""
        low = np.searchsorted(self.categories, self.categories - most)
        high = np.searchsorted(self.categories, self.categories + most, side="right") - 1
        start = self.item * self.categories.size
        keys = np.sort(start + self.code)
        upto = np.searchsorted(keys, start + high[self.code], side="right")
        return np.asarray(upto - np.searchsorted(keys, start + low[self.code]), dtype=np.float64)

    def sums(self, values: Numbers) -> Numbers:
        """The sum of `values` (one a label) over each item."""
        return np.asarray(np.bincount(self.item, values, minlength=self.index.size), dtype=np.float64)

    def mean(self, totals: Numbers) -> Numbers:
        """Totals over the ordered pairs of two labels of each item, a pair; 0 with fewer than two raters."""
        pairs = self.judged * (self.judged - 1)
        return np.divide(totals, pairs, out=np.zeros_like(totals), where=pairs > 0)


def distances(categories: Numbers, weighting: Weighting) -> Numbers:
    """The distance of each pair of categories, 0 to 1: 1 - Gwet's weights. `ordinal` uses their order only."""
    q = categories.size
    steps = np.abs(np.subtract.outer(np.arange(q), np.arange(q))).astype(np.float64)
    gaps = np.abs(np.subtract.outer(categories, categories))
    apart: Numbers = {
        "identity": np.sign(steps), "ordinal": steps * (steps + 1) / 2, "linear": gaps, "quadratic": gaps**2,
    }[weighting]  # fmt: skip
    largest = apart.max(initial=0.0)
    return np.asarray(apart / largest) if largest else apart


# --- the coefficients: each reads a table once, then takes item weights (resamples x judged items) ------------------


def _percent(table: Table, tolerance: float = 0.0) -> Draw:
    far = table.judged**2 - table.sums(table.near(tolerance + _ROUNDING))
    disagreement = _disagreement(table, far)
    return lambda weights: 1 - disagreement(weights)


def _disagreement(table: Table, totals: Numbers) -> Draw:
    """The mean distance of two labels on one item, over items with two raters or more."""
    apart, twice = table.mean(totals), (table.judged >= 2).astype(np.float64)
    return lambda weights: ratio(weights @ apart, weights @ twice)


def _cohen(table: Table, weighting: Weighting = "identity") -> Draw:
    apart = distances(table.categories, weighting)
    both = np.flatnonzero((table.codes >= 0).all(axis=0))
    first, second = table.codes[:, both]
    between, each = apart[first, second], np.eye(table.categories.size)

    def draw(weights: Numbers) -> Numbers:
        known = weights[:, both]
        chance = np.einsum("rk,kl,rl->r", known @ each[first], apart, known @ each[second], optimize=True)
        return 1 - ratio(known @ between * known.sum(axis=1), chance)

    return draw


def _fleiss(table: Table, weighting: Weighting = "identity") -> Draw:
    apart = distances(table.categories, weighting)
    return _by_shares(table, apart, lambda shares: np.einsum("rk,kl,rl->r", shares, apart, shares, optimize=True))


def _gwet(table: Table, weighting: Weighting = "identity") -> Draw:
    q, apart = table.categories.size, distances(table.categories, weighting)
    agreeing = (q * q - apart.sum()) / (q * (q - 1)) if q > 1 else np.nan
    return _by_shares(table, apart, lambda shares: 1 - agreeing * (shares * (1 - shares)).sum(axis=1))


def _by_shares(table: Table, apart: Numbers, chance: Callable[[Numbers], Numbers]) -> Draw:
    """Disagreement against that by chance from the mean share of each category over items."""
    shares = table.counts / table.judged[:, None]
    disagreement = _disagreement(table, np.einsum("ik,kl,il->i", table.counts, apart, table.counts, optimize=True))

    def draw(weights: Numbers) -> Numbers:
        return 1 - ratio(disagreement(weights), chance(ratio(weights @ shares, weights.sum(axis=1)[:, None])))

    return draw


def _alpha(table: Table, level: Level = "nominal") -> Draw:
    """Distance by level: nominal 1, interval the squared difference, ordinal that of midranks of pairable labels."""
    judged, q = table.judged, table.categories.size
    kept = judged[table.item] >= 2  # only labels that can be paired
    item, code = table.item[kept], table.code[kept]
    by_code, by_item = np.argsort(code, kind="stable"), np.argsort(item, kind="stable")
    values = table.categories - table.categories[:1]
    own = values[table.code]
    centre = table.sums(own) / judged
    total = (
        judged**2 - table.sums(table.near(0.0))
        if level == "nominal"
        else 2 * judged * table.sums((own - centre[table.item]) ** 2)
    )
    fixed, others = table.mean(total) * judged, np.where(judged >= 2, judged - 1, 1.0)

    def draw(weights: Numbers) -> Numbers:
        totals = _sums(weights[:, item[by_code]], code[by_code], q)
        n = totals.sum(axis=1)
        if level == "ordinal":
            at = np.cumsum(totals, axis=1) - (totals + n[:, None]) / 2
            ranks = at[:, code[by_item]]
            middle = _sums(ranks, item[by_item], judged.size) / np.maximum(judged, 1.0)
            squares = judged * _sums((ranks - middle[:, item[by_item]]) ** 2, item[by_item], judged.size)
            observed = 2 * np.einsum("ri,ri,i->r", weights, squares, 1 / others, optimize=True)
        else:
            at, observed = np.broadcast_to(values, totals.shape), weights @ fixed
        if level == "nominal":
            chance = n * n - (totals**2).sum(axis=1)
        else:
            chance = 2 * (n * (totals * at**2).sum(axis=1) - (totals * at).sum(axis=1) ** 2)
        one = totals.max(axis=1, initial=0.0) >= n  # one category: `chance` is nothing but rounding
        return 1 - ratio(observed * (n - 1), np.where(one, 0.0, chance))

    return draw


def _sums(values: Numbers, group: Integers, groups: int) -> Numbers:
    """The sums of the columns of `values` over each group; `group` is in rising order."""
    found = np.zeros((values.shape[0], groups))
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    if starts.size:
        found[:, group[starts]] = np.add.reduceat(values, starts, axis=1)
    return found


@dataclass(frozen=True)
class Measure:
    """One coefficient: its usual name, and a function from a table to a function of item weights."""

    name: str
    of: Callable[[Table], Draw]
    numeric: bool = False  # whether labels must be numbers
    two: bool = False  # whether it is defined for exactly two raters
    share: bool = False  # whether it is a mean of shares, not corrected for chance


def within(tolerance: float) -> Measure:
    """The share of pairs of labels that are at most `tolerance` apart."""
    if tolerance < 0:
        raise ValueError(f"tolerance must not be negative, got {tolerance:g}")
    return Measure(f"within {tolerance:g}", partial(_percent, tolerance=tolerance), numeric=True, share=True)


PERCENT = Measure("percent agreement", _percent, share=True)
COHEN = Measure("Cohen's kappa", _cohen, two=True)
COHEN_LINEAR = Measure("Cohen's kappa (linear)", partial(_cohen, weighting="linear"), numeric=True, two=True)
COHEN_QUADRATIC = Measure("Cohen's kappa (quadratic)", partial(_cohen, weighting="quadratic"), numeric=True, two=True)
FLEISS = Measure("Fleiss' kappa", _fleiss)
ALPHA = {
    level: Measure(f"Krippendorff's alpha ({level})", partial(_alpha, level=level), numeric=level != "nominal")
    for level in ("nominal", "ordinal", "interval")
}
AC1 = Measure("Gwet's AC1", _gwet)
AC2 = {
    weighting: Measure(f"Gwet's AC2 ({weighting})", partial(_gwet, weighting=weighting), numeric=True)
    for weighting in ("linear", "quadratic", "ordinal")
}


def coefficients(
    jobs: Sequence[tuple[Table, Sequence[Measure]]], resampling: Resampling | None = None
) -> list[tuple[Coefficient, ...]]:
    """The measures of each table, in order. The tables share one axis of items and the same resamples."""
    prepared = [[m.of(table) if not _undefined(table, m) else None for m in measures] for table, measures in jobs]
    draws: list[list[list[Numbers]]] = [[[] for _ in measures] for _, measures in jobs]
    for weights in row_weights(*resampling) if resampling and resampling.resampler.clusters > 1 else ():
        for (table, _), ready, drawn in zip(jobs, prepared, draws, strict=True):
            own = weights if table.index.size == weights.shape[1] else weights[:, table.index]
            for draw, into in zip(ready, drawn, strict=True):
                if draw is not None:
                    into += [draw(part) for part in np.array_split(own, 1 + table.code.size * len(own) // _CELLS)]
    return [
        tuple(
            Coefficient(
                name=measure.name,
                figure=_figure(table, measure, draw, own, resampling),
                items=table.items,
                raters=table.active,
            )
            for measure, draw, own in zip(measures, ready, drawn, strict=True)
        )
        for (table, measures), ready, drawn in zip(jobs, prepared, draws, strict=True)
    ]


def _undefined(table: Table, measure: Measure) -> str:
    if measure.two and table.size > 2:
        return f"{measure.name} needs exactly two raters, and there are {table.size}"
    return table.undefined


def _figure(
    table: Table, measure: Measure, draw: Draw | None, drawn: Sequence[Numbers], resampling: Resampling | None
) -> Value:
    n = table.items
    if draw is None:
        return Value(value=None, n=n, reason=_undefined(table, measure))
    value = float(draw(np.ones((1, table.index.size)))[0])
    if np.isnan(value):
        return Value(value=None, n=n, reason=_nothing_beyond_chance(table))
    if measure.two and (constant := _constant_rater(table)):
        reason = f"{constant}, so kappa is 0 whatever the other rater chose"
        return Value(value=value, n=n, reason=reason)
    if resampling is None:
        return Value(value=value, n=n)
    draws = np.concatenate(drawn) if drawn else np.zeros(0)
    cluster = resampling.cluster[table.index]
    found = figure_of(value, n, draws, cluster)
    if found.low is None or found.high is None or found.high - found.low > _ROUNDING:
        return found
    if not measure.share:
        return Value(value=value, unit=found.unit, n=n, reason="the same in all resamples, so no interval")
    groups = int(np.unique(cluster[table.judged >= 2]).size)
    low, high = wilson(round(value * groups), groups) or (0.0, 1.0)
    return Value(value=value, unit=found.unit, n=n, low=low, high=high)


def _constant_rater(table: Table) -> str:
    """The one of two raters who gave the same label to all shared items, in words; empty for none or both."""
    codes = table.codes[:, (table.codes >= 0).all(axis=0)]
    constant = np.flatnonzero((codes == codes[:, :1]).all(axis=1))
    if constant.size != 1:
        return ""
    row = int(constant[0])
    return f"{table.name_of(row)} always chose {table.name(int(codes[row, 0]))}"


def _nothing_beyond_chance(table: Table) -> str:
    code = int(table.code[table.judged[table.item] >= 2][0])
    return f"every label is {table.name(code)}, so agreement beyond chance is undefined"


def agree(
    values: Numbers,
    measure: Measure,
    categories: Sequence[float] | None = None,
    resampling: Resampling | None = None,
) -> Value:
    """One coefficient of one table of labels (raters x items)."""
    return coefficients([(Table(values, categories), [measure])], resampling)[0][0].figure
