"""The size of a study: changes and attempts, from the parts of the variance of a paired difference in a pilot run.

A study of n changes with k attempts each has the variance (between + within / k) / n. Sources: Bloom, Minimum
Detectable Effects, Evaluation Review 19 (1995); Guenther, Sample Size Formulas for Normal Theory T Tests, The American
Statistician 35 (1981), for the allowance for a t-test.

And of a study of human judgement, from labels with several raters on one item. One-way random effects: a rating is its
item's true value plus a rater's deviation, and each item may have other raters. Sources: Shrout and Fleiss, Intraclass
correlations, Psychological Bulletin 86 (1979), ICC(1,1) and ICC(1,k); Spearman and Brown (both British Journal of
Psychology 3, 1910) for the reliability of a mean.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reviewgauge.analysis.compare.summary import headline_order, number
from reviewgauge.analysis.raters import LARGEST
from reviewgauge.analysis.stats.arrays import Numbers, measure_with
from reviewgauge.analysis.stats.bootstrap import (
    FEW_CLUSTERS,
    REPOSITORY,
    Clusters,
    Resampler,
    cluster_cases,
    percentile_interval,
)
from reviewgauge.analysis.stats.power import (
    Components,
    Spread,
    case_means,
    clusters_needed,
    detectable_difference,
    influences,
    split,
)
from reviewgauge.analysis.stats.score_table import ScoreTable, merge_pins, table_of, warn_of_fakes
from reviewgauge.core.document import Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Subject
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.plan import AttemptRow, ChangePlan, PairPlan, RaterPlan, RaterRow
from reviewgauge.engine.run.scored_run import ScoredRun

ATTEMPTS = (1, 2, 3, 5, 10)
LEVEL = 0.05  # how often a study may find a difference that is not there
MOST_CHANGES = 10**9  # larger studies are reported as impossible


@dataclass(frozen=True)
class Question:
    """The difference that a study must detect, and its costs. Raises UserError for impossible values."""

    detect: float
    power: float = 0.8
    dollars_per_attempt: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the values."""
        if not (math.isfinite(self.detect) and self.detect > 0):
            raise UserError(f"detect must be positive, got {self.detect:g}", remedy="such as --detect .03")
        if not LEVEL < self.power < 1:
            raise UserError(f"power must be between {LEVEL:g} and 1, got {self.power:g}", remedy="0.8 is the default")


def plan(run: ScoredRun, question: Question, *, systems: Sequence[str] = (), measure: str | None = None) -> ChangePlan:
    """Plan a study of a metric from the scores of a pilot.

    Without `systems` the leader is planned against every other system but baselines; with several, the first against
    the others. Raises UserError for unknown systems and measures.
    """
    metric, baselines = run.metric, run.baselines
    panel = table_of(run)
    known = [panel.row(system) for system in systems]
    known = known or [row for row, system in enumerate(panel.systems) if system not in baselines]
    if not panel.scored.any():
        raise UserError(f"no case was scored by {run.signature}, so no study can be planned")
    wanted = measure or metric.headline
    measure_with(metric, panel.names, panel.parts[:, 0], 1, wanted)  # raises for an unknown measure
    unit = metric.units.get(wanted, "share")
    if unit == "share" and question.detect > 1:
        raise UserError(f"detect must be at most 1 for a share, got {question.detect:g}", remedy="such as --detect .03")
    order = known if systems else [row for row in headline_order(panel, metric, baselines) if row in known]
    if len(order) < 2:
        only = panel.systems[order[0]] if order else "a baseline"
        raise UserError(f"only {only} was measured, and a plan takes a pair", remedy="score another")
    pairs = [_pair(panel, metric, wanted, question, (order[0], other)) for other in order[1:]]
    scheme = cluster_cases(panel.cases, np.asarray(panel.scored.any(axis=0)))
    warnings = [*scheme.warnings(), *panel.warnings, *merge_pins(panel)[1], *warn_of_fakes(panel, known)]
    planned = sorted((pair.error, at) for at, pair in enumerate(pairs) if pair.rows and pair.error is not None)
    return ChangePlan(
        metric=run.signature,
        label=run.label,
        measure=wanted,
        unit=unit,
        dataset=run.dataset,
        benchmark=run.benchmark,
        detect=question.detect,
        power=question.power,
        clustered_by=scheme.by,
        dollars_per_attempt=question.dollars_per_attempt,
        pairs=tuple(pairs),
        typical=planned[len(planned) // 2][1] if planned else None,
        estimate_note=metric.estimate_note,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _pair(panel: ScoreTable, metric: Metric, measure: str, question: Question, rows: tuple[int, int]) -> PairPlan:
    """Two systems on the cases that both were scored on."""
    common = np.asarray(panel.scored[list(rows)].all(axis=0))
    n = int(common.sum())
    names = panel.systems[rows[0]], panel.systems[rows[1]]
    blank = PairPlan(first=names[0], second=names[1], changes=n, clusters=n)
    if n < 2:
        return blank.model_copy(update={"reason": "fewer than 2 changes were scored for both"})
    sides = [panel.attempts_on(row, common) for row in rows]
    one, two = (influences(metric, panel.names, side, measure) for side in sides)
    sums = panel.parts[list(rows)][:, common].sum(axis=1)
    first, second = map(number, measure_with(metric, panel.names, sums, n, measure))
    if one is None or two is None or first is None or second is None:
        return blank.model_copy(update={"reason": f"{measure} is undefined for one of the systems"})
    clusters = cluster_cases([case for case, kept in zip(panel.cases, common, strict=True) if kept], common[common])
    if clusters.count < 2:
        return blank.model_copy(update={"reason": f"all changes belong to one {clusters.by}"})
    spreads = [Spread.of(values, side) for values, side in zip((one, two), sides, strict=True)]
    parts = split(case_means(one, sides[0]) - case_means(two, sides[1]), spreads, clusters)
    tiny = 1e-9 * max(abs(first), abs(second), 1e-300)
    inverse = [float(np.mean(1 / spread.counts)) for spread in spreads]
    here = parts.between + sum((part or 0.0) * each for part, each in zip(parts.within, inverse, strict=True))
    error = math.sqrt(here / parts.cases)
    found = PairPlan(
        first=names[0],
        second=names[1],
        difference=first - second,
        changes=parts.cases,
        clusters=parts.clusters,
        attempts_first=float(spreads[0].counts.mean()),
        attempts_second=float(spreads[1].counts.mean()),
        between=math.sqrt(parts.between),
        within_first=None if parts.within[0] is None else math.sqrt(parts.within[0]),
        within_second=None if parts.within[1] is None else math.sqrt(parts.within[1]),
        error=error,
        warnings=tuple(_warnings(parts, spreads, names, tiny)),
    )
    if error <= tiny:
        return found.model_copy(
            update={"error": None, "reason": "the difference never varies, so no study can be planned"}
        )
    counts = [k for k in ATTEMPTS if k == 1 or any(parts.within)]
    return found.model_copy(update={"rows": tuple(_row(parts, clusters, question, names, k) for k in counts)})


def _warnings(parts: Components, spreads: Sequence[Spread], names: tuple[str, str], tiny: float) -> list[str]:
    warnings: list[str] = []
    unknown = [name for name, part in zip(names, parts.within, strict=True) if part is None]
    if len(unknown) == 2:
        warnings.append("one attempt of each change, so the plan is by changes only (reviewgauge review --attempts 3)")
    elif unknown:
        warnings.append(f"{unknown[0]} has one attempt of each change: more are planned for the other system only")
    if not unknown and not any(parts.within):
        warnings.append("attempts at one change never differ: one is enough")
    if any(parts.within) and parts.between <= tiny**2:
        warnings.append("no variance between changes was seen in this pilot, which makes many attempts look too good")
    if any((spread.counts != spread.counts[0]).any() for spread in spreads):
        warnings.append("some changes have fewer attempts than others; each change counts once")
    if parts.clusters < FEW_CLUSTERS:
        warnings.append(f"a pilot of {parts.clusters} is small: it may need twice as many, or half")
    return warnings


def _row(
    parts: Components, clusters: Clusters, question: Question, names: tuple[str, str], attempts: int
) -> AttemptRow:
    """The study with this many attempts: 1 for a system without variance between attempts."""
    error = math.sqrt(parts.variance(attempts) / parts.cases)
    power, n = question.power, parts.clusters
    groups = clusters_needed(error, n, question.detect, power=power)
    needed = math.ceil(round(groups * parts.cases / n, 9))
    changes = needed if needed <= MOST_CHANGES else None
    each = [attempts if part or not any(parts.within) else 1 for part in parts.within]
    prices = [question.dollars_per_attempt.get(name) for name in names]
    price = None if None in prices else sum(k * (one or 0.0) for k, one in zip(each, prices, strict=True))
    return AttemptRow(
        attempts=attempts,
        changes=changes,
        repositories=groups if clusters.by == REPOSITORY else None,
        judgements=None if changes is None else changes * sum(each),
        detectable=detectable_difference(error, n, power=power),
        dollars=None if changes is None or price is None else changes * price,
    )


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
