"""Reads what `git log --raw -z -p` prints: commits with their fields, changed files and each file's patch.

The caller's format begins with a random mark, has `FIELDS` fields that each end in a NUL, and the message last. All
in bytes; a commit of many megabytes is cut as it comes, and a file's diff over the limit is dropped on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from reviewgauge.core.parsing import first_problem
from reviewgauge.core.records import ChangedFile, FileStatus
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.paths import decode_path

FIELDS = 6
_ENTRY = re.compile(
    rb":(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) (?:([RC])\d*\x00([^\x00]+)\x00([^\x00]+)|([A-Z])\d*\x00([^\x00]+))\x00"
)
_BEGIN = b"diff --"
_NEXT = b"\n" + _BEGIN  # no line of a hunk begins with a letter
LARGEST_PATCH = 5_000_000  # bytes of one file's diff; a larger one is left out, with a Drop
_PATCHES = 10  # times that, the diffs of one commit; those that come after are left out, with a Drop
LARGE = 8_000_000  # bytes of a commit from which on it is cut as it comes


@dataclass(frozen=True, slots=True)
class RawEntry:
    """One changed file: git's status letter, modes, objects and paths."""

    letter: str
    path: bytes
    old_path: bytes | None
    old_mode: str
    new_mode: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class LogCommit:
    """One commit as printed. `diffs` are the texts behind each `diff --`, in order; None for one over the limit."""

    fields: tuple[bytes, ...]
    entries: tuple[RawEntry, ...]
    diffs: tuple[bytes | None, ...]


class LogStream:
    """The commits of a stream of blocks. A diff of over `largest` bytes is None; `room` is for those of one commit.

    Commits of more than `large` bytes (more than the mark has) are cut as they come.
    """

    def __init__(
        self,
        blocks: Iterator[bytes],
        mark: bytes,
        largest: int = LARGEST_PATCH,
        room: int | None = None,
        *,
        large: int = LARGE,
    ) -> None:
        self._blocks, self._mark, self._large_from = blocks, mark, large
        self._largest, self._room = largest, _PATCHES * largest if room is None else room

    def __iter__(self) -> Iterator[LogCommit]:
        rest = b""
        for block in self._blocks:
            *whole, rest = (rest + block).split(self._mark)
            yield from map(self._commit, filter(None, whole))
            while len(rest) > self._large_from:
                commit, rest = self._large(rest)
                yield commit
                *whole, rest = rest.split(self._mark)
                yield from map(self._commit, filter(None, whole))
        if rest:
            yield self._commit(rest)

    def _commit(self, text: bytes) -> LogCommit:
        fields, entries, at = _header(text)
        diffs_so_far = _Diffs(self._largest, self._room)
        diffs_so_far.add_all(text[at:])
        return LogCommit(fields, entries, tuple(diffs_so_far.found))

    def _large(self, text: bytes) -> tuple[LogCommit, bytes]:
        """The commit that begins with `text`, read piece by piece; and what follows the next mark."""
        while not text[(at := _header(text)[2]) :].startswith(_BEGIN) and self._mark not in text:
            if (block := next(self._blocks, b"")) == b"":
                return self._commit(text), b""
            text += block
        end = text.find(self._mark)
        fields, entries, at = _header(text if end < 0 else text[:end])
        diffs_so_far = _Diffs(self._largest, self._room)
        text = text[at:]
        while (end := text.find(self._mark)) < 0:
            text = diffs_so_far.add_some(text, keep=len(self._mark))
            if (block := next(self._blocks, b"")) == b"":
                diffs_so_far.add_all(text)
                return LogCommit(fields, entries, tuple(diffs_so_far.found)), b""
            text += block
        diffs_so_far.add_all(text[:end])
        return LogCommit(fields, entries, tuple(diffs_so_far.found)), text[end + len(self._mark) :]


class _Diffs:
    """The diffs of one commit, as long as they are within the limits."""

    def __init__(self, largest: int, room: int) -> None:
        self.found: list[bytes | None] = []
        self._largest, self._room = largest, room
        self._inside_huge = False  # what comes next belongs to a diff that was given up

    def add_all(self, text: bytes) -> None:
        """Take the diffs of `text`, the last one included."""
        if not (text.startswith(_BEGIN) or self._inside_huge):
            return
        for piece in text.split(_NEXT):
            self._add(piece)

    def add_some(self, text: bytes, keep: int) -> bytes:
        """Take the diffs of `text` but the last, which may go on; give back that one, or the end of it."""
        *whole, last = text.split(_NEXT)
        for piece in whole:
            self._add(piece)
        keep += len(_NEXT)  # the end may be the first half of a mark, or of the next diff's beginning
        if self._inside_huge or len(last) - keep > self._largest:
            if not self._inside_huge:
                self.found.append(None)
                self._inside_huge = True
            return last[-keep:]
        return _BEGIN + last if whole else last

    def _add(self, piece: bytes) -> None:
        if self._inside_huge:
            self._inside_huge = False
            return
        piece = piece.removeprefix(_BEGIN)
        fits = len(piece) <= min(self._largest, self._room)
        self._room -= len(piece) if fits else 0
        self.found.append(piece if fits else None)


def _header(text: bytes) -> tuple[tuple[bytes, ...], tuple[RawEntry, ...], int]:
    """The fields, the raw entries, and where the diffs begin."""
    fields = text.split(b"\x00", FIELDS)
    rest = fields.pop() if len(fields) > FIELDS else b""
    entries, at = read_entries(rest, len(rest) - len(rest.lstrip(b"\x00\n")))
    return tuple(fields), entries, len(text) - len(rest) + at


def read_entries(text: bytes, at: int) -> tuple[tuple[RawEntry, ...], int]:
    """The raw entries (`--raw -z`) at `at`, and where the diffs behind them begin."""
    entries: list[RawEntry] = []
    while (m := _ENTRY.match(text, at)) is not None:
        old_mode, new_mode, old, new = (part.decode("ascii") for part in m.group(1, 2, 3, 4))
        moved = m[5] is not None
        letter, path = (m[5], m[7]) if moved else (m[8], m[9])
        entries.append(RawEntry(letter.decode(), path, m[6] if moved else None, old_mode, new_mode, old, new))
        at = m.end()
    while text[at : at + 1] == b"\x00":
        at += 1
    return tuple(entries), at


_STATUS = {
    "A": FileStatus.ADDED,
    "D": FileStatus.DELETED,
    "R": FileStatus.RENAMED,
    "C": FileStatus.COPIED,
    "T": FileStatus.TYPE_CHANGED,
}
_TOO_LARGE = "its patch is over the limit and was left out"


@dataclass(frozen=True, slots=True)
class Blobs:
    """The two versions of a changed file as objects; empty where that side has no file. Modes are git's, in octal."""

    old: str = ""
    new: str = ""
    old_mode: str = ""
    new_mode: str = ""


@dataclass(frozen=True, slots=True)
class _Patch:
    """One file's patch from the first `@@` on; None for a binary file, one over the limit, and where none was asked."""

    text: str | None = None
    binary: bool = False
    problem: str = ""


def changed_files(found: LogCommit) -> tuple[tuple[ChangedFile, ...], tuple[Blobs, ...], tuple[Drop, ...]]:
    """The changed files of a commit, their objects one for one, and what was left out."""
    files: list[ChangedFile] = []
    blobs: list[Blobs] = []
    dropped: list[Drop] = []
    for entry, patch in zip(found.entries, _patches(found), strict=True):
        path = decode_path(entry.path)
        try:
            file = ChangedFile(
                path=path,
                old_path=None if entry.old_path is None else decode_path(entry.old_path),
                status=_STATUS.get(entry.letter, FileStatus.MODIFIED),
                patch=patch.text,
                binary=patch.binary,
            )
        except ValidationError as error:
            dropped.append(Drop(item=path[:500], by="git", reason=f"the path {first_problem(error)[1]}"))
            continue
        if patch.problem:
            dropped.append(Drop(item=path[:500], by="git", reason=patch.problem))
        files.append(file)
        blobs.append(_blobs(entry))
    return tuple(files), tuple(blobs), tuple(dropped)


def _blobs(entry: RawEntry) -> Blobs:
    has_old, has_new = entry.old_mode.strip("0") != "", entry.new_mode.strip("0") != ""
    return Blobs(
        old=entry.old if has_old else "",
        new=entry.new if has_new else "",
        old_mode=entry.old_mode if has_old else "",
        new_mode=entry.new_mode if has_new else "",
    )


def _patches(found: LogCommit) -> Iterator[_Patch]:
    """One for each entry: git prints diffs in the order of the entries."""
    if not found.diffs:
        yield from (_Patch() for _ in found.entries)
        return
    counts = [2 if entry.letter == "T" else 1 for entry in found.entries]  # a change of type: a deletion, an addition
    if sum(counts) != len(found.diffs):  # not seen of git; a wrong patch would be worse than none
        yield from (_Patch(problem="git printed a different number of diffs than files") for _ in found.entries)
        return
    diffs = iter(found.diffs)
    for count in counts:
        parts = [_patch(next(diffs)) for _ in range(count)]
        yield parts[0] if count == 1 else _joined(parts)


def _joined(parts: list[_Patch]) -> _Patch:
    problem = next((part.problem for part in parts if part.problem), "")
    binary = any(part.binary for part in parts)
    texts = [part.text for part in parts if part.text]
    return _Patch("\n".join(texts) if (texts or not binary) and not problem else None, binary, problem)


def _patch(diff: bytes | None) -> _Patch:
    if diff is None:
        return _Patch(problem=_TOO_LARGE)
    at = diff.find(b"\n@@")
    if at >= 0:
        text = diff[at + 1 :].decode("utf-8", "replace").removesuffix("\n")
        return _Patch(text.replace("\x00", "\ufffd"))
    return _Patch(binary=True) if b"\nBinary files " in diff else _Patch("")
