"""The raters and items that a study of human judgement needs, from labels with several raters on one item.

One-way random effects: a rating is its item's true value plus a rater's deviation, and each item may have other raters.
Sources: Shrout and Fleiss, Intraclass correlations, Psychological Bulletin 86 (1979), ICC(1,1) and ICC(1,k);
Spearman and Brown (both British Journal of Psychology 3, 1910) for the reliability of a mean.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from reviewgauge.analysis.compare.summary import number
from reviewgauge.analysis.raters import LARGEST
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import Resampler, percentile_interval
from reviewgauge.core.document import Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Subject
from reviewgauge.core.reports.plan import RaterPlan, RaterRow

RATERS = (1, 2, 3, 5, 10)
RELIABLE = (0.7, 0.8, 0.9)
MOST_RATERS = 1_000

Ratings = Mapping[Subject, Mapping[str, float]]  # of one dimension, by item and rater


def rater_plans(labels: Iterable[Label], *, source: str, resamples: int = 2_000, seed: int = 0) -> list[RaterPlan]:
    """One plan for each dimension of independent labels, by people where there are any, else by models."""
    by_dimension: dict[str, list[Label]] = defaultdict(list)
    for label in labels:
        by_dimension[label.dimension].append(label)
    found = []
    for dimension, own in sorted(by_dimension.items()):
        items, left_out = _ratings(own)
        twice = sum(len(ratings) > 1 for ratings in items.values())
        plan = RaterPlan(
            source=source,
            dimension=dimension,
            items=len(items),
            judged_twice=twice,
            labels=sum(map(len, items.values())),
            raters=dict(sorted(Counter(rater for ratings in items.values() for rater in ratings).items())),
            left_out=left_out,
            icc=Value(text="one item shows no variance" if twice else "no item has two raters"),
        )
        known = twice and plan.items > 1
        found.append(plan.model_copy(update=_variances(items, plan, resamples, seed)) if known else plan)
    return found


def _ratings(labels: Sequence[Label]) -> tuple[Ratings, Mapping[str, int]]:
    """The independent numeric labels, the first of each rater and item, before raters talked; the others are counted.

    Raises UserError for numbers beyond grades.
    """
    left_out: Counter[str] = Counter()
    humans = any(label.rater_kind is RaterKind.HUMAN and not label.consensus for label in labels)
    items: dict[Subject, dict[str, float]] = {}
    for label in labels:
        if label.consensus:
            left_out["consensus labels"] += 1
        elif humans and label.rater_kind is not RaterKind.HUMAN:
            left_out["labels by models beside those by people"] += 1
        elif isinstance(label.value, str):
            left_out["words, not numbers"] += 1
        elif label.rater in items.get(label.subject, ()):
            left_out["later labels of the same rater"] += 1
        elif abs(label.value) > LARGEST:
            raise UserError(
                f"{label.rater} gave {label.dimension} {label.value:g} on {label.subject.case}, which is not a grade",
                remedy=f"numbers up to {LARGEST:g}",
            )
        else:
            items.setdefault(label.subject, {})[label.rater] = float(label.value)
    return items, dict(left_out)


def _variances(items: Ratings, plan: RaterPlan, resamples: int, seed: int) -> Mapping[str, object]:
    """What the ratings tell of a plan; items of one case are resampled together."""
    rows = [np.array(list(found.values())) for found in items.values()]
    size, mean = (np.array([one(row) for row in rows], dtype=np.float64) for one in (len, np.mean))
    own = np.array([row.var(ddof=1) if row.size > 1 else 0.0 for row in rows])
    gap, several = mean - mean.mean(), (size > 1).astype(np.float64)
    number_of: dict[str, int] = {}
    index = np.array([number_of.setdefault(item.case, len(number_of)) for item in items], dtype=np.int64)
    columns = [np.ones_like(size), gap, gap**2, own, several, 1 / size]
    sums = np.stack([np.bincount(index, weights=column) for column in columns])
    between, within = (float(one[0]) for one in _components(sums.sum(axis=1)[:, None]))
    resampler = Resampler(len(number_of), resamples, seed)
    draws = np.concatenate([np.zeros(0), *(_icc(*_components(sums @ weights.T)) for weights in resampler.weights())])
    low, high, _ = percentile_interval(draws) if len(number_of) > 1 else (None, None, 0.0)
    icc = float(_icc(np.array(between), np.array(within)))
    once, warnings = plan.items - plan.judged_twice, []
    if once:
        warnings.append(f"{once} of {plan.items} items have one rater; the raters' variance is that of the others")
    if len(plan.raters) == 2:
        warnings.append("only two raters: others may agree less")
    reached = {}
    for wanted in RELIABLE if between > 0 else ():
        raters = max(1, math.ceil(round(wanted / (1 - wanted) * within / between, 9)))
        if raters <= MOST_RATERS:
            reached[f"{wanted:g}"] = raters
    totals = {k: between + within / k for k in RATERS}
    return {
        "between": math.sqrt(between),
        "within": math.sqrt(within),
        "icc": Value(value=number(icc), low=low, high=high, text="" if math.isfinite(icc) else "all ratings are equal"),
        "rows": tuple(
            RaterRow(raters=k, reliability=between / all_ if all_ > 0 else None) for k, all_ in totals.items()
        ),
        "raters_for": reached,
        "warnings": tuple(warnings),
    }


def _components(total: Numbers) -> tuple[Numbers, Numbers]:
    """The variance between items and within one, from sums over items (one column a resample)."""
    items, gap, squares, own, several, inverse = total
    within = np.divide(own, several, out=np.full_like(own, np.nan), where=several > 0)
    spread = np.divide(squares - gap**2 / items, items - 1, out=np.full_like(own, np.nan), where=items > 1)
    return np.maximum(spread - within * inverse / items, 0.0), within


def _icc(between: Numbers, within: Numbers) -> Numbers:
    """The share of the variance of one rating that the item explains; NaN without variance."""
    whole = np.asarray(between + within)
    return np.asarray(np.divide(between, whole, out=np.full_like(whole, np.nan), where=whole > 1e-12))
