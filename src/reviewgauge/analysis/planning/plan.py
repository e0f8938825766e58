"""Plan a study of a metric from the scores of a pilot run.

The variance of a paired difference is split into parts between changes and between attempts (stats/power); study.py
turns them into numbers of changes and attempts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.compare.summary import headline_order, number
from reviewgauge.analysis.planning.study import LIKE_IT, Question, no_plan, pair_plan, twins
from reviewgauge.analysis.stats.arrays import Flags, measure_with
from reviewgauge.analysis.stats.bootstrap import Clusters, Resampler, cluster_cases
from reviewgauge.analysis.stats.power import Spread, case_means, influences, split
from reviewgauge.analysis.stats.score_table import ScoreTable, lay_out, merge_pins, warn_of_fakes
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.plan import ChangePlan, PairPlan
from reviewgauge.core.results import Outcome
from reviewgauge.core.specs import short_spec, signature
from reviewgauge.engine.run.scored_run import ScoredRun


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
    the others; one alone against a system like it. Raises UserError for unknown systems and measures.
    """
    check_settings(resamples)
    metric, baselines = run.metric, run.baselines
    panel = lay_out(run.scores, run.cases, metric, run.benchmark)
    known = [panel.row(system) for system in systems]
    known = known or [row for row, system in enumerate(panel.systems) if system not in baselines]
    if not known:
        raise UserError(
            f"nothing but baselines was scored: {', '.join(panel.systems)}", remedy="score a reviewer, or name --system"
        )
    if not panel.scored.any():
        raise UserError(f"no case was scored by {signature(metric)}, so no study can be planned")
    wanted = measure or metric.headline
    measure_with(metric, panel.names, panel.parts[:, 0], 1, wanted)  # raises for an unknown measure
    scheme = cluster_cases(panel.cases, np.asarray(panel.scored.any(axis=0)))
    pilot = _Pilot(panel, metric, wanted, question, resamples, seed)
    order = [row for row in headline_order(panel, metric, baselines) if row in known]
    if len(order) == 1:
        pairs = pilot.alone(order[0])
    else:
        first = known[0] if systems else order[0]
        pairs = [pilot.pair(first, other) for other in (known if systems else order) if other != first]
    unit = metric.units.get(wanted, "share")
    if unit == "share" and question.detect > 1:
        raise UserError(f"detect must be at most 1 for a share, got {question.detect:g}", remedy="such as --detect .03")
    warnings = [*scheme.warnings(), *panel.warnings, *merge_pins(panel)[1], *warn_of_fakes(panel, known)]
    return ChangePlan(
        metric=signature(metric),
        label=short_spec(metric),
        measure=wanted,
        unit=unit,
        dataset=run.dataset,
        benchmark=run.benchmark,
        detect=question.detect,
        power=question.power,
        level=question.level,
        comparisons=question.comparisons,
        clustered_by=scheme.by,
        best=_best(panel, metric, wanted, known),
        changes_per_cluster=float(panel.scored.any(axis=0).sum() / max(scheme.count, 1)),
        dollars_per_attempt=question.dollars_per_attempt,
        dollars_per_change=question.dollars_per_change,
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

    def alone(self, row: int) -> list[PairPlan]:
        """One system against one like it: with nothing in common, and with everything but chance."""
        panel = self.panel
        own = np.asarray(panel.scored[row])
        name = panel.systems[row]
        side = panel.attempts_on(row, own)
        values = influences(self.metric, panel.names, side, self.measure)
        clusters = self._clusters(own)
        if values is None or clusters.count < 2:
            why = f"{self.measure} is undefined" if values is None else "fewer than 2 changes were scored"
            return [no_plan(name, LIKE_IT, int(own.sum()), why)]
        spread = Spread.of(values, side)
        resampler = Resampler(clusters.count, self.resamples, self.seed)
        parts = split(case_means(values, side), [spread], clusters, resampler)
        return twins(name, parts, spread, clusters, self.question)

    def _clusters(self, kept: Flags) -> Clusters:
        """The clusters of the kept cases only."""
        return cluster_cases([case for case, flag in zip(self.panel.cases, kept, strict=True) if flag], kept[kept])
