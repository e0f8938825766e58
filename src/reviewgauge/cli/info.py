"""`reviewgauge info`: a data set's card, and what the local files hold."""

from __future__ import annotations

import click

from reviewgauge.api.info import info
from reviewgauge.cli.options import from_option, json_option
from reviewgauge.cli.output import emit
from reviewgauge.views.terminal import tables


@click.command("info")
@click.argument("dataset")
@from_option
@json_option
def command(dataset: str, source: str | None, as_json: bool) -> None:
    """Show the card of DATASET and the counts of the local files."""
    result = info(dataset, source)

    notes = [*result.notes[:12], *([f"… and {len(result.notes) - 12} more"] if len(result.notes) > 12 else [])]
    notes += [result.missing] if result.missing else []
    emit(result, as_json, lambda: tables.card(result.card, result.counts, notes))
