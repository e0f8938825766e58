"""The leaderboard: every measure of every system with its interval, its coverage and its bounds, whole and sliced."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence

import numpy as np

from reviewgauge.analysis.compare.caveats import caveats
from reviewgauge.analysis.compare.slices import (
    CREATED,
    CUTOFF,
    TIER,
    add_class_slices,
    expand_cutoffs,
    fact_values,
    group_values,
    parse_cut,
)
from reviewgauge.analysis.compare.summary import Summariser, View, rank
from reviewgauge.analysis.stats.arrays import measures_of_totals
from reviewgauge.analysis.stats.bootstrap import Resampler, cluster_cases
from reviewgauge.analysis.stats.power import Spread, case_means, influences
from reviewgauge.analysis.stats.score_table import ScoreTable, broken_identities, merge_pins, table_of, warn_of_fakes
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.leaderboard import AttemptSpread, Leaderboard, SliceSummary, SystemSummary
from reviewgauge.engine.run.scored_run import ScoredRun


def attempt_spread(panel: ScoreTable, row: int, metric: Metric) -> AttemptSpread | None:
    """The spread of the headline for one system; None where no case has two scored attempts, or it has no slope."""
    if panel.attempts[row].max(initial=0) < 2:
        return None
    attempts = panel.attempts_on(row, panel.scored[row])
    if attempts.cases < 2 or attempts.counts.max() < 2:
        return None
    values = influences(metric, panel.names, attempts, metric.headline)
    if values is None:
        return None
    spread = Spread.of(values, attempts)
    within = float(np.nanmean(spread.own))
    rest = within * float(np.mean(1 / spread.counts))  # what the attempts leave in the mean of a case
    between = max(0.0, float(np.var(case_means(values, attempts), ddof=1)) - rest)
    whole = between + within
    return AttemptSpread(
        measure=metric.headline,
        unit=metric.units.get(metric.headline, "share"),
        between=math.sqrt(between),
        within=math.sqrt(within),
        within_share=within / whole if whole > 0 else None,
        again=math.sqrt(rest / attempts.cases),
        n=attempts.cases,
        repeated=spread.repeated,
        attempts=int(attempts.counts.sum()),
    )


def leaderboard(
    run: ScoredRun,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    slices: Sequence[str] = (),
    least: int = 1,
    means: Mapping[str, Sequence[str]] | None = None,
) -> Leaderboard:
    """Summarise the scores of a run, best system first.

    `slices` are facts of the cases, cuts of one (`created<2025-03-31`), `repo`, facets of the scores, `cutoff` (the
    training cut-offs of the models), `tier` or classes (`classified:category`); facts' values with fewer cases than
    `least` are joined (`group_values`). Each system is measured on its own scored cases; where coverage differs,
    `on_common` repeats the rows on the cases that all were scored on. `means` adds a row for the mean of several
    systems, by its name. Intervals are 95% percentile bootstrap intervals,
    the same draws for all systems. Raises UserError for scores of several metrics or benchmarks, and for an unknown
    slice.
    """
    check_settings(resamples)
    metric, baselines = run.metric, run.baselines
    dated = CUTOFF in slices and any(CREATED in case.facts for case in run.cases)
    slices, notes = expand_cutoffs(slices, run.models, dated)
    sliced = add_class_slices(run, slices)
    panel = table_of(sliced)
    clusters = cluster_cases(panel.cases, np.asarray(panel.scored.any(axis=0)))
    work = Summariser(panel, metric, clusters, Resampler(clusters.count, resamples, seed), means or {})
    rows, gaps = work.rows(View(np.ones(len(panel.cases), dtype=np.bool_), panel.parts))
    rows = [
        row.model_copy(update={"spread": attempt_spread(panel, at, metric), "baseline": row.system in baselines})
        for at, row in enumerate(rows[: len(panel.systems)])
    ] + rows[len(panel.systems) :]
    order = _order(rows, metric, baselines)
    own = [at for at in order if at < len(panel.systems)]
    common = np.asarray(panel.scored.all(axis=0))
    differs = bool((panel.scored != common).any())
    on_common = work.rows(View(common, panel.parts))[0] if differs and common.any() else []
    pins, pin_notes = merge_pins(panel)
    warnings = [*clusters.warnings(), *gaps, *panel.warnings, *pin_notes]
    warnings += [*warn_of_fakes(panel, own), *_warn_of_rows([rows[at] for at in own])]
    if not panel.scored.any():
        warnings.insert(0, "no case was scored: there is no figure to show")
    if differs:
        warnings.append(
            f"coverage differs: {int(common.sum())} of {len(panel.cases)} cases were scored for every system"
        )
    return Leaderboard(
        metric=run.signature,
        label=run.label,
        headline=metric.headline,
        benchmark=run.benchmark,
        dataset=run.dataset,
        clustered_by=clusters.by,
        clusters=clusters.count,
        resamples=resamples,
        seed=seed,
        systems=tuple(rows[at] for at in order),
        common=int(common.sum()),
        on_common=tuple(on_common[at] for at in _order(on_common, metric, baselines)),
        slices=tuple(piece for name in slices for piece in _slices(work, name, order, least)),
        pins=pins,
        estimate_note=metric.estimate_note,
        warnings=(*caveats(run), *notes, *warnings),
        broken=broken_identities(panel),
    )


def check_settings(resamples: int) -> None:
    """Raise UserError for a number of resamples that no interval can be made with."""
    if resamples < 1:
        raise UserError(f"resamples must be positive, got {resamples}", remedy="10000 is the default")


def _order(rows: Sequence[SystemSummary], metric: Metric, baselines: Container[str]) -> list[int]:
    """The positions of `rows`, best first by the metric's headline."""
    found = [row.estimate(metric.headline) for row in rows]
    return rank([row.system for row in rows], [None if e is None else e.value for e in found], metric, baselines)


def _slices(work: Summariser, name: str, order: Sequence[int], least: int) -> Iterator[SliceSummary]:
    """The systems, in the leaderboard's order, on each value of a case fact or a facet of that name."""

    def one(value: str, view: View) -> SliceSummary:
        rows, _ = work.rows(view)
        systems = tuple(rows[at] for at in order)
        n = int((view.mask & panel.scored.any(axis=0)).sum())
        return SliceSummary(fact=name, value=value, facet=not view.whole, n=n, systems=systems)

    panel = work.panel
    values = fact_values(panel.cases, name)
    found = values is not None
    groups = group_values(values or (), least)
    for word in dict.fromkeys(word for value, word in groups.items() if value is not None or name != TIER):
        yield one(word, View(np.array([groups[own] == word for own in values or ()], dtype=np.bool_), panel.parts))
    for word, parts, mask in panel.facet(name):
        found = True
        yield one(word, View(mask, parts, whole=False))
    if not found:
        known = {"repo", *panel.facets(), *(fact for case in panel.cases for fact in case.facts)}
        cut = parse_cut(name)
        problem = f"{name!r}: no case has the fact {cut.fact}" if cut else f"nothing to slice by is called {name!r}"
        raise UserError(problem, remedy=f"there are: {', '.join(sorted(known))}")


def _warn_of_rows(rows: Sequence[SystemSummary]) -> list[str]:
    """Warnings of failures and gaps."""
    found: list[str] = []
    for row in rows:
        gaps = {"failed": row.failed, "not run or not scored": row.missing}
        shown = ", ".join(f"{count} {what}" for what, count in gaps.items() if count)
        if shown:
            found.append(f"{row.system}: of {row.cases} cases {shown}")
        if row.failures and any(e.value is not None and e.worst is None for e in row.estimates):
            found.append(f"{row.system}: some figures cannot be bounded with the failures counted as worst and as best")
    return found


def worst_cases(run: ScoredRun, count: int) -> list[int]:
    """The positions of the `count` cases that cost the headline the most, in the order of the benchmark.

    A case costs what the headline would gain without it, summed over the systems; of ties the first come first.
    """
    metric = run.metric
    panel = table_of(run)
    cost = np.zeros(len(panel.cases))
    for parts, scored in zip(panel.parts, panel.scored, strict=True):
        own = np.column_stack([parts * scored[:, None], scored])  # the last column counts
        total = own.sum(axis=0)
        measures = measures_of_totals(metric, panel.names, np.vstack([total, total - own]))[metric.headline]
        cost += np.nan_to_num(measures[1:] - measures[0])
    costs = {case.id: value for case, value in zip(panel.cases, cost.tolist(), strict=True)}
    sign = -1.0 if metric.headline in metric.lower_is_better else 1.0
    by_place = np.array([sign * costs[case.id] for case in run.cases])
    return sorted(np.argsort(-by_place, kind="stable")[:count].tolist())
