"""`reviewgauge report`: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from reviewgauge.api.report import report
from reviewgauge.cli.options import json_option, resamples_option, seed_option, slice_option
from reviewgauge.cli.output import emit
from reviewgauge.views.figures import counted


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False), help="The HTML file to write.")
@click.option("--metric", help="Only this metric (default: all that the runs were scored with).")
@slice_option
@click.option(
    "--changes",
    type=click.IntRange(min=0),
    help="Show at most this many, the costliest first [default: 2,000 reviews].",
)
@click.option("--title", default="", help="The heading of the report.")
@resamples_option
@seed_option
@json_option
def command(runs: Sequence[str], as_json: bool, **options: Any) -> None:
    """Write one self-contained HTML report of one or more RUNS of the same benchmark."""
    result = report(*runs, **options)
    made = f"{result.bytes / 1e6:.1f} MB, {counted(result.systems, 'system')} on {counted(result.cases, 'case')}"
    emit(result, as_json, lambda: f"{result.path}: {made}; open it in a browser")
