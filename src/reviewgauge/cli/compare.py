"""`reviewgauge compare`: systems compared on the cases that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from reviewgauge.api.compare import compare
from reviewgauge.cli.options import json_option, seed_option
from reviewgauge.cli.output import emit
from reviewgauge.views.terminal import leaderboards


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("--system", "systems", multiple=True, help="Compare only this system; give two for one comparison.")
@click.option("--metric", help="The metric to compare by (default: all that the runs were scored with).")
@click.option("--measure", "measures", multiple=True, help="A measure to compare, such as recall; may be given again.")
@click.option("--all-pairs", "every_pair", is_flag=True, help="Every pair, not only each system against the leader.")
@click.option("--resamples", default=10_000, show_default=True, help="Bootstrap resamples.")
@seed_option
@json_option
def command(runs: Sequence[str], measures: Sequence[str], as_json: bool, **options: Any) -> None:
    """Compare the systems of one or more RUNS on the cases they share, with intervals and corrected p-values."""
    result = compare(*runs, measures=measures or None, **options)

    emit(result, as_json, lambda: [leaderboards.comparison(table) for table in result])
