"""A large change in parts, so that each page is small whatever the diff."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from reviewgauge.annotation.code import starts
from reviewgauge.annotation.pages.colours import LONGEST
from reviewgauge.core.records import ChangedFile
from reviewgauge.repo.diff.diffs import DiffLine, Hunk, parse_patch

MOST_LINES = 2000  # of a page; a line counts once more for every 100 characters
_LARGE = 1_000_000  # characters of a patch


@dataclass
class Piece:
    """The hunks of a file in one part, where the lines before them begin, and whether they are its last."""

    number: int  # of the file
    file: ChangedFile
    hunks: list[Hunk]
    begin: tuple[int, int]
    last: bool = True


def parts_of(files: Sequence[ChangedFile]) -> list[list[Piece]]:
    """The files with their hunks, page by page."""
    parts: list[list[Piece]] = [[]]
    room = MOST_LINES
    for number, file in enumerate(files, 1):
        begin, before = (1, 1), None
        pieces: Sequence[tuple[Hunk | None, int]] = _pieces(file.patch or "")
        for hunk, weight in pieces or [(None, 1)]:  # a file without a diff is named
            if weight > room and parts[-1]:
                parts.append([])
                room = MOST_LINES
            room -= weight
            if not parts[-1] or parts[-1][-1].file is not file:
                if before is not None:
                    before.last = False
                parts[-1].append(before := Piece(number, file, [], begin))
            if hunk is not None:
                parts[-1][-1].hunks.append(hunk)
                begin = starts(hunk)[0] + hunk.old_count, starts(hunk)[1] + hunk.new_count
    return parts


@lru_cache(maxsize=8)  # large patches take memory, and small ones no time
def _pieces(patch: str) -> Sequence[tuple[Hunk, int]]:
    """The hunks of a patch, none larger than a page, with their weights."""
    hunks = parse_patch(patch) if len(patch) <= _LARGE else parse_patch.__wrapped__(patch)
    pieces = [piece for hunk in hunks for piece in _cut(hunk)]
    return [(piece, sum(map(_weight, piece.lines))) for piece in pieces]


def _cut(hunk: Hunk) -> Iterator[Hunk]:
    """A hunk, or quarters of pages where it is larger than a page."""
    if sum(map(_weight, hunk.lines)) <= MOST_LINES:
        yield hunk
        return
    start, room = 0, MOST_LINES // 4
    for at, line in enumerate(hunk.lines):
        if _weight(line) > room:
            yield _piece(hunk, start, at)
            start, room = at, MOST_LINES // 4
        room -= _weight(line)
    yield _piece(hunk, start, len(hunk.lines))


def _piece(hunk: Hunk, start: int, end: int) -> Hunk:
    before, lines = hunk.lines[:start], hunk.lines[start:end]
    return Hunk(
        old_start=hunk.old_start + _count(before, "+"),
        old_count=_count(lines, "+"),
        new_start=hunk.new_start + _count(before, "-"),
        new_count=_count(lines, "-"),
        heading=hunk.heading,
        lines=lines,
    )


def _count(lines: Iterable[DiffLine], without: str) -> int:
    return sum(line.kind != without for line in lines)


def _weight(line: DiffLine) -> int:
    return 1 + min(len(line.text), LONGEST) // 100
