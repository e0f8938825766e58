"""`reviewgauge agree`: how far raters agree, humans and models in one table."""

from __future__ import annotations

from typing import Any

import click

from reviewgauge.api.agree import agree
from reviewgauge.cli.options import from_option, json_option, seed_option
from reviewgauge.cli.output import emit
from reviewgauge.core.labels import RaterKind
from reviewgauge.views.agreement import agreement_document
from reviewgauge.views.terminal.documents import document_view


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
@click.option("--labels", "people", type=click.Path(exists=True, dir_okay=False), help="People's labels on a run.")
@click.option("--resamples", default=1_000, show_default=True, help="Draws behind an interval; 0 for none.")
@seed_option
@json_option
def command(labels: str, as_json: bool, **options: Any) -> None:
    """Measure how far raters agree in LABELS: labels in a file, a run folder or a data set.

    A run that was scored with points has labels of its models: which known points are hit, and types and severities of
    the predicted ones. annotate lets people judge in the same way; --labels reads what they said.
    """
    result = agree(labels, **options)
    emit(result, as_json, lambda: document_view(agreement_document(result)))
