"""`reviewgauge get`: fetch a data set, or take it from a folder."""

from __future__ import annotations

from pathlib import Path

from reviewgauge.api.resolve import dataset_label, find_dataset
from reviewgauge.core.base import Record
from reviewgauge.core.protocols import Dataset, Progress
from reviewgauge.core.results import Drop


class GetResult(Record):
    """The folder of the data set, which files are not the official version, and what could not be fetched."""

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
    commit: str = "",
) -> GetResult:
    """Fetch a data set from its public origin with checksums, or take it from `source`; into the data home or `out`.

    `commit` is another version of its repository than the card's, which goes into a folder of its own.

    `with_code` also fetches the commits under review, one shallow partial mirror per repository.
    """
    from reviewgauge.datasets.files.get import fetch_code, fetch_files

    found = find_dataset(dataset)
    files = fetch_files(found, source=source, out=out, commit=commit, progress=progress)
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
