"""What `reviewgauge get` does: a data set's files into their place, and the code behind its changes."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import NamedTuple, TypeVar

from reviewgauge.core.errors import UserError
from reviewgauge.core.plugin import plugin_name
from reviewgauge.core.protocols import Dataset, Progress
from reviewgauge.core.results import Drop
from reviewgauge.datasets.files import code, fetch
from reviewgauge.datasets.files.local_files import data_home, locate

D = TypeVar("D", bound=Dataset)


class FilesGot(NamedTuple):
    """Where the files lie, how many there are, how many came now, and which of them are not the official version."""

    folder: Path
    files: int
    fetched: int
    differs: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class CodeGot(NamedTuple):
    """Repositories with code at hand; changes fetched now and before; what could not be had, each with why."""

    repositories: int
    fetched: int
    at_hand: int
    failed: tuple[Drop, ...]


def fetch_files(
    dataset: Dataset,
    *,
    source: str | Path | None = None,
    out: str | Path | None = None,
    base_url: str | None = None,
    progress: Progress | None = None,
) -> FilesGot:
    """The files of `dataset` from their public origin, or from the folder `source`, into `out` or the data home.

    `base_url` is a mirror that holds the files under their names. Raises UserError.
    """
    name = plugin_name(dataset)
    origins = dataset.card.files
    if not origins:
        where = Path(out).expanduser() if out else data_home() / name
        files = dataset.check_out(where)
        return FilesGot(where, files, files)
    folder = Path(out).expanduser() if out else data_home() / name
    if source is not None:
        taken = fetch.take(origins, Path(source).expanduser(), folder)
        by_state = {state: tuple(t.name for t in taken if t.state == state) for state in ("differs", "absent")}
        there = len(taken) - len(by_state["absent"])
        return FilesGot(folder, there, there, by_state["differs"], by_state["absent"])
    done = fetch.fetch(origins, folder, base_url=base_url, progress=progress)
    return FilesGot(folder, len(done), sum(file.state == "fetched" for file in done))


def fetch_code(
    dataset: Dataset, folder: str | Path, *, forge: str = code.GITHUB, progress: Progress | None = None
) -> CodeGot:
    """The commits behind the changes of `dataset`, whose files lie in `folder`, into mirrors in `folder/code`.

    Raises UserError for a data set that names no commits.
    """
    name = plugin_name(dataset)
    where = locate(name, str(folder))
    cases = list(_bare(dataset, where).cases())
    named = [case for case in cases if case.change.base and case.change.head]
    if not named:
        raise UserError(f"{name} names no commits, so there is no code to fetch")
    totals = code.fetch_code(named, where / code.CODE, forge=forge, progress=progress)
    repositories = len({key.repo for key in code.read_diffs(where / code.CODE)})
    return CodeGot(repositories, totals.fetched, totals.at_hand, totals.failed)


def _bare(dataset: D, folder: Path) -> D:
    """The data set as its files alone give it: with code attached, the base would already be the merge base."""
    assert dataclasses.is_dataclass(dataset)
    changes: dict[str, object] = {"path": str(folder)}
    if any(field.name == "code" for field in dataclasses.fields(dataset)):
        changes["code"] = False
    return dataclasses.replace(dataset, **changes)
