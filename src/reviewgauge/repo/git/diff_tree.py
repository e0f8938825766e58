"""Reads what `git diff-tree -r --raw -z -p` prints for one change: the changed files and each file's patch.

Names and modes come from git's raw lines (NUL-separated, never quoted), and patches are cut at lines that begin with
`diff --`: inside a hunk git begins every line with a blank, `+`, `-` or a backslash, so content cannot pass for a
header. All in bytes; a change of many megabytes is cut as it comes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from pydantic import ValidationError

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile, FileStatus
from reviewgauge.repo.git.paths import decode_path

_ENTRY = re.compile(
    rb":(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) (?:([RC])\d*\x00([^\x00]+)\x00([^\x00]+)|([A-Z])\d*\x00([^\x00]+))\x00"
)
_BEGIN = b"diff --"
_NEXT = b"\n" + _BEGIN  # no line of a hunk begins with a letter
LARGEST_PATCH = 5_000_000  # bytes of one file's diff; a larger one is left out
_PATCHES = 10  # times that, the diffs of one change; those that come after are left out


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


class PrintedChange(NamedTuple):
    """A change as printed. `diffs` are the texts behind each `diff --`, in order; None for one over the limit."""

    entries: tuple[RawEntry, ...]
    diffs: tuple[bytes | None, ...]


def read_change(blocks: Iterable[bytes], largest: int = LARGEST_PATCH, room: int | None = None) -> PrintedChange:
    """The change that a stream of blocks prints. A diff of over `largest` bytes is None; `room` is for all of them."""
    blocks, text, at = iter(blocks), b"", 0
    entries: tuple[RawEntry, ...] = ()
    while not text.startswith(_BEGIN, at) and (block := next(blocks, b"")):
        text += block
        entries, at = read_entries(text, 0)
    left = _PATCHES * largest if room is None else room
    diffs: list[bytes | None] = []
    for diff in _split(text[at:], blocks):
        fits = len(diff) <= min(largest, left)
        left -= len(diff) if fits else 0
        diffs.append(diff if fits else None)
    return PrintedChange(entries, tuple(diffs))


def _split(text: bytes, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """What follows each `diff --` of a text that goes on in blocks. One is held at a time: git bounds a file's diff."""
    if text.startswith(_BEGIN):
        text = text.removeprefix(_BEGIN)
        for block in chain((b"",), blocks):
            *whole, text = (text + block).split(_NEXT)
            yield from whole
        yield text


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


def changed_files(change: PrintedChange, name: str) -> tuple[ChangedFile, ...]:
    """The changed files. Raises UserError, with the `name` of the change, for a path that no record can hold."""
    return tuple(_file(entry, *patch, name) for entry, patch in zip(change.entries, _patches(change), strict=True))


def _file(entry: RawEntry, patch: str | None, binary: bool, name: str) -> ChangedFile:
    path = decode_path(entry.path)
    old_path = None if entry.old_path is None else decode_path(entry.old_path)
    status = _STATUS.get(entry.letter, FileStatus.MODIFIED)
    try:
        return ChangedFile(path=path, old_path=old_path, status=status, patch=patch, binary=binary)
    except ValidationError:
        raise UserError(f"{name} has a file whose path is not a path: {path[:500]}") from None


def _patches(change: PrintedChange) -> Iterator[tuple[str | None, bool]]:
    """The patch of each entry from the first `@@` on, and whether it is binary; git prints diffs in their order.

    None for a binary file and for one over the limit.
    """
    counts = [2 if entry.letter == "T" else 1 for entry in change.entries]  # a new type: a deletion, an addition
    if sum(counts) != len(change.diffs):  # not seen of git; a wrong patch would be worse than none
        yield from ((None, False) for _ in counts)
        return
    diffs = map(_patch, change.diffs)
    for count in counts:
        parts = list(islice(diffs, count))
        texts, binary = [text for text, _ in parts if text], any(is_binary for _, is_binary in parts)
        lost = (binary and not texts) or (None, False) in parts
        yield None if lost else "\n".join(texts), binary


def _patch(diff: bytes | None) -> tuple[str | None, bool]:
    if diff is None:
        return None, False
    at = diff.find(b"\n@@")
    if at >= 0:
        text = diff[at + 1 :].decode("utf-8", "replace").removesuffix("\n")
        return text.replace("\x00", "\ufffd"), False
    return (None, True) if b"\nBinary files " in diff else ("", False)
