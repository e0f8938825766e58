"""The raters and items that a study of human judgement needs, from labels with several raters on one item.

One-way random effects: a rating is its item's true value plus a rater's deviation, and each item may have other raters.
Sources: Shrout and Fleiss, Intraclass correlations, Psychological Bulletin 86 (1979), ICC(1,1) and ICC(1,k);
Spearman and Brown (both British Journal of Psychology 3, 1910) for the reliability of a mean.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.compare.summary import number
from reviewgauge.analysis.raters import LARGEST
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import Clusters, Resampler, percentile_interval
from reviewgauge.analysis.stats.power import Attempts, Spread, split
from reviewgauge.core.document import Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Subject
from reviewgauge.core.reports.plan import RaterPlan, RaterRow

RATERS = (1, 2, 3, 5, 10)
RELIABLE = (0.7, 0.8, 0.9)
MOST_RATERS = 1_000


def rater_plans(
    labels: Iterable[Label],
    *,
    source: str,
    resamples: int = 2_000,
    seed: int = 0,
) -> list[RaterPlan]:
    """One plan for each dimension of independent labels, by people where there are any, else by models."""
    by_dimension: dict[str, list[Label]] = defaultdict(list)
    for label in labels:
        by_dimension[label.dimension].append(label)
    request = _Request(source, resamples, seed)
    return [_rater_plan(dimension, _ratings(found), request) for dimension, found in sorted(by_dimension.items())]


class _Request(NamedTuple):
    source: str
    resamples: int
    seed: int


class Ratings(NamedTuple):
    """Values of one dimension by item and rater, and the number of labels left out by reason."""

    items: Mapping[Subject, Mapping[str, float]]
    left_out: Mapping[str, int]


def _ratings(labels: Sequence[Label]) -> Ratings:
    """The independent numeric labels, the first of each rater and item, before raters talked.

    Raises UserError for numbers beyond grades.
    """
    left_out: Counter[str] = Counter()
    humans = any(label.rater_kind is RaterKind.HUMAN and not label.consensus for label in labels)
    items: dict[Subject, dict[str, float]] = defaultdict(dict)
    for label in labels:
        if label.consensus:
            left_out["consensus labels"] += 1
        elif humans and label.rater_kind is not RaterKind.HUMAN:
            left_out["labels by models beside those by people"] += 1
        elif isinstance(label.value, str):
            left_out["words, not numbers"] += 1
        elif label.rater in items[label.subject]:
            left_out["later labels of the same rater"] += 1
        elif abs(label.value) > LARGEST:
            raise UserError(
                f"{label.rater} gave {label.dimension} {label.value:g} on {label.subject.case}, which is not a grade",
                remedy=f"numbers up to {LARGEST:g}",
            )
        else:
            items[label.subject][label.rater] = float(label.value)
    return Ratings({item: found for item, found in items.items() if found}, dict(left_out))


def _rater_plan(dimension: str, ratings: Ratings, request: _Request) -> RaterPlan:
    items = ratings.items
    rows = [np.array(list(found.values())) for found in items.values()]
    number_of: dict[str, int] = {}
    index = np.array([number_of.setdefault(item.case, len(number_of)) for item in items], dtype=np.int64)
    twice = sum(row.size > 1 for row in rows)
    blank = RaterPlan(
        source=request.source,
        dimension=dimension,
        items=len(items),
        judged_twice=twice,
        labels=sum(row.size for row in rows),
        raters=dict(sorted(Counter(rater for found in items.values() for rater in found).items())),
        left_out=ratings.left_out,
        icc=Value(text="one item shows no variance" if twice else "no item has two raters"),
    )
    if not twice or len(items) < 2:
        return blank
    groups = Clusters("change", tuple(number_of), index, len(number_of))
    found = OneWay.of(rows, groups, Resampler(groups.count, request.resamples, request.seed))
    warnings = []
    if twice < len(items):
        warnings.append(
            f"{len(items) - twice} of {len(items)} items have one rater; the raters' variance is that of the others"
        )
    if len(blank.raters) == 2:
        warnings.append("only two raters: others may agree less")
    return blank.model_copy(
        update={
            "between": math.sqrt(found.between),
            "within": math.sqrt(found.within),
            "icc": found.icc,
            "rows": tuple(found.row(k) for k in RATERS),
            "raters_for": found.raters_for(),
            "warnings": tuple(warnings),
        }
    )


@dataclass(frozen=True)
class OneWay:
    """The variance of ratings: `between` items, and `within` an item."""

    between: float
    within: float
    icc: Value

    @classmethod
    def of(cls, rows: Sequence[Numbers], groups: Clusters, resampler: Resampler) -> OneWay:
        """From the ratings of each item; items of one case are resampled together."""
        size = np.array([row.size for row in rows], dtype=np.float64)
        mean = np.array([row.mean() for row in rows])
        item = np.arange(len(rows), dtype=np.int64)
        attempts = Attempts(np.zeros((int(size.sum()), 0)), np.repeat(item, size.astype(np.int64)), len(rows))
        values = np.concatenate(rows)
        spread = Spread.of(values, attempts)
        own = Clusters("item", tuple(str(at) for at in item), item, len(rows))
        alone = split(mean, [spread], own)
        within = alone.within[0] or 0.0
        columns = _columns(size, mean, spread)
        sums = np.stack([np.bincount(groups.index, weights=column, minlength=groups.count) for column in columns])
        drawn = [_icc(sums @ weights.T) for weights in resampler.weights()]
        whole = float(_icc(sums.sum(axis=1)[:, None])[0])
        reason = "" if math.isfinite(whole) else "all ratings are equal"
        draws = np.concatenate(drawn) if drawn else np.zeros(0)
        low, high, _ = percentile_interval(draws) if groups.count > 1 else (None, None, 0.0)
        icc = Value(value=number(whole), low=low, high=high, text=reason)
        return cls(alone.between, within, icc)

    def row(self, raters: int) -> RaterRow:
        """The reliability with this many raters of each item."""
        total = self.between + self.within / raters
        return RaterRow(raters=raters, reliability=self.between / total if total > 0 else None)

    def raters_for(self) -> dict[str, int]:
        """Reliability as text -> the raters whose mean reaches it, up to 1,000."""
        if self.between <= 0:
            return {}
        found = {}
        for wanted in RELIABLE:
            raters = max(1, math.ceil(round(wanted / (1 - wanted) * self.within / self.between, 9)))
            if raters <= MOST_RATERS:
                found[f"{wanted:g}"] = raters
        return found


def _columns(size: Numbers, mean: Numbers, spread: Spread) -> list[Numbers]:
    """The terms of the variance components, one value an item."""
    known, gap = np.isfinite(spread.own), mean - mean.mean()
    return [np.ones_like(size), gap, gap**2, np.where(known, spread.own, 0.0), known.astype(np.float64), 1 / size]


def _icc(total: Numbers) -> Numbers:
    """between / (between + within) from the sums of `_columns` (one column a resample); NaN without variance."""
    items, gap, squares, own, known, inverse = total
    within = np.divide(own, known, out=np.full_like(own, np.nan), where=known > 0)
    spread = np.divide(squares - gap**2 / items, items - 1, out=np.full_like(own, np.nan), where=items > 1)
    between = np.maximum(spread - within * inverse / items, 0.0)
    whole = between + within
    share: Numbers = np.divide(between, whole, out=np.full_like(own, np.nan), where=whole > 1e-12 * (1 + spread))
    return share
