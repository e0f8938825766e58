"""`reviewgauge bundle`: runs, their tables and the sums of all files in one archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from reviewgauge.api.bundle import bundle
from reviewgauge.cli.options import json_option, plugin_option, resamples_option, seed_option, slice_option
from reviewgauge.cli.output import emit, note, progress_bar
from reviewgauge.views.terminal.closing import bundle_notes


@click.command("bundle")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False), help="The archive, such as bundle.zip.")
@slice_option
@click.option(
    "--with-texts/--without-texts",
    "texts",
    default=None,
    help="Pack all texts, or none (default: those whose licence allows it, and your own).",
)
@resamples_option
@click.option(
    "--include",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="A file that a metric was given, to pack too.",
)
@seed_option
@plugin_option
@json_option
def command(runs: Sequence[str], as_json: bool, **options: Any) -> None:
    """Pack scored RUNS, their tables and the sums of all files into one archive that anybody can check offline."""
    with progress_bar("bundling", quiet=as_json) as progress:
        result = bundle(*runs, progress=progress, **options)
    if not as_json:
        for line in bundle_notes(result.runs):
            note(line)
    made = f"{result.bytes / 1e6:.1f} MB, {len(result.tables)} tables, content {result.content[:16]}"
    emit(result, as_json, lambda: f"{result.path}: {made}\nnext: reviewgauge check {result.path}")
