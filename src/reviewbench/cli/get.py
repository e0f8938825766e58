"""`reviewbench get`: fetch a data set, or take it from where it lies."""

from __future__ import annotations

from pathlib import Path

import click

from reviewbench.cli._output import Progress, emit, json_option, progress_bar
from reviewbench.cli._words import dataset_label, find_dataset
from reviewbench.core.base import Record
from reviewbench.core.protocols import Dataset
from reviewbench.core.results import Drop


class GetResult(Record):
    """Where the data set lies now, which files are not the official version, and what could not be fetched."""

    schema_version: int = 1
    dataset: str
    path: str
    files: int
    fetched: int
    differs: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    repositories: int = 0
    changes_with_code: int = 0
    failed: tuple[Drop, ...] = ()


def get(
    dataset: str | Dataset,
    source: str | Path | None = None,
    out: str | Path | None = None,
    with_code: bool = False,
    progress: Progress | None = None,
) -> GetResult:
    """Fetch a data set from its public origin with checksums, or take it from `source`; into the data home or `out`.

    `with_code` also fetches the commits under review, one shallow partial mirror per repository.
    """
    from reviewbench.datasets._get import fetch_code, fetch_files

    found = find_dataset(dataset)
    files = fetch_files(found, source=source, out=out, progress=progress)
    code = fetch_code(found, files.folder, progress=progress) if with_code else None
    return GetResult(
        dataset=dataset_label(found),
        path=str(files.folder),
        files=files.files,
        fetched=files.fetched,
        differs=files.differs,
        absent=files.absent,
        repositories=code.repositories if code else 0,
        changes_with_code=code.fetched + code.at_hand if code else 0,
        failed=code.failed if code else (),
    )


@click.command("get")
@click.argument("dataset")
@click.option("--from", "source", type=click.Path(exists=True), help="Take the files from this folder instead.")
@click.option("-o", "--out", type=click.Path(), help="Where to put them (default: the data home).")
@click.option("--with-code", is_flag=True, help="Also fetch the commits under review (git).")
@json_option
def command(dataset: str, source: str | None, out: str | None, with_code: bool, as_json: bool) -> int:
    """Fetch DATASET from its public origin, or take it from a folder with --from."""
    with progress_bar("fetching", quiet=as_json) as progress:
        result = get(dataset, source, out, with_code, progress)

    def show() -> object:
        from rich.markup import escape

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
        return escape("\n".join(lines))

    emit(result, as_json, show)
    return 1 if result.failed else 0
