"""`reviewgauge export`: a run or a benchmark as another tool reads it."""

from __future__ import annotations

import click

from reviewgauge.api.export import export
from reviewgauge.cli.options import json_option
from reviewgauge.cli.output import emit, progress_bar


@click.command("export")
@click.argument("to")
@click.argument("source")
@click.option("--from", "source_path", type=click.Path(exists=True), help="Where the benchmark's files lie.")
@click.option("-o", "--out", required=True, type=click.Path(), help="Where to write it; nothing may be there yet.")
@json_option
def command(to: str, source: str, source_path: str | None, out: str, as_json: bool) -> None:
    """Write SOURCE, a run folder or a benchmark, as the tool TO reads it (`reviewgauge list exports`)."""
    with progress_bar("exporting", quiet=as_json) as progress:
        result = export(to, source, out, source_path=source_path, progress=progress)

    def show() -> str:
        counts = ", ".join(f"{count:,} {what}" for what, count in result.counts.items())
        left_out = [f"left out: {drop.item}: {drop.reason}" for drop in result.left_out]
        return "\n".join([f"{result.path}: {counts}", *left_out, *([f"next: {result.hint}"] if result.hint else [])])

    emit(result, as_json, show)
