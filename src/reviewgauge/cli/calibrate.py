"""`reviewgauge calibrate`: several metrics made into one grade, fitted to human labels."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import click

from reviewgauge.api.calibrate import FILE, CalibrateResult, calibrate
from reviewgauge.cli.options import from_option, json_option, model_options, retry_option, seed_option, stage_option
from reviewgauge.cli.output import emit, end, note, note_reasons, progress_bar, stoppable
from reviewgauge.views.terminal.closing import after_measuring, measuring_line


def _quoted(spec: str) -> str:
    """The spec as a shell takes it, in double quotes where nothing in it would be replaced there."""
    return shlex.quote(spec) if set(spec) & set('"$`\\!') else f'"{spec}"'


@click.command("calibrate")
@click.argument("labels")
@click.argument("metrics", nargs=-1, required=True)
@click.option(
    "-o", "--out", default=FILE, show_default=True, type=click.Path(dir_okay=False), help="The file to write."
)
@click.option("--run", type=click.Path(file_okay=False), help="The folder for the measurements.  [validity-DATASET]")
@from_option
@click.option("--labels", "label_file", type=click.Path(exists=True), help="Labels of your own: docs/guides/people.md.")
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
    with stoppable() as stop:
        with progress_bar("calibrating", quiet=as_json) as progress:
            result = calibrate(labels, *metrics, stop=stop, progress=progress, **options)
        for text in result.notes:
            note(f"note: {text}")
        for totals in result.totals:
            note_reasons(totals.reasons)
        emit(result, as_json, lambda: _shown(result))
        end(stop)
    if result.leaks:
        note("a fit to shuffled labels reaches more than chance: the folds do not keep apart what belongs together")
    return 1 if result.leaks else 0


def _shown(result: CalibrateResult) -> object:
    from rich.console import Group
    from rich.markup import escape

    from reviewgauge.views.validity.tables import calibration

    closing = f"{result.file} was fitted to all {result.rows:,} rows; use it as {_quoted(result.spec)}"
    closing += f"; {result.seconds:.1f} s"
    fitted = [
        calibration(result.account, leakage=result.leakage, weights=result.weights, closing=closing, folds=result.folds)
        for _ in result.account[:1]
    ]
    lines = [] if result.account else [measuring_line(result.totals, result.seconds, result.spending.estimated)]
    lines += [result.spending.sentence] if result.spending.sentence else []
    lines += after_measuring(result.totals)
    return Group(*fitted, *(escape(line) for line in lines))
