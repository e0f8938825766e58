"""`reviewbench compare`: systems held against each other on the cases they share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from reviewbench.analysis.compare import Pairs
from reviewbench.cli._output import emit, json_option, seed_option
from reviewbench.cli._runs import read_runs
from reviewbench.core.errors import UserError
from reviewbench.core.summaries import ComparisonTable


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


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("--system", "systems", multiple=True, help="Compare only this system; give two for one comparison.")
@click.option("--metric", help="The metric to compare by (default: all that the runs were scored with).")
@click.option("--reading", "readings", multiple=True, help="A reading to compare, such as recall; may be given again.")
@click.option("--all-pairs", "every_pair", is_flag=True, help="Every pair, not only each system against the leader.")
@click.option("--resamples", default=10_000, show_default=True)
@seed_option
@json_option
def command(
    runs: Sequence[str],
    systems: Sequence[str],
    metric: str | None,
    readings: Sequence[str],
    every_pair: bool,
    resamples: int,
    seed: int,
    as_json: bool,
) -> None:
    """Compare the systems of one or more RUNS on the cases they share, with intervals and corrected p-values."""
    result = compare(
        *runs,
        systems=systems,
        metric=metric,
        readings=readings or None,
        every_pair=every_pair,
        resamples=resamples,
        seed=seed,
    )

    def show() -> object:
        from rich.console import Group

        from reviewbench.views import tables

        return Group(*(tables.comparison(table) for table in result))

    emit(result, as_json, show)
