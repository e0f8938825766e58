"""`reviewgauge info`: the card of a data set, what a plug-in takes, or what a run was scored with."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

import click

from reviewgauge.api.info import info
from reviewgauge.api.scores import MetricScores, ScoresResult, scores
from reviewgauge.api.settings import SettingsFile, descriptions, read_settings
from reviewgauge.cli.options import from_option, json_option
from reviewgauge.cli.output import emit
from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.plugin_info import PluginInfo
from reviewgauge.views.terminal import tables


@click.command("info")
@click.argument("name", required=False)
@from_option
@click.option("--show", default="", metavar="PROMPT", help="Print one of its prompts: info prompt --show swr.")
@click.option(
    "--remove", multiple=True, metavar="METRIC", help="Remove this metric's scores from a run; may be given again."
)
@json_option
def command(name: str | None, source: str | None, show: str, remove: Sequence[str], as_json: bool) -> None:
    """Show the card of a data set and the counts of the local files, or what a plug-in or a recipe does and takes.

    Of a run folder, the metrics that it was scored with. --remove takes the scores of some out; what models were paid
    for stays in the record of calls and in the cache, so scoring again asks them nothing twice. Without NAME, the
    settings in force here and where each comes from: reviewgauge.toml, or [tool.reviewgauge] in pyproject.toml, or the
    file that $REVIEWGAUGE_SETTINGS names.
    """
    if name is None:
        settings = read_settings()
        emit(settings, as_json, lambda: "\n".join(_settings(settings)))
        return
    result = scores(name, remove=remove) if remove else info(name, source, show)
    if isinstance(result, ScoresResult):
        emit(result, as_json, lambda: "\n".join(_scores(result)))
        return
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


def _settings(found: SettingsFile) -> list[str]:
    where = "$REVIEWGAUGE_SETTINGS" if found.trusted else "this folder"
    head = (
        f"settings of {found.file} ({where}), which flags override:"
        if found.file
        else (
            "no settings: neither reviewgauge.toml nor [tool.reviewgauge] in pyproject.toml is here (reviewgauge init)"
        )
    )
    stated, lines = found.stated(), []
    prices = os.environ.get("REVIEWGAUGE_PRICES", "")
    for key, one in descriptions().items():
        if key in stated:
            lines.append(f"  {key} = {json.dumps(stated[key], ensure_ascii=False)}  ({found.file})")
        elif key == "prices" and prices:
            lines.append(f"  {key} = {json.dumps(prices)}  ($REVIEWGAUGE_PRICES)")
        else:
            lines.append(f"  {key}: {one['default']}  (default)")
    return [head, *lines]


def _scores(result: ScoresResult) -> list[str]:
    lines = [f"{result.removed:,} scores removed"] if result.removed else []
    return [*lines, *map(_line, result.metrics)] or [f"{result.run} holds no scores: reviewgauge score {result.run}"]


def _line(one: MetricScores) -> str:
    counts = {"not applicable": one.not_applicable, "failed": one.failed, "of failed reviews": one.failed_reviews}
    parts = [f"{one.measured:,} measured", *(f"{n:,} {what}" for what, n in counts.items() if n)]
    parts += [f"model calls worth ${one.dollars:.2f}, those answered from the cache too"] if one.dollars else []
    return f"{one_line(one.label, 100)}: {len(one.systems)} systems; {'; '.join(parts)}"
