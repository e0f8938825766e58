"""Reads pull requests from a dump, without network access. Nothing is unpacked to disk or unpickled.

A dump is a file of JSON lines, one pull request a line in the shape of `reading` (`.jsonl`, `.jsonl.gz`; what a build
leaves in `forge/pulls.jsonl.gz`), or a folder of such files. It is hostile input: links are not followed, and a line
that is too long is refused before it is held in memory, however small the file is that unpacks to it.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pydantic import JsonValue

from reviewgauge.core.errors import BadInput, UserError, one_line
from reviewgauge.core.files import files_below
from reviewgauge.core.json_reader import Json, node, number, text
from reviewgauge.core.parsing import lines, parse_json
from reviewgauge.repo.forge.answers import without_addresses
from reviewgauge.repo.forge.reading import Raw

_ENDINGS = (".jsonl", ".jsonl.gz")
_LISTS = "commits comments reviews conversation timeline threads events closing files states issues"


def read_archive(path: Path) -> Iterator[tuple[str, Raw]]:
    """(file and line, pull request) in a stable order. Raises UserError for what is not a dump, and BadInput."""
    if path.is_dir():
        files = {file.relative_to(path).as_posix(): file for file in files_below(path) if not file.is_symlink()}
    elif path.is_file() and path.name.endswith(_ENDINGS):
        files = {path.name: path}
    else:
        problem = f"{path} is not a dump of pull requests" if path.exists() else f"there is no archive at {path}"
        raise UserError(problem, remedy="a .jsonl or .jsonl.gz file, or a folder (unpack a .zip or .tar first)")
    for name in sorted(name for name in files if name.endswith(_ENDINGS)):
        with files[name].open("rb") as stream:
            try:
                opened = cast(BinaryIO, gzip.GzipFile(fileobj=stream)) if name.endswith(".gz") else stream
                for line, raw in lines(opened, name):
                    where = f"{name}, line {line}"
                    yield where, shaped(parse_json(raw, where), where)
            except (OSError, EOFError, zlib.error) as error:
                problem = f"cannot be unpacked ({one_line(str(error), 100)})"
                raise BadInput(name, problem, remedy="is the file complete?") from None


def shaped(value: object, where: str) -> Raw:
    """One pull request in the shape of `reading`, without e-mail addresses."""
    if not isinstance(value, dict):
        raise BadInput(where, "is not an object")
    raw = cast(Raw, value)
    pull = node(raw, "pull")
    if number(pull, "number") is None:
        remedy = "a pull request as GitHub's API gives it, with its number"
        raise BadInput(where, "is not a pull request", field="pull.number", remedy=remedy)
    repo = text(raw, "repo") or text(pull, "base", "repo", "full_name")
    if not repo:
        raise BadInput(where, "does not name its repository", field="repo", remedy="owner/name")
    lists: Raw = {name: _flat(raw.get(name)) for name in _LISTS.split()}
    try:
        return cast(Raw, without_addresses({**raw, **lists, "repo": repo, "languages": dict(node(raw, "languages"))}))
    except RecursionError:
        raise BadInput(where, "is nested too deeply") from None


def _flat(value: JsonValue) -> JsonValue:
    """A flat list, also from a list of pages."""
    if not isinstance(value, list):
        return []
    return [part for item in value for part in (item if isinstance(item, list) else [item])]


def write_archive_line(stream: BinaryIO | gzip.GzipFile, raw: Json) -> None:
    """Add one pull request to a file of JSON lines."""
    stream.write(json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n")
