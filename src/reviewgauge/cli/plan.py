"""`reviewgauge plan`: how many changes, attempts and raters a study takes, from a pilot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from reviewgauge.api.plan import plan
from reviewgauge.cli.options import from_option, json_option, seed_option
from reviewgauge.cli.output import emit
from reviewgauge.views.plan import plan_document
from reviewgauge.views.terminal.documents import document_view


@click.command("plan")
@click.argument("runs", nargs=-1, type=click.Path(exists=True, file_okay=False))
@click.option("--detect", type=float, help="The smallest difference that the study should find, such as .03.")
@click.option("--metric", help="The metric to plan for (default: all that the runs were scored with).")
@click.option("--measure", help="The measure to plan for, such as recall (default: the metric's headline).")
@click.option("--system", "systems", multiple=True, help="Plan for this system; give two for one pair.")
@click.option("--labels", help="Human labels to plan raters from: a CSV or JSON lines file, a run, or a data set.")
@from_option
@click.option("--power", default=0.8, show_default=True, help="How often a study should find the difference.")
@click.option("--attempt-cost", type=float, help="Dollars that one review costs (default: as the runs recorded).")
@click.option("--resamples", default=2_000, show_default=True, type=click.IntRange(min=1), help="Bootstrap resamples.")
@seed_option
@json_option
def command(runs: Sequence[str], as_json: bool, **options: Any) -> None:
    """Say how many changes, attempts and raters a study takes, from the variance that pilot RUNS show.

    RUNS are scored and of one benchmark. --labels plans raters, from labels in a file, a run or a data set, whose files
    are in --from.
    """
    result = plan(*runs, **options)
    emit(result, as_json, lambda: document_view(plan_document(result)))
