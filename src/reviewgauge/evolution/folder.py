"""The folder of a search: its settings, which may not change, and its lock."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import check_plain, read_within, write_error, write_whole
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.reports.evolution import EvolutionReport
from reviewgauge.engine.run.journal import Lock
from reviewgauge.evolution.search import Limits

SETTINGS, RESULT, LOCK, RUNS, HELD = "evolve.json", "result.json", "lock", "runs", "held-out"


@contextmanager
def opened(folder: Path) -> Iterator[Path]:
    """The folder, locked. Raises UserError for one that holds something else."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UserError(f"{folder} is a file, not a folder", remedy="name another folder") from None
    except OSError as error:
        raise write_error(folder, error) from None
    check_plain(folder)
    names = {entry.name for entry in folder.iterdir()} - {LOCK}
    if names and SETTINGS not in names:
        raise UserError(
            f"{folder} is not a folder of evolve: it holds {min(names)}", remedy="name a new or an empty folder"
        )
    lock = Lock(folder / LOCK)
    try:
        yield folder
    finally:
        lock.release()


def settle(folder: Path, wanted: Mapping[str, object], limits: Limits) -> EvolutionReport | None:
    """Write what the search rests on, or compare it with what the folder holds. The report of a search that is done.

    Limits may change until the held-out part was looked at. Raises UserError.
    """
    path, now = folder / SETTINGS, {**wanted, "limits": asdict(limits), "folder": str(folder.resolve())}
    if path.exists():
        before = json.loads(read_within(path))
        differing = [name for name in wanted if before.get(name) != wanted[name]]
        if differing:
            same = differing[0] not in ("benchmark", "parts")
            what = f"it rests on other {differing[0]}" if same else "the benchmark changed since"
            raise UserError(f"{folder} holds a search on {before.get('dataset')}: {what}", remedy="use another folder")
        if before.get("limits") != now["limits"] and (folder / HELD).exists():
            raise UserError(
                f"{folder}: the held-out part was looked at; a longer search would be chosen by it",
                remedy="use another folder, and another --seed for another held-out part",
            )
        if before.get("folder") != now["folder"]:
            raise UserError(f"{folder} was moved from {before.get('folder')}", remedy="move it back, or use another")
    if (folder / RESULT).exists():
        return parse_record(EvolutionReport, read_within(folder / RESULT), str(folder / RESULT))
    write_whole(path, json.dumps(now, indent=2).encode() + b"\n")
    return None
