"""Reads pull requests from a dump, without network access. Nothing is unpacked to disk or unpickled.

An archive is a file of JSON lines, one pull request a line in the shape of `reading` (`.jsonl`, `.jsonl.gz`; what a
build leaves in `forge/pulls.jsonl.gz`), or a folder, `.zip`, `.tar` or `.tar.gz` of such files, or of answers of the
REST API under their own paths:

    OWNER/NAME/pulls/12.json    OWNER/NAME/pulls/12/commits.json, comments.json, reviews.json, files.json, threads.json
    OWNER/NAME/languages.json   OWNER/NAME/issues/12/comments.json, timeline.json

Archives are hostile input: links are not followed, names are matched and never opened as paths, sizes are bounded
before anything is held in memory, and decompression bombs are refused.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, NamedTuple, Self, cast

from pydantic import JsonValue

from reviewgauge.core.errors import BadInput, UserError, one_line
from reviewgauge.core.files import files_below
from reviewgauge.core.json_reader import Json, node, number, text
from reviewgauge.core.parsing import lines, parse_json
from reviewgauge.repo.forge.answers import without_addresses
from reviewgauge.repo.forge.reading import Raw

MOST_MEMBERS = 2_000_000
LONGEST_HEADER = 16_384  # bytes of a long name in a tar, or of a member's extra header
_HEADERS = {
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
}
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
# of damaged, encrypted or exotic members
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, RuntimeError)
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


class Archive(AbstractContextManager["Archive"]):
    """An open archive."""

    def __init__(self, path: Path, limits: ArchiveLimits | None = None) -> None:
        """Raises UserError for what is not an archive."""
        self.path, self._limits = path, limits or ArchiveLimits()
        self._open = ExitStack()
        try:
            self._members = self._list()
        except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, ValueError) as error:
            self._open.close()
            raise UserError(f"cannot read {path.name}: {error}", remedy="is the file complete?") from None
        except RecursionError:
            self._open.close()
            raise UserError(f"cannot read {path.name}: it holds header upon header") from None
        except BaseException:
            self._open.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def pulls(self) -> Iterator[tuple[str, Raw]]:
        """(file and line, pull request) in a stable order. Raises BadInput."""
        for name in sorted(name for name in self._members if _LINES.fullmatch(name)):
            with self._members[name]() as stream:
                for line, raw in lines(self._unpacked(stream, name), name):
                    where = f"{name}, line {line}"
                    yield where, shaped(parse_json(raw, where), where)
        yield from self._trees()

    # --- answers under their own paths -------------------------------------------------------------------------

    def _trees(self) -> Iterator[tuple[str, Raw]]:
        found: dict[tuple[str, int], dict[str, str]] = {}
        languages: dict[str, str] = {}
        for name in sorted(self._members):
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
        with self._members[name]() as stream:
            body = self._unpacked(stream, name).read(self._limits.answer + 1)
        if len(body) > self._limits.answer:
            raise BadInput(name, f"is over {self._limits.answer:,} bytes")
        return cast(JsonValue, parse_json(body, name))

    def _unpacked(self, stream: IO[bytes], name: str) -> BinaryIO:
        if not name.endswith(".gz"):
            return cast(BinaryIO, stream)
        return _buffered(_Guarded(stream, name, self._limits))

    # --- members -----------------------------------------------------------------------------------------------

    def _list(self) -> Mapping[str, Callable[[], IO[bytes]]]:
        """The readable members, by name."""
        path = self.path
        if path.is_dir():
            return self._folder()
        if not path.is_file():
            raise UserError(f"there is no archive at {path}", remedy="a folder, .jsonl, .jsonl.gz, .zip or .tar.gz")
        if path.name.endswith((".jsonl", ".jsonl.gz")):
            return {path.name: lambda: path.open("rb")}
        if zipfile.is_zipfile(path):
            return self._zip()
        return self._tar()

    def _folder(self) -> Mapping[str, Callable[[], IO[bytes]]]:
        found: dict[str, Callable[[], IO[bytes]]] = {}
        for file in files_below(self.path):
            shown = file.relative_to(self.path).as_posix()
            if _wanted(shown) and not file.is_symlink():
                found[shown] = lambda file=file: file.open("rb")  # type: ignore[misc]
                _count(len(found))
        return found

    def _zip(self) -> Mapping[str, Callable[[], IO[bytes]]]:
        archive = self._open.enter_context(zipfile.ZipFile(self.path))
        entries = [entry for entry in archive.infolist() if _wanted(entry.filename) and not entry.is_dir()]
        _count(len(entries))
        self._limits.weigh(sum(entry.file_size for entry in entries), self.path.stat().st_size)
        if len({entry.filename for entry in entries}) < len(entries):
            raise zipfile.BadZipFile("two files in it have one name")
        return {entry.filename: lambda entry=entry: self._member(archive, entry) for entry in entries}  # type: ignore[misc]

    def _member(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
        try:
            return _buffered(_Checked(archive.open(entry), entry.filename))
        except _BROKEN as error:
            raise _damaged(entry.filename, error) from None

    def _tar(self) -> Mapping[str, Callable[[], IO[bytes]]]:
        """A tar has no random access: its wanted members are copied to a temporary file first."""
        spool = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  the stack closes it
        places: dict[str, tuple[int, int]] = {}
        size = self.path.stat().st_size
        archive = self._open_tar()
        while (member := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # kept for seeking, which a stream does not do
            if not member.isfile() or not _wanted(member.name):
                continue
            _count(len(places))
            source = archive.extractfile(member)
            start = spool.tell()
            while source is not None and (piece := source.read(1 << 20)):
                spool.write(piece)
                self._limits.weigh(spool.tell(), size)
            places[member.name] = (start, spool.tell() - start)
        return {name: lambda at=at: _buffered(_Window(spool, *at)) for name, at in places.items()}  # type: ignore[misc]

    def _open_tar(self) -> tarfile.TarFile:
        """The tar as a stream, weighed while it is unpacked. Raises UserError for any other file."""
        stream: IO[bytes] = self._open.enter_context(self.path.open("rb"))
        packed = stream.read(2) == b"\x1f\x8b"
        stream.seek(0)
        try:
            stream = _buffered(_Guarded(stream, self.path.name, self._limits)) if packed else stream
            return self._open.enter_context(tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header))
        except tarfile.TarError:
            remedy = "a folder, .jsonl, .jsonl.gz, .zip or .tar.gz"
            raise UserError(f"{self.path.name} is not an archive", remedy=remedy) from None


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
        raise BadInput(
            where,
            "is not a pull request",
            field="pull.number",
            remedy="a pull request as GitHub's API gives it, with its number",
        )
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


class _Checked(io.RawIOBase):
    """A file of an archive that raises BadInput where it cannot be unpacked."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream, self._name, self._read = stream, name, 0

    def tell(self) -> int:
        return self._read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._stream.read(len(buffer))
        except _BROKEN as error:
            raise _damaged(self._name, error) from None
        buffer[: len(piece)] = piece
        self._read += len(piece)
        return len(piece)


class _Guarded(_Checked):
    """A gzip stream that also raises UserError once it unpacks to far more than its size."""

    def __init__(self, packed: IO[bytes], name: str, limits: ArchiveLimits) -> None:
        super().__init__(cast(IO[bytes], gzip.GzipFile(fileobj=packed)), name)
        self._packed, self._limits = packed, limits

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer)
        self._limits.weigh(self._read, max(1, self._packed.tell()))
        return size


def _damaged(name: str, error: Exception) -> BadInput:
    return BadInput(name, f"cannot be unpacked ({one_line(str(error), 100)})", remedy="is the file complete?")


class _Header(tarfile.TarInfo):
    """The header of a member, bounded: `tarfile` holds a long name in memory, however long it says that it is."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            found = super().frombuf(buf, encoding, errors)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # the end mark
            raise
        except tarfile.HeaderError as error:  # where `tarfile` would take what came before for the whole
            raise tarfile.ReadError(f"it is cut off or damaged ({error})") from None
        if found.size < 0:
            raise tarfile.ReadError("a file in it has a negative size")
        if found.size > LONGEST_HEADER and found.type in _HEADERS:
            raise UserError(f"the archive holds a name or header over {LONGEST_HEADER:,} bytes")
        return found

    def _proc_gnusparse_10(self, *_: object) -> None:  # reads on in quadratic time until a line ends
        raise UserError("the archive holds a sparse file, as no dump of pull requests does")


class _Window(io.RawIOBase):
    """A range of a file, as a file."""

    def __init__(self, whole: IO[bytes], start: int, size: int) -> None:
        self._whole, self._start, self._at, self._end = whole, start, start, start + size

    def tell(self) -> int:
        return self._at - self._start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._whole.seek(self._at)
        piece = self._whole.read(min(len(buffer), self._end - self._at))
        self._at += len(piece)
        buffer[: len(piece)] = piece
        return len(piece)


def _buffered(stream: io.RawIOBase) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(stream))


def _wanted(name: str) -> bool:
    clean = name.removeprefix("./")
    contained = not clean.startswith("/") and ".." not in clean.split("/") and "\\" not in clean
    return contained and (_LINES.fullmatch(clean) is not None or _ANSWER.fullmatch(clean) is not None)


def _count(members: int) -> None:
    if members > MOST_MEMBERS:
        raise UserError(f"the archive holds more than {MOST_MEMBERS:,} files")
