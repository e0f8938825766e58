"""The size of a study: changes and attempts, from the parts of the variance of a paired difference in a pilot run.

A study of n changes with k attempts each has the variance (between + within / k) / n. Sources: Bloom, Minimum
Detectable Effects, Evaluation Review 19 (1995); Guenther, Sample Size Formulas for Normal Theory T Tests, The American
Statistician 35 (1981), for the allowance for a t-test.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.compare.summary import headline_order, number
from reviewgauge.analysis.stats.arrays import Flags, measure_with
from reviewgauge.analysis.stats.bootstrap import (
    FEW_CLUSTERS,
    UNDEFINED_LIMIT,
    Clusters,
    Resampler,
    cluster_cases,
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
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.plan import AttemptRow, ChangePlan, PairPlan
from reviewgauge.core.results import Outcome
from reviewgauge.engine.run.scored_run import ScoredRun

ATTEMPTS = (1, 2, 3, 5, 10)
LEVEL = 0.05  # how often a study may find a difference that is not there
MOST_CHANGES = 10**9  # larger studies are reported as impossible
RANGE = 0.95


@dataclass(frozen=True)
class Question:
    """The difference that a study must detect, and its costs. Raises UserError for impossible values."""

    detect: float
    power: float = 0.8
    comparisons: int = 1
    dollars_per_attempt: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the values."""
        if not (math.isfinite(self.detect) and self.detect > 0):
            raise UserError(f"detect must be positive, got {self.detect:g}", remedy="such as --detect .03")
        if not LEVEL < self.power < 1:
            raise UserError(f"power must be between {LEVEL:g} and 1, got {self.power:g}", remedy="0.8 is the default")
        if self.comparisons < 1:
            raise UserError(f"comparisons must be at least 1, got {self.comparisons}")

    @property
    def shared_level(self) -> float:
        """The level of the hardest of the comparisons under Holm's correction."""
        return LEVEL / self.comparisons


def plan(
    run: ScoredRun,
    question: Question,
    *,
    systems: Sequence[str] = (),
    measure: str | None = None,
    resamples: int = 2_000,
    seed: int = 0,
) -> ChangePlan:
    """Plan a study of a metric from the scores of a pilot.

    Without `systems` the leader is planned against every other system but baselines; with several, the first against
    the others. Raises UserError for unknown systems and measures.
    """
    check_settings(resamples)
    metric, baselines = run.metric, run.baselines
    panel = table_of(run)
    known = [panel.row(system) for system in systems]
    known = known or [row for row, system in enumerate(panel.systems) if system not in baselines]
    if not known:
        raise UserError(
            f"nothing but baselines was scored: {', '.join(panel.systems)}", remedy="score a reviewer, or name --system"
        )
    if not panel.scored.any():
        raise UserError(f"no case was scored by {run.signature}, so no study can be planned")
    wanted = measure or metric.headline
    measure_with(metric, panel.names, panel.parts[:, 0], 1, wanted)  # raises for an unknown measure
    scheme = cluster_cases(panel.cases, np.asarray(panel.scored.any(axis=0)))
    pilot = _Pilot(panel, metric, wanted, question, resamples, seed)
    order = [row for row in headline_order(panel, metric, baselines) if row in known]
    if len(order) < 2:
        raise UserError(f"only {panel.systems[order[0]]} was measured, and a plan takes a pair", remedy="score another")
    first = known[0] if systems else order[0]
    pairs = [pilot.pair(first, other) for other in (known if systems else order) if other != first]
    unit = metric.units.get(wanted, "share")
    if unit == "share" and question.detect > 1:
        raise UserError(f"detect must be at most 1 for a share, got {question.detect:g}", remedy="such as --detect .03")
    warnings = [*scheme.warnings(), *panel.warnings, *merge_pins(panel)[1], *warn_of_fakes(panel, known)]
    return ChangePlan(
        metric=run.signature,
        label=run.label,
        measure=wanted,
        unit=unit,
        dataset=run.dataset,
        benchmark=run.benchmark,
        detect=question.detect,
        power=question.power,
        comparisons=question.comparisons,
        clustered_by=scheme.by,
        best=_best(panel, metric, wanted, known),
        dollars_per_attempt=question.dollars_per_attempt,
        pairs=tuple(pairs),
        typical=middle(pairs),
        resamples=resamples,
        seed=seed,
        estimate_note=metric.estimate_note,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _best(panel: ScoreTable, metric: Metric, measure: str, rows: Sequence[int]) -> float | None:
    """The best value of these systems; None where less is better."""
    kept = panel.scored[rows]
    sums = (panel.parts[rows] * kept[:, :, None]).sum(axis=1)
    values = [
        number(measure_with(metric, panel.names, own[None], int(n), measure)[0])
        for own, n in zip(sums, kept.sum(axis=1), strict=True)
    ]
    return None if measure in metric.lower_is_better else max((v for v in values if v is not None), default=None)


def middle(pairs: Sequence[PairPlan]) -> int | None:
    """The position of the pair with the median error of its difference; None if no pair has one."""
    known = sorted((pair.error, at) for at, pair in enumerate(pairs) if pair.rows and pair.error is not None)
    return known[len(known) // 2][1] if known else None


def dollars_per_attempt(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """The mean price of a review by system; systems with a review of unknown price are left out."""
    spent: dict[str, list[float | None]] = {}
    for outcome in outcomes:
        if outcome.review is not None:
            spent.setdefault(outcome.system, []).append(outcome.review.usage.dollars)
    known = {system: [price for price in prices if price is not None] for system, prices in spent.items()}
    return {system: sum(paid) / len(paid) for system, paid in known.items() if len(paid) == len(spent[system])}


@dataclass(frozen=True)
class _Pilot:
    """The scores that a plan is made from."""

    panel: ScoreTable
    metric: Metric
    measure: str
    question: Question
    resamples: int
    seed: int

    def pair(self, first: int, second: int) -> PairPlan:
        """Two systems on the cases that both were scored on."""
        panel = self.panel
        common = np.asarray(panel.scored[[first, second]].all(axis=0))
        names = (panel.systems[first], panel.systems[second])
        if common.sum() < 2:
            return no_plan(*names, int(common.sum()), "fewer than 2 changes were scored for both")
        sides = [panel.attempts_on(row, common) for row in (first, second)]
        one, two = (influences(self.metric, panel.names, side, self.measure) for side in sides)
        sums = panel.parts[[first, second]][:, common].sum(axis=1)
        values = measure_with(self.metric, panel.names, sums, int(common.sum()), self.measure)
        measures = [number(value) for value in values]
        if one is None or two is None or measures[0] is None or measures[1] is None:
            return no_plan(*names, int(common.sum()), f"{self.measure} is undefined for one of the systems")
        clusters = self._clusters(common)
        if clusters.count < 2:
            return no_plan(*names, int(common.sum()), f"all changes belong to one {clusters.by}")
        gap = case_means(one, sides[0]) - case_means(two, sides[1])
        spreads = [Spread.of(values, side) for values, side in zip((one, two), sides, strict=True)]
        parts = split(gap, spreads, clusters, Resampler(clusters.count, self.resamples, self.seed))
        tiny = 1e-9 * max(abs(measures[0]), abs(measures[1]), 1e-300)
        difference = measures[0] - measures[1]
        return pair_plan(names, difference, parts, spreads, clusters=clusters, question=self.question, tiny=tiny)

    def _clusters(self, kept: Flags) -> Clusters:
        """The clusters of the kept cases only."""
        return cluster_cases([case for case, flag in zip(self.panel.cases, kept, strict=True) if flag], kept[kept])


def pair_plan(
    names: tuple[str, str],
    difference: float,
    parts: Components,
    spreads: Sequence[Spread],
    *,
    clusters: Clusters,
    question: Question,
    tiny: float = 0.0,
) -> PairPlan:
    """The plan for a pair from its variance components. Errors up to `tiny` are rounding."""
    inverse = [float(np.mean(1 / spread.counts)) for spread in spreads]
    here = parts.between + sum((part or 0.0) * each for part, each in zip(parts.within, inverse, strict=False))
    error = math.sqrt(here / parts.cases)
    blank = PairPlan(
        first=names[0],
        second=names[1],
        difference=difference,
        changes=parts.cases,
        clusters=parts.clusters,
        attempts_first=float(spreads[0].counts.mean()),
        attempts_second=float(spreads[-1].counts.mean()),
        between=math.sqrt(parts.between),
        within_first=None if parts.within[0] is None else math.sqrt(parts.within[0]),
        within_second=None if parts.within[1] is None else math.sqrt(parts.within[1]),
        error=error,
        warnings=tuple(_component_warnings(parts, spreads, names, tiny)),
    )
    if error <= tiny:
        reason = "the difference never varies, so no study can be planned"
        return blank.model_copy(update={"error": None, "reason": reason})
    study = _Study(parts, clusters, question, names)
    planned = [k for k in ATTEMPTS if k == 1 or any(parts.within)]
    return blank.model_copy(update={"rows": tuple(study.row(k) for k in planned)})


def _component_warnings(parts: Components, spreads: Sequence[Spread], names: tuple[str, str], tiny: float) -> list[str]:
    """Warnings about the variance components."""
    warnings: list[str] = []
    unknown = [name for name, part in zip(names, parts.within, strict=True) if part is None]
    if len(unknown) == 2:
        warnings.append(
            "one attempt of each change: the variance between attempts is not known apart from that between changes, "
            "so the plan is by changes only (to separate them: reviewgauge review --attempts 3)"
        )
    elif unknown:
        warnings.append(f"{unknown[0]} has one attempt of each change: more are planned for the other system only")
    if not unknown and not any(parts.within):
        warnings.append("attempts at one change never differ: one is enough")
    if any(parts.within) and parts.between <= tiny**2:
        warnings.append(
            "the variance between changes was estimated as 0 beside that between attempts, which makes many attempts "
            "look too good; use the upper end of the range"
        )
    if any((spread.counts != spread.counts[0]).any() for spread in spreads):
        warnings.append("some changes have fewer attempts than others; each change counts once")
    if parts.clusters < FEW_CLUSTERS:
        warnings.append(f"a pilot of {parts.clusters} is small: use the range, not the number")
    return warnings


def no_plan(first: str, second: str, changes: int, reason: str) -> PairPlan:
    """A pair without a plan, for a reason."""
    return PairPlan(
        first=first,
        second=second,
        difference=None,
        changes=changes,
        clusters=changes,
        attempts_first=0.0,
        attempts_second=0.0,
        between=0.0,
        within_first=None,
        within_second=None,
        error=None,
        reason=reason,
    )


@dataclass(frozen=True)
class _Study:
    """The size of a study of one pair."""

    parts: Components
    clusters: Clusters
    question: Question
    names: tuple[str, str]

    @property
    def per_cluster(self) -> float:
        return self.parts.cases / self.parts.clusters

    def detectable(self, attempts: int) -> float | None:
        """The smallest difference that the clusters at hand detect with this many attempts."""
        error = math.sqrt(self.parts.variance(attempts) / self.parts.cases)
        q = self.question
        return detectable_difference(error, self.parts.clusters, power=q.power, level=q.shared_level)

    def groups_for(self, variance: float) -> int:
        """The clusters that detect the wanted difference at this variance of a change."""
        q, error = self.question, math.sqrt(variance / self.parts.cases)
        return clusters_needed(error, self.parts.clusters, q.detect, power=q.power, level=q.shared_level)

    def changes_for(self, groups: int) -> int | None:
        """The changes in this many clusters; None if no study could be that large."""
        changes = math.ceil(round(groups * self.per_cluster, 9))
        return changes if changes <= MOST_CHANGES else None

    def row(self, attempts: int) -> AttemptRow:
        """The study with this many attempts."""
        groups = self.groups_for(self.parts.variance(attempts))
        changes = self.changes_for(groups)
        low, high = self._range(attempts)
        return AttemptRow(
            attempts=attempts,
            changes=changes,
            low=low,
            high=high,
            repositories=groups if self.clusters.by == "repository" else None,
            judgements=None if changes is None else changes * sum(self._attempts_of(attempts)),
            detectable=self.detectable(attempts),
            dollars=None if changes is None else self._price(changes, attempts),
        )

    def _range(self, attempts: int) -> tuple[int | None, int | None]:
        """The number of changes at both ends of the variance's interval.

        The ends come from the spread of its logarithm, or from the resamples where those are further out: a variance
        between changes that was estimated as 0 need not be 0.
        """
        drawn = self.parts.drawn(attempts)
        drawn = drawn[drawn > 0]
        if self.parts.clusters < 3 or drawn.size < max(2, (1 - UNDEFINED_LIMIT) * self.parts.draws.shape[1]):
            return None, None
        from scipy.stats import t

        reach = float(t.ppf((1 + RANGE) / 2, self.parts.clusters - 1))  # of the middle 95% of Student's distribution
        factor = math.exp(reach * float(np.std(np.log(drawn))))
        variance = self.parts.variance(attempts)
        least, most = (float(end) for end in np.quantile(drawn, [(1 - RANGE) / 2, (1 + RANGE) / 2]))
        ends = (min(variance / factor, least), max(variance * factor, most))
        low, high = (self.changes_for(self.groups_for(end)) for end in ends)
        return low, high

    def _attempts_of(self, attempts: int) -> tuple[int, int]:
        """The attempts of the first and the second system: 1 for a system without variance between attempts."""
        one, two = (attempts if part or not any(self.parts.within) else 1 for part in self.parts.within)
        return one, two

    def _price(self, changes: int, attempts: int) -> float | None:
        q = self.question
        prices = [q.dollars_per_attempt.get(name) for name in self.names]
        if prices[0] is None or prices[1] is None:
            return None
        one, two = self._attempts_of(attempts)
        return changes * (one * prices[0] + two * prices[1])
