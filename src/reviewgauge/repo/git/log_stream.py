"""Cuts what `git log --raw -z -p` prints into commits: fields, raw entries, one text for each changed file's diff.

The caller's format begins with a random mark, has `FIELDS` fields that each end in a NUL, and the message last. All
in bytes; a commit of many megabytes is cut as it comes, and a file's diff over the limit is dropped on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

FIELDS = 6
_SIMPLE = re.compile(
    rb":(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) (?:([RC])\d*\x00([^\x00]+)\x00([^\x00]+)|([A-Z])\d*\x00([^\x00]+))\x00"
)
_COMBINED = re.compile(rb":{2,}((?:\d{6} )+)((?:[0-9a-f]{40,64} )+)([A-Z]+)\x00([^\x00]+)\x00")
_BEGIN = b"diff --"
_NEXT = b"\n" + _BEGIN  # no line of a hunk begins with a letter
LARGEST_PATCH = 5_000_000  # bytes of one file's diff; a larger one is left out and said so
_PATCHES = 10  # times that, the diffs of one commit; those that come after are left out and said so
LARGE = 8_000_000  # bytes of a commit from which on it is cut as it comes


@dataclass(frozen=True, slots=True)
class RawEntry:
    """One changed file: git's letter for what happened, modes, objects and paths. `combined`: of a merge's own diff."""

    letter: str
    path: bytes
    old_path: bytes | None
    old_mode: str
    new_mode: str
    old: str
    new: str
    combined: bool = False


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
        bag = _Diffs(self._largest, self._room)
        bag.add_all(text[at:])
        return LogCommit(fields, entries, tuple(bag.found))

    def _large(self, text: bytes) -> tuple[LogCommit, bytes]:
        """The commit that begins with `text`, read piece by piece; and what follows the next mark."""
        while not text[(at := _header(text)[2]) :].startswith(_BEGIN) and self._mark not in text:
            if (block := next(self._blocks, b"")) == b"":
                return self._commit(text), b""
            text += block
        end = text.find(self._mark)
        fields, entries, at = _header(text if end < 0 else text[:end])
        bag = _Diffs(self._largest, self._room)
        text = text[at:]
        while (end := text.find(self._mark)) < 0:
            text = bag.add_some(text, keep=len(self._mark))
            if (block := next(self._blocks, b"")) == b"":
                bag.add_all(text)
                return LogCommit(fields, entries, tuple(bag.found)), b""
            text += block
        bag.add_all(text[:end])
        return LogCommit(fields, entries, tuple(bag.found)), text[end + len(self._mark) :]


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
    at = len(rest) - len(rest.lstrip(b"\x00\n"))
    entries: list[RawEntry] = []
    while True:
        if (m := _SIMPLE.match(rest, at)) is not None:
            old_mode, new_mode, old, new = (part.decode("ascii") for part in m.group(1, 2, 3, 4))
            moved = m[5] is not None
            letter, path = (m[5], m[7]) if moved else (m[8], m[9])
            entries.append(RawEntry(letter.decode(), path, m[6] if moved else None, old_mode, new_mode, old, new))
        elif (m := _COMBINED.match(rest, at)) is not None:
            modes, ids = m[1].decode("ascii").split(), m[2].decode("ascii").split()
            letter = _combined_letter(m[3].decode("ascii"), modes[-1])
            entries.append(RawEntry(letter, m[4], None, modes[0], modes[-1], ids[0], ids[-1], combined=True))
        else:
            break
        at = m.end()
    while rest[at : at + 1] == b"\x00":
        at += 1
    return tuple(fields), tuple(entries), len(text) - len(rest) + at


def _combined_letter(letters: str, mode: str) -> str:
    if mode == "000000":
        return "D"
    return "A" if set(letters) == {"A"} else "M"
