"""`reviewgauge info`: a data set's card with what the local files hold, or what a plug-in does and takes."""

from __future__ import annotations

import click

from reviewgauge.api.info import info
from reviewgauge.cli.options import from_option, json_option
from reviewgauge.cli.output import emit
from reviewgauge.core.reports.plugin_info import PluginInfo
from reviewgauge.views.terminal import tables


@click.command("info")
@click.argument("name")
@from_option
@click.option("--show", default="", metavar="PROMPT", help="Print one of its prompts: info prompt --show swr.")
@json_option
def command(name: str, source: str | None, show: str, as_json: bool) -> None:
    """Show the card of a data set and the counts of the local files, or what a plug-in or a recipe does and takes."""
    result = info(name, source, show)
    if isinstance(result, PluginInfo) and result.shown and not as_json:
        click.echo(result.text, nl=False)
        return
    usage = tables.usage(result.example, result.also)
    if isinstance(result, PluginInfo):
        emit(result, as_json, lambda: [tables.plugin(result), *usage])
        return
    notes = [*result.notes[:12], *([f"… and {len(result.notes) - 12} more"] if len(result.notes) > 12 else [])]
    notes += [result.missing] if result.missing else []
    emit(result, as_json, lambda: [tables.card(result.card, result.counts, notes), "", *usage])
