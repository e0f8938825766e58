"""`reviewgauge get`: fetch a data set, or take it from a folder."""

from __future__ import annotations

import click

from reviewgauge.api.get import get
from reviewgauge.cli.options import json_option
from reviewgauge.cli.output import emit, progress_bar


@click.command("get")
@click.argument("dataset")
@click.option("--from", "source", type=click.Path(exists=True), help="Take the files from this folder instead.")
@click.option("-o", "--out", type=click.Path(), help="Where to put them (default: the data home).")
@click.option("--commit", default="", help="Another version: the whole id of a commit of its repository.")
@click.option("--with-code", is_flag=True, help="Also fetch the commits under review (git).")
@json_option
def command(dataset: str, source: str | None, out: str | None, commit: str, with_code: bool, as_json: bool) -> int:
    """Fetch DATASET from its public origin, or take it from a folder with --from."""
    with progress_bar("fetching", quiet=as_json) as progress:
        result = get(dataset, source, out, with_code, progress, commit)

    def show() -> str:
        lines = [f"{result.dataset}: {result.files} files in {result.path} ({result.fetched} fetched now)"]
        if result.differs:
            lines.append(f"not the official version: {', '.join(result.differs)}")
        if result.absent:
            lines.append(f"of the official files not there: {', '.join(result.absent)}")
        if with_code:
            lines.append(
                f"code of {result.changes_with_code} changes in {result.repositories} repositories; "
                f"{len(result.failed)} could not be fetched"
            )
        lines += [f"  {drop.item}: {drop.reason}" for drop in result.failed[:20]]
        return "\n".join(lines)

    emit(result, as_json, show)
    return 1 if result.failed else 0
