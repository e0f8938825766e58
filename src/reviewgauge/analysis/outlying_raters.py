"""One rater against the others: how often they agree, and who is apart from the rest.

Agreement is the share of an item's other labels that are at most `tolerance` apart from the rater's, averaged over the
items. It is compared with the same share among the others, without this rater; the interval is of the difference, over
resampled cases. On items of known answer a rater is compared with what the others made of them. With many raters
somebody is always last: who is named stays so when all the comparisons are counted (Bonferroni).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.raters import Grid, kind_of
from reviewgauge.analysis.stats.agreement import Table
from reviewgauge.analysis.stats.arrays import Flags, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.stats.correlation import figure_of, row_weights
from reviewgauge.core.base import Fact
from reviewgauge.core.document import Value
from reviewgauge.core.labels import Label, Scale, Subject
from reviewgauge.core.reports.annotation import Difference, RaterAgreement

LIMIT = 0.05  # probability that somebody is named who is like the rest
ENOUGH = 5  # shared items below which nobody is said to be apart
MOST_DIFFERENCES = 8
_ROUNDING = 1e-9  # of a difference compared with a tolerance


class Share(NamedTuple):
    """A share of agreement on each item, and the items that have one (0 or 1)."""

    values: Numbers
    known: Numbers

    @classmethod
    def of(cls, agreeing: Numbers, pairs: Numbers) -> Share:
        """From counts of agreeing pairs and of pairs by item."""
        known = pairs > 0
        return cls(np.divide(agreeing, pairs, out=np.zeros(pairs.shape), where=known), known.astype(np.float64))

    def draw(self, weights: Numbers) -> Numbers:
        """The mean over items, by weights (resamples x items)."""
        return ratio(weights @ (self.values * self.known), weights @ self.known)


@dataclass(frozen=True)
class _Compared:
    """A rater beside the others on the items of a grid, with intervals by `weights` (resamples x items each)."""

    grid: Grid
    table: Table
    weights: Sequence[Numbers]

    def figures(self, mine: Flags, agreeing: Numbers, pairs: Numbers, counted: int) -> list[Value]:
        """Figures of a rater, of the others, and of the difference; each pair is `counted` so often in the sums."""
        sums = self.table.sums
        of_rater = sums(np.where(mine, agreeing, 0.0)), sums(np.where(mine, pairs, 0.0))
        own = Share.of(*of_rater)
        rest = Share.of(sums(agreeing) / counted - of_rater[0], sums(pairs) / counted - of_rater[1])
        return [
            self._figure(own.draw, own, None),
            self._figure(rest.draw, rest, None),
            self._figure(lambda weights: own.draw(weights) - rest.draw(weights), own, rest),
        ]

    def _figure(self, draw: Callable[[Numbers], Numbers], of: Share, rest: Share | None) -> Value:
        items, value = int(of.known.sum()), float(draw(np.ones((1, len(self.grid.items))))[0])
        if np.isnan(value):
            return Value(value=None, n=items, reason="there is nothing to compare with")
        draws = np.concatenate([draw(one) for one in self.weights]) if self.weights else np.zeros(0)
        p = None if rest is None else _p(value, draws, rest, items)
        return figure_of(value, items, draws, self.grid.cluster, p=p)


def rater_agreement(
    labels: Sequence[Label],
    right: Mapping[Subject, Fact],
    *,
    scale: Scale | None = None,
    tolerance: float = 0.0,
    resamples: int = 200,
    seed: int = 0,
) -> list[RaterAgreement]:
    """Each rater of one dimension, at most the `MOST_RATERS` with the most labels. `labels` are independent ones.

    `right` are known answers by what they are about. Raises UserError for values of two kinds.
    """
    name = labels[0].dimension
    kind = kind_of(name, labels, scale, nominal=False)
    grid = Grid(labels, kind, list(dict.fromkeys(label.rater for label in labels)))
    table = grid.table()
    values = kind.categories[table.code]
    answers = np.array([_code(kind.code, right.get(item.subject), numeric=not kind.names) for item in grid.items])
    answer = answers[table.item]
    near, others = table.near(tolerance + _ROUNDING) - 1.0, table.judged[table.item] - 1.0  # not with oneself
    asked = (~np.isnan(answer)).astype(np.float64)
    correct = (np.abs(values - answer) <= tolerance + _ROUNDING).astype(np.float64)
    apart = values * (others + 1) - table.sums(values)[table.item]
    resampler = Resampler(grid.clusters, resamples, seed)
    weights = list(row_weights(grid.cluster, resampler)) if resamples else []

    compared = _Compared(grid, table, weights)
    found = []
    for row in grid.busiest:
        mine = table.rater == row
        with_others, among_others, gap = compared.figures(mine, near, others, 2)
        on_gold, others_on_gold, gold_gap = compared.figures(mine, correct, asked, 1)
        pairs = others[mine].sum()
        found.append(
            RaterAgreement(
                rater=grid.raters[row],
                dimension=name,
                labels=int(mine.sum()),
                with_others=with_others,
                among_others=among_others,
                gap=gap,
                lean=None if kind.names or not pairs else float(apart[mine].sum() / pairs),
                on_gold=on_gold,
                others_on_gold=others_on_gold,
                gold_gap=gold_gap,
            )
        )
    return found


def _p(value: float, draws: Numbers, rest: Share, items: int) -> float | None:
    """How likely a difference so far below 0 is for a rater who is like the rest.

    By the spread of its resampled draws; few items that all say the same have none, so it is at least that of so many
    items with the share of the rest.
    """
    if not draws.size:
        return None
    share = float(rest.draw(np.ones((1, rest.values.size)))[0])
    resampled = float(np.nanstd(draws)) if np.isfinite(draws).any() else 0.0
    spread = max(resampled, (share * (1 - share) / items) ** 0.5)
    return NormalDist().cdf(value / spread) if spread else float(value >= 0)


def _code(code: Mapping[Fact, float], value: Fact | None, *, numeric: bool) -> float:
    """A known answer among the values of the labels; one that nobody gave is none of them."""
    if value is None:
        return np.nan
    return code.get(value, float(value) if numeric and not isinstance(value, str) else -1.0)


def differences(labels: Sequence[Label], most: int = MOST_DIFFERENCES) -> list[Difference]:
    """Who says what where another one says something else, the most frequent first. `labels` are of one dimension."""
    by_item: dict[Subject, list[Label]] = {}
    for label in labels:
        by_item.setdefault(label.subject, []).append(label)
    counted = Counter(
        (one.rater, str(one.value), str(other.value))
        for group in by_item.values()
        for one, other in permutations(group, 2)
        if one.value != other.value
    )
    return [
        Difference(dimension=labels[0].dimension, rater=rater, says=says, others_say=other, times=times)
        for (rater, says, other), times in sorted(counted.items(), key=lambda entry: (-entry[1], entry[0]))[:most]
    ]


def advice(raters: Sequence[RaterAgreement]) -> list[str]:
    """Who is below the rest by more than chance, in words."""
    found = []
    comparisons = sum(figure.value is not None for one in raters for figure in (one.gap, one.gold_gap))
    for one in raters:
        if _below(one.gap, comparisons):
            words = (
                f"{one.rater} agrees with the others in {one.dimension} on {one.with_others.value:.0%} of "
                f"{one.with_others.n} items; the others agree with each other on {one.among_others.value:.0%}"
            )
            if one.lean is not None and abs(one.lean) >= 0.05:
                words += f". {one.rater} is {abs(one.lean):.1f} {'higher' if one.lean > 0 else 'lower'} on average"
            found.append(words + ".")
        if _below(one.gold_gap, comparisons):
            found.append(
                f"{one.rater} gave the right answer in {one.dimension} to {one.on_gold.value:.0%} of {one.on_gold.n} "
                f"items of known answer, the others to {one.others_on_gold.value:.0%}."
            )
    return found


def _below(gap: Value, comparisons: int) -> bool:
    apart = (gap.n or 0) >= ENOUGH and gap.high is not None and gap.high < 0
    return apart and gap.p is not None and gap.p * comparisons < LIMIT
