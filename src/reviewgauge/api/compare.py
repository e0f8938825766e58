"""`reviewgauge compare`: systems held against each other on the cases they share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reviewgauge.analysis.compare.compare import Pairs
from reviewgauge.api.runs import read_runs
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.leaderboard import ComparisonTable


def compare(
    *runs: str | Path,
    systems: Sequence[str] = (),
    metric: str | None = None,
    readings: Sequence[str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    every_pair: bool = False,
) -> Sequence[ComparisonTable]:
    """Paired comparisons, one table per metric: each system against the leader, or every pair.

    `systems` keeps only those named; of two, the first is compared with the second.
    """
    tables = []
    for entry in read_runs(runs, metric):
        known = entry.systems
        if missing := [s for s in systems if s not in known]:
            raise UserError(f"no system {missing[0]!r} in these runs", remedy=f"there are: {', '.join(known)}")
        kept = [score for score in entry.scores if not systems or score.system in systems]
        measured = entry._replace(scores=kept)
        if len(measured.systems) < 2:
            raise UserError("it takes two systems to compare", remedy="name two runs, or a run of several systems")
        pairs: Pairs = [(systems[0], systems[1])] if len(systems) == 2 else "all" if every_pair else None
        table = measured.comparison(pairs, resamples, seed, readings=readings)
        left_out = () if systems else measured.warnings
        tables.append(table.model_copy(update={"warnings": (*left_out, *table.warnings)}))
    return tables
