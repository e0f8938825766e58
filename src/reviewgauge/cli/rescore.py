"""`reviewgauge rescore`: old and new scores of the same reviews, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from reviewgauge.api.rescore import RescoreResult, rescore
from reviewgauge.cli.options import from_option, json_option, model_options, retry_option, seed_option, workers_option
from reviewgauge.cli.output import note_reasons, run_stoppable
from reviewgauge.views.terminal.closing import score_line
from reviewgauge.views.terminal.versions import versions


@click.command("rescore")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("--on", required=True, help="The other version: a data set, or a folder or file of cases.")
@from_option
@click.option("-o", "--run", required=True, type=click.Path(file_okay=False), help="The folder of the new run.")
@click.option("--metric", "metrics", multiple=True, help="Only this metric of the runs; may be given again.")
@click.option("--measure", "measures", multiple=True, help="A measure to compare, such as recall; may be given again.")
@click.option("--resamples", default=10_000, show_default=True, help="Bootstrap resamples.")
@seed_option
@workers_option
@retry_option
@model_options
@json_option
def command(runs: Sequence[str], as_json: bool, **options: Any) -> None:
    """Measure the reviews of RUNS on another version of their benchmark, and show old and new scores side by side.

    Nobody reviews again: the changes must be the same ones; those that are gone are left out. The new run can be
    compared and reported as any other.
    """
    run_stoppable("scoring", partial(rescore, *runs, **options), as_json, _shown)


def _shown(result: RescoreResult) -> list[object]:
    note_reasons(result.totals)
    parts: list[object] = [versions(table) for table in result.tables]
    parts += [score_line(totals, result.spending.estimated) for totals in result.totals]
    parts += [result.spending.sentence] if result.spending.sentence else []
    return [*parts, *([f"next: reviewgauge report {result.run} -o report.html"] if result.tables else [])]
