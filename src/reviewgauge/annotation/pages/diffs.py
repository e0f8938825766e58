"""A changed file as rows of marked-up lines: syntax colours, visible whitespace, comments at their lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from markupsafe import Markup, escape

from reviewgauge.annotation.items import ShownText
from reviewgauge.annotation.pages.colours import LONGEST, coloured
from reviewgauge.core.records import ChangedFile, Side
from reviewgauge.repo.diff.diffs import DiffLine, Hunk, parse_patch

MOST_LINES = 2000  # of a page; a line counts once more for every 100 characters
_LARGE = 1_000_000  # characters of a patch
NOTHING = Markup("")


@dataclass
class Row:
    """One row of a file: a line on one side or on both, or the head of a hunk. `notes` are shown below it."""

    kind: str  # head, gap, " ", "+", "-", or "±" (split: a line and what replaced it)
    old: int | None = None
    new: int | None = None
    left: Markup = NOTHING
    right: Markup = NOTHING
    notes: list[ShownText] = field(default_factory=list)


@dataclass
class FileRows:
    """A changed file as it is shown."""

    path: str
    old_path: str | None
    rows: list[Row]
    notes: list[ShownText]  # about the file, or about lines that the diff does not show
    note: str = ""


@dataclass
class Shown:
    """A change as one page shows it: all of it, or one of its parts where it is large. Parts count from 1."""

    files: list[FileRows]
    part: int
    parts: int


def show_change(files: Sequence[ChangedFile], notes: Iterable[ShownText], *, split: bool, part: int = 1) -> Shown:
    """The files of one part with their rows; of a part that does not exist, the nearest."""
    parts, waiting, found = _parts(files), list(notes), []
    part = min(max(part, 1), len(parts))
    for file, hunks in parts[part - 1]:
        mine = [one for one in waiting if one.span is not None and one.span.path in (file.path, file.old_path)]
        rows = [row for hunk in hunks for row in _hunk_rows(file.path, hunk, split=split)]
        unplaced = [one for one in mine if not _place(rows, one)]
        why = "binary" if file.binary else "the diff of this file is not at hand" if file.patch is None else ""
        found.append(FileRows(file.path, file.old_path, rows, unplaced, why))
    return Shown(found, part, len(parts))


def _parts(files: Sequence[ChangedFile]) -> list[list[tuple[ChangedFile, list[Hunk]]]]:
    """The files with their hunks, page by page."""
    parts: list[list[tuple[ChangedFile, list[Hunk]]]] = [[]]
    room = MOST_LINES
    for file in files:
        pieces: Sequence[tuple[Hunk | None, int]] = _pieces(file.patch or "")
        for hunk, weight in pieces or [(None, 1)]:  # a file without a diff is named
            if weight > room and parts[-1]:
                parts.append([])
                room = MOST_LINES
            room -= weight
            if not parts[-1] or parts[-1][-1][0] is not file:
                parts[-1].append((file, []))
            if hunk is not None:
                parts[-1][-1][1].append(hunk)
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


def _place(rows: Sequence[Row], note: ShownText) -> bool:
    """Put a note below the last row that it is about; False where there is none."""
    span = note.span
    if span is None or span.start is None or span.end is None:
        return False
    numbers = [row.old if span.side is Side.OLD else row.new for row in rows]
    covered = [at for at, number in enumerate(numbers) if number is not None and span.start <= number <= span.end]
    if covered:
        rows[covered[-1]].notes.append(note)
    return bool(covered)


def _hunk_rows(path: str, hunk: Hunk, *, split: bool) -> Iterator[Row]:
    head = f"{hunk.header} {hunk.heading}".strip()
    yield Row("head", left=escape(head))
    gone_too = split or any(line.kind == "-" for line in hunk.lines)  # else the old side is shown nowhere
    old = iter(coloured(path, [line.text for line in hunk.lines if line.kind != "+"]) if gone_too else [])
    new = iter(coloured(path, [line.text for line in hunk.lines if line.kind != "-"]))
    marked = [
        (line, next(old, NOTHING) if line.kind != "+" else NOTHING, next(new) if line.kind != "-" else NOTHING)
        for line in hunk.lines
    ]
    if not split:
        for line, before, after in marked:
            yield Row(line.kind, line.old, line.new, left=before if line.kind == "-" else after)
        return
    gone: list[tuple[DiffLine, Markup]] = []
    come: list[tuple[DiffLine, Markup]] = []
    for line, before, after in marked:
        if line.kind == "-":
            if come:
                yield from _paired(gone, come)
                gone, come = [], []
            gone.append((line, before))
        elif line.kind == "+":
            come.append((line, after))
        else:
            yield from _paired(gone, come)
            gone, come = [], []
            yield Row(" ", line.old, line.new, before, after)
    yield from _paired(gone, come)


def _paired(gone: Sequence[tuple[DiffLine, Markup]], come: Sequence[tuple[DiffLine, Markup]]) -> Iterator[Row]:
    """Deleted lines beside those that were added in their place."""
    for at in range(max(len(gone), len(come))):
        row = Row("±" if at < min(len(gone), len(come)) else "-" if at < len(gone) else "+")
        if at < len(gone):
            row.old, row.left = gone[at][0].old, gone[at][1]
        if at < len(come):
            row.new, row.right = come[at][0].new, come[at][1]
        yield row
