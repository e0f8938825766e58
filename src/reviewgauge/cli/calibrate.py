"""`reviewgauge calibrate`: several metrics made into one grade, fitted to human labels."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from reviewgauge.api.calibrate import FILE, CalibrateResult, calibrate
from reviewgauge.cli.options import (
    from_option,
    json_option,
    model_options,
    retry_option,
    seed_option,
    stage_option,
    verb,
)
from reviewgauge.cli.output import note, note_reasons, run_stoppable
from reviewgauge.views.terminal.closing import after_measuring, measuring_line
from reviewgauge.views.validity.tables import calibration


def _quoted(spec: str) -> str:
    """The spec as a shell takes it, in double quotes where nothing in it would be replaced there."""
    return shlex.quote(spec) if set(spec) & set('"$`\\!') else f'"{spec}"'


@verb("calibrate")
@click.argument("labels")
@click.argument("metrics", nargs=-1, required=True)
@click.option(
    "-o", "--out", default=FILE, show_default=True, type=click.Path(dir_okay=False), help="The file to write."
)
@click.option("--run", type=click.Path(file_okay=False), help="The folder for the measurements.  [validity-DATASET]")
@from_option
@click.option(
    "--labels", "label_file", type=click.Path(exists=True), help="Labels of your own: id, rater, dimension, value."
)
@click.option("--dimension", help="What was judged, where people judged several things.")
@stage_option
@click.option("--folds", default=10, show_default=True, type=click.IntRange(min=2), help="Folds by reference text.")
@click.option("--resamples", default=1_000, show_default=True, help="Bootstrap resamples.")
@seed_option
@retry_option
@model_options
@json_option
def command(labels: str, metrics: Sequence[str], as_json: bool, **options: Any) -> int:
    """Make METRICS into one grade, fitted to the human LABELS of a data set or a run folder.

    LABELS is graded_reviews, crscore_study, a run folder, or cases of your own with labels. Writes a file for
    combined(file=...) and prints what it gives on references that it has not seen, beside each metric alone. The exit
    code is 1 when a fit to shuffled labels reaches anything: then the labels leak.

    Killed or interrupted while it measures, the same command goes on where it stopped.
    """
    work = partial(calibrate, labels, *metrics, **options)
    result = run_stoppable(
        "calibrating", work, as_json, _shown, note_first=lambda done: note_reasons(done.totals, done.notes)
    )
    if result.leaks:
        note("a fit to shuffled labels reaches more than chance: the folds do not keep apart what belongs together")
    return 1 if result.leaks else 0


def _shown(result: CalibrateResult) -> list[object]:
    closing = f"{result.file} was fitted to all {result.rows:,} rows; use it as {_quoted(result.spec)}"
    closing += f"; {result.seconds:.1f} s"
    fitted = (
        calibration(result.account, leakage=result.leakage, weights=result.weights, closing=closing, folds=result.folds)
        if result.account
        else measuring_line(result.totals, result.seconds, result.spending.estimated)
    )
    spent = [result.spending.sentence] if result.spending.sentence else []
    return [fitted, *spent, *after_measuring(result.totals)]
