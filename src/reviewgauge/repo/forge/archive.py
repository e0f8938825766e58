"""Reads pull requests from a dump, without network access. Nothing is unpacked to disk or unpickled.

An archive is a file of JSON lines, one pull request a line in the shape of `reading` (`.jsonl`, `.jsonl.gz`; what a
build leaves in `forge/pulls.jsonl.gz`), or a folder of such files, or of answers of the REST API under their own paths:

    OWNER/NAME/pulls/12.json    OWNER/NAME/pulls/12/commits.json, comments.json, reviews.json, files.json, threads.json
    OWNER/NAME/languages.json   OWNER/NAME/issues/12/comments.json, timeline.json

Archives are hostile input: links are not followed, sizes are bounded before anything is held in memory, and
decompression bombs are refused.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from pydantic import JsonValue

from reviewgauge.core.errors import BadInput, UserError, one_line
from reviewgauge.core.files import files_below
from reviewgauge.core.json_reader import Json, node, number, text
from reviewgauge.core.parsing import lines, parse_json
from reviewgauge.repo.forge.answers import without_addresses
from reviewgauge.repo.forge.reading import Raw

MOST_FILES = 2_000_000
_LINES = re.compile(r"(?:.*/)?[^/]+\.jsonl(?:\.gz)?")
_ANSWER = re.compile(
    r"(?:(?:.*/)?(?P<repo>[\w.-]+/[\w.-]+)/)?(?:languages|(?P<kind>pulls|issues)/(?P<number>\d{1,9})(?:/(?P<part>\w+))?)"
    r"\.json(?:\.gz)?"
)
_PARTS = {
    ("pulls", None): "pull",
    ("pulls", "commits"): "commits",
    ("pulls", "comments"): "comments",
    ("pulls", "reviews"): "reviews",
    ("pulls", "files"): "files",
    ("pulls", "threads"): "threads",
    ("issues", "comments"): "conversation",
    ("issues", "timeline"): "timeline",
}
_NAMES_OF_LISTS = "commits comments reviews conversation timeline threads events closing files states issues"
_LISTS = tuple(_NAMES_OF_LISTS.split())
_OTHER_NAMES = {"review_comments": "comments", "issue_comments": "conversation", "review_threads": "threads"}


class ArchiveLimits(NamedTuple):
    """Limits in unpacked bytes: for one answer, for everything, and `ratio` times the packed size once past `free`."""

    answer: int = 256 * 1024**2
    everything: int = 64 * 1024**3
    ratio: int = 300
    free: int = 64 * 1024**2

    def weigh(self, unpacked: int, packed: int) -> None:
        """Raise UserError where the limits are exceeded."""
        if unpacked > self.everything or (unpacked > self.free and unpacked > self.ratio * packed):
            raise UserError("the archive unpacks to far more than its size, as no dump of pull requests does")


class Archive:
    """A dump of pull requests."""

    def __init__(self, path: Path, limits: ArchiveLimits | None = None) -> None:
        """Raises UserError for what is not an archive."""
        self._limits = limits or ArchiveLimits()
        if path.is_dir():
            self._files = self._folder(path)
        elif path.is_file() and _LINES.fullmatch(path.name):
            self._files = {path.name: path}
        else:
            problem = f"{path} is not a dump of pull requests" if path.exists() else f"there is no archive at {path}"
            raise UserError(problem, remedy="a .jsonl or .jsonl.gz file, or a folder (unpack a .zip or .tar first)")

    def pulls(self) -> Iterator[tuple[str, Raw]]:
        """(file and line, pull request) in a stable order. Raises BadInput."""
        for name in sorted(name for name in self._files if _LINES.fullmatch(name)):
            with self._opened(name) as stream:
                for line, raw in lines(stream, name):
                    where = f"{name}, line {line}"
                    yield where, shaped(parse_json(raw, where), where)
        yield from self._trees()

    def _trees(self) -> Iterator[tuple[str, Raw]]:
        """The pull requests of answers under their own paths."""
        found: dict[tuple[str, int], dict[str, str]] = {}
        languages: dict[str, str] = {}
        for name in sorted(self._files):
            match = _ANSWER.fullmatch(name)
            if match is None:
                continue
            repo = match["repo"] or ""
            if match["kind"] is None:
                languages[repo] = name
            elif (part := _PARTS.get((match["kind"], match["part"]))) is not None:
                found.setdefault((repo, int(match["number"])), {})[part] = name
        for (repo, _), parts in sorted(found.items()):
            if "pull" not in parts:
                continue  # an issue, or answers about a pull request that is not here
            raw: Raw = {part: self._answer(name) for part, name in parts.items()}
            raw["languages"] = self._answer(languages[repo]) if repo in languages else {}
            if repo:
                raw["repo"] = repo
            yield parts["pull"], shaped(raw, parts["pull"])

    def _answer(self, name: str) -> JsonValue:
        with self._opened(name) as stream:
            body = stream.read(self._limits.answer + 1)
        if len(body) > self._limits.answer:
            raise BadInput(name, f"is over {self._limits.answer:,} bytes")
        return cast(JsonValue, parse_json(body, name))

    def _opened(self, name: str) -> BinaryIO:
        stream = self._files[name].open("rb")
        return (
            cast(BinaryIO, io.BufferedReader(_Unpacked(stream, name, self._limits))) if name.endswith(".gz") else stream
        )

    def _folder(self, folder: Path) -> Mapping[str, Path]:
        """The readable files below a folder, by their path in it."""
        found: dict[str, Path] = {}
        for file in files_below(folder):
            name = file.relative_to(folder).as_posix()
            if (_LINES.fullmatch(name) or _ANSWER.fullmatch(name)) and not file.is_symlink():
                found[name] = file
                if len(found) > MOST_FILES:
                    raise UserError(f"the archive holds more than {MOST_FILES:,} files")
        return found


def shaped(value: object, where: str) -> Raw:
    """One pull request in the shape of `reading`; `value` holds it under `pull` or is the pull request."""
    if not isinstance(value, dict):
        raise BadInput(where, "is not an object")
    value = cast(Raw, value)
    raw: Raw = {_OTHER_NAMES.get(name, name): item for name, item in value.items() if name not in _OTHER_NAMES}
    raw |= {own: value[name] for name, own in _OTHER_NAMES.items() if isinstance(value.get(name), list)}
    if not isinstance(raw.get("pull"), dict):
        raw["pull"] = {name: item for name, item in value.items() if name not in _LISTS or not isinstance(item, list)}
    pull = node(raw, "pull")
    if number(pull, "number") is None:
        raise BadInput(where, "is not a pull request", field="pull.number", remedy="fields: docs/guides/build.md")
    for name in _LISTS:
        raw[name] = _flat(raw.get(name))
    raw["repo"] = text(raw, "repo") or text(pull, "base", "repo", "full_name") or text(pull, "repo")
    if not raw["repo"]:
        raise BadInput(where, "does not name its repository", field="repo", remedy="owner/name")
    if not isinstance(raw.get("languages"), dict):
        raw["languages"] = {}
    try:
        return cast(Raw, without_addresses(raw))
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


class _Unpacked(io.RawIOBase):
    """A gzip file: BadInput where it cannot be unpacked, UserError once it unpacks to far more than its size."""

    def __init__(self, packed: BinaryIO, name: str, limits: ArchiveLimits) -> None:
        self._packed, self._name, self._limits, self._read = packed, name, limits, 0
        self._stream = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._stream.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            problem = f"cannot be unpacked ({one_line(str(error), 100)})"
            raise BadInput(self._name, problem, remedy="is the file complete?") from None
        buffer[: len(piece)] = piece
        self._read += len(piece)
        self._limits.weigh(self._read, max(1, self._packed.tell()))
        return len(piece)

    def close(self) -> None:
        self._packed.close()
        super().close()
