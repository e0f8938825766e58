"""`reviewgauge validate`: metrics compared with human labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from reviewgauge.api.validate import REPORT, ValidateResult, validate
from reviewgauge.cli.options import (
    from_option,
    json_option,
    model_options,
    retry_option,
    seed_option,
    stage_option,
    verb,
)
from reviewgauge.cli.output import note_reasons, run_stoppable
from reviewgauge.views.terminal.closing import after_measuring, measuring_line
from reviewgauge.views.validity.tables import validity


@verb("validate")
@click.argument("dataset")
@click.argument("metrics", nargs=-1, required=True)
@from_option
@click.option(
    "-o", "--out", type=click.Path(file_okay=False), help="The folder for run and report.  [validity-DATASET]"
)
@click.option(
    "--labels",
    type=click.Path(exists=True),
    help="A table of your own that counts instead: id, rater, dimension, value.",
)
@click.option("--dimension", "dimensions", multiple=True, help="Only this dimension; may be given again.")
@click.option("--slice", "slices", multiple=True, help="Also break down by this fact; may be given again.")
@click.option(
    "--where",
    multiple=True,
    metavar="FACT=VALUE",
    help="Only the rows where a fact, or the system, has this value; may be given again. The report goes into a folder "
    "of its own.",
)
@click.option(
    "--round",
    "of_round",
    help="Only labels of this round, or `last`: what reviews ended with. Default: those without one, or the first.",
)
@stage_option
@click.option("--resamples", default=1_000, show_default=True, help="Bootstrap resamples.")
@click.option("--folds", default=10, show_default=True, help="Folds of the calibrations.")
@click.option("--report/--no-report", default=True, help="Whether to write report.html and the tables.")
@seed_option
@retry_option
@model_options
@json_option
def command(dataset: str, metrics: Sequence[str], as_json: bool, **options: Any) -> int:
    """Compare METRICS with human judgements of the recorded reviews of DATASET.

    DATASET is a data set that came with reviews and human labels, or a run folder. Prints which metric agrees best with
    people, beside trivial baselines and what was published, and writes report.html and its tables as CSV.

    Killed or interrupted while it measures, the same command goes on where it stopped. The exit code is 1 when all
    measurements of a metric failed.
    """
    work = partial(validate, dataset, *metrics, **options)
    result = run_stoppable(
        "validating", work, as_json, _shown, note_first=lambda done: note_reasons(done.totals, done.notes)
    )
    return int(any(totals.all_failed for totals in result.totals))


def _shown(result: ValidateResult) -> list[object]:
    parts: list[object] = [] if result.report is None else [validity(result.report)]
    parts += [_closing(result), *([result.spending.sentence] if result.spending.sentence else [])]
    return [*parts, *after_measuring(result.totals)]


def _closing(result: ValidateResult) -> str:
    lines = [measuring_line(result.totals, result.seconds, result.spending.estimated, unchanged=result.unchanged)]
    tables = sum(name.endswith(".csv") for name in result.files)
    if REPORT in result.files:
        lines.append(f"{Path(result.folder) / REPORT} has every figure and plot, beside it {tables} CSV tables")
    elif tables:
        lines.append(f"{result.folder} has {tables} CSV tables")
    return "\n".join(lines)
