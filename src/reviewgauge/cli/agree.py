"""`reviewgauge agree`: how far raters agree, humans and models in one table."""

from __future__ import annotations

from typing import Any

import click

from reviewgauge.api.agree import agree
from reviewgauge.api.points_study import draw_sheets
from reviewgauge.cli.options import from_option, json_option, seed_option
from reviewgauge.cli.output import emit
from reviewgauge.core.labels import RaterKind
from reviewgauge.views.terminal.agreement_tables import agreement


@click.command("agree")
@click.argument("labels")
@from_option
@click.option("--dimension", "dimensions", multiple=True, help="Only this dimension; may be given again.")
@click.option("--batch", "batches", multiple=True, help="Only labels of this batch; may be given again.")
@click.option("--round", "rounds", multiple=True, help="Only labels of this round; may be given again.")
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice([kind.value for kind in RaterKind]), help="Only these raters."
)
@click.option("--nominal", multiple=True, help="A dimension whose numbers are codes without an order.")
@click.option("--tolerance", default=1.0, show_default=True, help="How far apart numbers still agree; 0 for none.")
@click.option("--labels", "sheets", type=click.Path(exists=True), help="People's labels on a run: a file or folder.")
@click.option("--sheets", "folder", type=click.Path(file_okay=False), help="Write sheets for people on a run here.")
@click.option("--rater", "raters", multiple=True, help="Who gets a sheet; may be given again.")
@click.option("--draw", default=100, show_default=True, type=click.IntRange(min=1), help="Reports in the sheets.")
@click.option("--resamples", default=1_000, show_default=True, help="Draws behind an interval; 0 for none.")
@seed_option
@json_option
def command(labels: str, as_json: bool, folder: str | None, raters: tuple[str, ...], draw: int, **options: Any) -> None:
    """Measure how far raters agree in LABELS: labels in a file, a run folder, a data set or an audit's table.

    A run that was scored with points has labels of its models: which known points are hit, and types and severities of
    the predicted ones. --sheets draws reports for people to judge in the same way; --labels reads what they filled in.
    """
    if folder is not None:
        drawn = draw_sheets(labels, folder, raters, count=draw, seed=options["seed"])
        lines = [
            f"{drawn.reports:,} of {drawn.scored:,} reports, drawn by seed {options['seed']}; points of {drawn.metric}",
            *drawn.files,
            f"next, once the values are filled in: reviewgauge agree {labels} --labels {folder}",
        ]
        emit(drawn, as_json, lambda: "\n".join(lines))
        return
    result = agree(labels, **options)
    emit(result, as_json, lambda: agreement(result))
