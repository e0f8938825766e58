"""`reviewgauge compare`: systems compared on the cases that they share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reviewgauge.analysis.compare.caveats import caveats
from reviewgauge.analysis.compare.compare import Pairs, rank_alike
from reviewgauge.analysis.compare.compare import compare as compare_systems
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.leaderboard import ComparisonTable, Rankings
from reviewgauge.engine.run.scored_run import read_scored_runs
from reviewgauge.views.table_files import titled_comparison
from reviewgauge.views.tables import tables_html


class Comparisons(list[ComparisonTable]):
    """One table a metric. In a notebook they show themselves."""

    def _repr_html_(self) -> str:
        return tables_html(map(titled_comparison, self))


def compare(
    *runs: str | Path,
    systems: Sequence[str] = (),
    metric: str | None = None,
    measures: Sequence[str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    every_pair: bool = False,
) -> Comparisons:
    """Paired comparisons, one table per metric: each system against the leader, or every pair.

    `systems` keeps only those named; of two, the first is compared with the second.
    """
    tables = Comparisons()
    entries = read_scored_runs(runs, metric)
    for run in [run for run in entries if any(score.parts is not None for score in run.scores)] or entries:
        if missing := [s for s in systems if s not in run.systems]:
            raise UserError(f"no system {missing[0]!r} in these runs", remedy=f"there are: {', '.join(run.systems)}")
        chosen = run.only(systems) if systems else run
        if len(chosen.systems) < 2:
            raise UserError("it takes two systems to compare", remedy="name two runs, or a run of several systems")
        pairs: Pairs = [(systems[0], systems[1])] if len(systems) == 2 else "all" if every_pair else None
        table = compare_systems(chosen, pairs=pairs, measures=measures, resamples=resamples, seed=seed)
        notes = [] if systems else caveats(run)
        tables.append(table.model_copy(update={"warnings": (*notes, *table.warnings)}))
    return tables


def rankings(*runs: str | Path, metric: str | None = None, resamples: int = 10_000, seed: int = 0) -> Rankings:
    """Whether runs on different benchmarks put the systems that they share in the same order.

    Each run counts by `metric`, by default the first that it was scored with. Raises UserError for fewer than two runs.
    """
    if len(runs) < 2:
        raise UserError("it takes two runs to compare rankings", remedy="name runs of two benchmarks")
    chosen = [read_scored_runs([run], metric)[0] for run in runs]
    return rank_alike([leaderboard(one, resamples=resamples, seed=seed) for one in chosen])
