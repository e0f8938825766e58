"""`reviewgauge list`: what there is."""

from __future__ import annotations

import click

from reviewgauge.api.list import KINDS, list_plugins
from reviewgauge.cli.options import json_option
from reviewgauge.cli.output import emit
from reviewgauge.views.terminal import tables


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
@json_option
def command(kind: str | None, as_json: bool) -> None:
    """List the data sets, stages, reviewers, metrics, formats, judges, contexts and recipes, or those of one KIND."""
    lines = list_plugins(kind)

    emit(lines, as_json, lambda: tables.catalogue(lines))
