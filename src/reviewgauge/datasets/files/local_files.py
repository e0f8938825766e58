"""The files of data sets on this machine: where they are, and the JSON in them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.json_reader import Node
from reviewgauge.core.parsing import lines, parse_json, refuse_bytes

LARGEST_FILE = 512 * 1024 * 1024  # bytes; no official file comes near, and a whole document is held in memory


def data_home() -> Path:
    """The folder that fetched data sets lie in, one folder each.

    `$REVIEWGAUGE_DATA`, else `$XDG_DATA_HOME/reviewgauge`, else `~/.local/share/reviewgauge`. Nothing is created.
    """
    if own := os.environ.get("REVIEWGAUGE_DATA"):
        return Path(own).expanduser()
    # The XDG rule: a relative value is invalid and is ignored.
    if (shared := os.environ.get("XDG_DATA_HOME")) and Path(shared).is_absolute():
        return Path(shared) / "reviewgauge"
    try:
        return Path.home() / ".local" / "share" / "reviewgauge"
    except RuntimeError:
        raise UserError("this user has no home folder to keep data in", remedy="set REVIEWGAUGE_DATA") from None


def locate(name: str, path: str) -> Path:
    """The files of data set `name`: `path` where one is given, else its folder in the data home.

    Raises UserError that names the remedy where nothing is there.
    """
    if path:
        given = Path(path).expanduser()
        if not given.exists():
            raise UserError(f"there is nothing at {path}", remedy=f"give the folder that holds {name}'s files")
        return given
    home = data_home() / name
    if not home.is_dir():
        raise UserError(f"the data set {name} is not on this machine", remedy=f"reviewgauge get {name}")
    return home


def read_json(file: Path, dataset: str) -> Node:
    """The JSON document in `file`. Raises UserError where it is absent, too large or not JSON."""
    source = file.name
    try:
        size = file.stat().st_size
        if size > LARGEST_FILE:
            raise BadInput(source, f"is {size:,} bytes, over {LARGEST_FILE:,}")
        raw = file.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{file} is not there", remedy=f"reviewgauge get {dataset}") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    return Node(parse_json(raw, source), source)


def objects(file: Path) -> Iterator[Node]:
    """The object on each line of a file, or each item of a file that is one JSON array, read as they are asked for."""
    if file.suffix == ".json":
        yield from read_json(file, file.stem).items()
        return
    try:
        with file.open("rb") as stream:
            for number, line in lines(stream, file.name):
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    refuse_bytes(line, file.name, number)
                    raise BadInput(file.name, "is not valid JSON", record=number) from None
                yield Node(value, file.name, number)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
