"""A changed file as rows of marked-up lines: hunks, what lies between them, and comments at their lines."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest

from markupsafe import Markup

from reviewgauge.core.records import ChangedFile, FileStatus, Side
from reviewgauge.repo.diff.diffs import DiffLine, Hunk, parse_patch
from reviewgauge.views.changes.code import ShownText, lines_of, starts
from reviewgauge.views.changes.colours import END, NOTHING, coloured, shown_order

_AROUND = 3  # lines that are shown on both sides of a comment that lies between hunks
_MOST_AROUND = 60  # lines of such a comment


@dataclass
class Note:
    """A comment, a claim or a reference, and what it is called on the page."""

    number: int
    label: str
    kind: str  # said, or known: a reference
    text: ShownText
    placed: bool = False  # shown at its line
    markup: Markup | None = None  # shown in place of label and words


@dataclass(frozen=True)
class Gap:
    """Lines that the diff leaves out: the first one on both sides, and how many there are."""

    old: int
    new: int
    count: int


@dataclass
class Row:
    """One row of a file: a line on one side or on both, or the head of a hunk. `notes` are shown below it."""

    kind: str  # head, " ", "+", "-", or "±" (split: a line and what replaced it)
    old: int | None = None
    new: int | None = None
    left: Markup = NOTHING
    right: Markup = NOTHING
    gap: Gap | None = None
    about: bool = False  # a note is about it
    notes: list[Note] = field(default_factory=list)


@dataclass
class FileRows:
    """A changed file as it is shown."""

    number: int
    path: str
    old_path: str | None
    rows: list[Row]
    notes: list[Note]  # about the file, or about lines that are not there
    added: int
    deleted: int
    remarks: list[str]
    same_ends: bool  # every line ends with CR and LF, which is then not marked


@dataclass(frozen=True)
class FileLink:
    """Where a file begins. Files count from 1 in the order of the change."""

    number: int
    path: str
    part: int


@dataclass
class Shown:
    """A change as one page shows it: all of it, or one of its parts where it is large. Parts count from 1."""

    files: list[FileRows]
    part: int
    parts: int
    contents: list[FileLink]


def show_change(
    files: Sequence[ChangedFile],
    notes: Sequence[Note],
    *,
    split: bool,
    texts: Mapping[str, str] | None = None,
    part: int = 1,
) -> Shown:
    """The files of one part with their rows; of a part that does not exist, the nearest.

    `texts` holds files after the change, where they are at hand.
    """
    parts, found = parts_of(files), []
    part = min(max(part, 1), len(parts))
    contents: dict[int, FileLink] = {}
    for at, pieces in enumerate(parts, 1):
        for one in pieces:
            contents.setdefault(one.number, FileLink(one.number, one.file.path, at))
    for piece in parts[part - 1]:
        file = piece.file
        mine = [note for note in notes if note.text.span and note.text.span.path in (file.path, file.old_path)]
        rows = list(_file_rows(piece, (texts or {}).get(file.path), mine, split=split))
        unplaced = [one for one in mine if not _place(rows, one)]
        lines = [line for hunk in piece.hunks for line in hunk.lines]
        counts = [sum(line.kind == kind for line in lines) for kind in "+-"]
        remarks = list(_remarks(file))
        same = bool(lines) and all(line.text.endswith("\r") for line in lines)
        found.append(
            FileRows(piece.number, file.path, file.old_path, rows, unplaced, counts[0], counts[1], remarks, same)
        )
    return Shown(found, part, len(parts), list(contents.values()))


def _remarks(file: ChangedFile) -> Iterator[str]:
    """What is to be known of a file beside its lines."""
    if file.status in (FileStatus.ADDED, FileStatus.DELETED, FileStatus.COPIED, FileStatus.RENAMED):
        yield f"{file.status.value.capitalize()}."
    elif file.status is FileStatus.TYPE_CHANGED:
        yield "Its type changed, such as from a file to a link."
    if file.binary:
        yield "A binary file: its contents are not shown."
    elif file.patch is None:
        yield "The diff of this file is not at hand."
    elif not parse_patch(file.patch):
        yield "No line changed."


def _place(rows: Sequence[Row], note: Note) -> bool:
    """Put a note below the last row that it is about; False where there is none."""
    span = note.text.span
    if span is None or span.start is None or span.end is None:
        return False
    numbers = [row.old if span.side is Side.OLD else row.new for row in rows]
    covered = [at for at, number in enumerate(numbers) if number is not None and span.start <= number <= span.end]
    for at in covered:
        rows[at].about = True
    if covered:
        rows[covered[-1]].notes.append(note)
        note.placed = True
    return bool(covered)


# --- hunks, and what lies between them -----------------------------------------------------------------------------


def _file_rows(piece: Piece, text: str | None, notes: Sequence[Note], *, split: bool) -> Iterator[Row]:
    path, (old, new) = piece.file.path, piece.begin
    for hunk in piece.hunks:
        before, after = starts(hunk)
        gap = None
        if text is not None:
            gap = yield from _between(path, text, Gap(old, new, after - new), notes)
        yield Row("head", left=Markup.escape(shown_order(f"{hunk.header} {hunk.heading}".strip())), gap=gap)
        yield from _hunk_rows(path, hunk, split=split)
        old, new = before + hunk.old_count, after + hunk.new_count
    if text is not None and piece.last and piece.hunks:
        gap = yield from _between(path, text, Gap(old, new, len(lines_of(text)) + 1 - new), notes)
        if gap is not None:
            yield Row("head", gap=gap)


def _between(path: str, text: str, gap: Gap, notes: Sequence[Note]) -> Generator[Row, None, Gap | None]:
    """The lines of a gap that notes are about; returns what is left of it."""
    shift, end = gap.old - gap.new, gap.new + gap.count
    for first, last in _wanted(gap, notes):
        if first > gap.new:
            yield Row("head", gap=Gap(gap.old, gap.new, first - gap.new))
        yield from context_rows(path, text, Gap(first + shift, first, last - first + 1))
        gap = Gap(last + 1 + shift, last + 1, end - last - 1)
    return gap if gap.count > 0 else None


def _wanted(gap: Gap, notes: Sequence[Note]) -> Iterator[tuple[int, int]]:
    """The first and last line, after the change, of what is shown of a gap, in order."""
    ends = []
    for note in notes:
        span = note.text.span
        if span is not None and span.start is not None and span.end is not None:
            shift = gap.old - gap.new if span.side is Side.OLD else 0
            ends.append((span.end - shift, max(span.start - shift, span.end - shift - _MOST_AROUND)))
    at = gap.new
    for end, start in sorted(ends):
        last = min(end + _AROUND, gap.new + gap.count - 1)
        if gap.new <= end < gap.new + gap.count and last >= at:
            yield max(start - _AROUND, at), last
            at = last + 1


def context_rows(path: str, text: str, gap: Gap) -> Iterator[Row]:
    """Lines that did not change, from the whole file."""
    lines = lines_of(text)
    whole = coloured(path, lines)
    for at in range(min(gap.count, len(lines) + 1 - gap.new)):
        number = gap.new + at
        markup = whole[number - 1] + (END if number == len(lines) and not text.endswith("\n") else NOTHING)
        yield Row(" ", gap.old + at, number, markup, markup)


def _hunk_rows(path: str, hunk: Hunk, *, split: bool) -> Iterator[Row]:
    marked: dict[Side, dict[int, Markup]] = {}
    for side in Side:
        shown = [line for line in hunk.lines if line.number(side) is not None]
        markup = coloured(path, [line.text for line in shown])
        ends = [NOTHING if line.newline else END for line in shown]
        marked[side] = {id(line): one + end for line, one, end in zip(shown, markup, ends, strict=True)}
    if not split:
        for line in hunk.lines:
            text = marked[Side.OLD if line.kind == "-" else Side.NEW][id(line)]
            yield Row(line.kind, line.old, line.new, text, text)
        return
    for left, right in _pairs(hunk.lines):
        row = Row(" " if left is right else "±" if left and right else "-" if left else "+")
        if left is not None:
            row.old, row.left = left.old, marked[Side.OLD][id(left)]
        if right is not None:
            row.new, row.right = right.new, marked[Side.NEW][id(right)]
        yield row


def _pairs(lines: Sequence[DiffLine]) -> Iterator[tuple[DiffLine | None, DiffLine | None]]:
    """The lines of a hunk on both sides: deleted ones beside those that were added in their place."""
    gone: list[DiffLine] = []
    come: list[DiffLine] = []
    for line in [*lines, None]:
        if line is not None and line.kind == "+":
            come.append(line)
            continue
        if come or line is None or line.kind == " ":
            yield from zip_longest(gone, come)
            gone, come = [], []
        if line is not None and line.kind == "-":
            gone.append(line)
        elif line is not None:
            yield line, line


# --- a large change in parts -----------------------------------------------------------------------------------------


MOST_LINES = 2000  # of a page
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
        hunks: Sequence[Hunk | None] = _hunks(file.patch or "")
        for hunk in hunks or [None]:  # a file without a diff is named
            lines = len(hunk.lines) if hunk else 1
            if lines > room and parts[-1]:
                parts.append([])
                room = MOST_LINES
            room -= lines
            if not parts[-1] or parts[-1][-1].file is not file:
                if before is not None:
                    before.last = False
                parts[-1].append(before := Piece(number, file, [], begin))
            if hunk is not None:
                parts[-1][-1].hunks.append(hunk)
                begin = starts(hunk)[0] + hunk.old_count, starts(hunk)[1] + hunk.new_count
    return parts


@lru_cache(maxsize=8)  # large patches take memory, and small ones no time
def _hunks(patch: str) -> Sequence[Hunk]:
    """The hunks of a patch; one that is larger than a page in quarters of pages."""
    hunks = parse_patch(patch) if len(patch) <= _LARGE else parse_patch.__wrapped__(patch)
    found: list[Hunk] = []
    for hunk in hunks:
        size = MOST_LINES // 4 if len(hunk.lines) > MOST_LINES else len(hunk.lines) or 1
        old, new = hunk.old_start, hunk.new_start
        for start in range(0, len(hunk.lines), size):
            lines = hunk.lines[start : start + size]
            counts = {
                "old_count": sum(one.kind != "+" for one in lines),
                "new_count": sum(one.kind != "-" for one in lines),
            }
            found.append(Hunk(old_start=old, new_start=new, heading=hunk.heading, lines=lines, **counts))
            old, new = old + counts["old_count"], new + counts["new_count"]
    return found
