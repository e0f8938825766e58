"""The marked lines of a diff, with some lines around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from reviewgauge.core.records import ChangedFile, Side, Span
from reviewgauge.repo.diff.diffs import DiffLine, Hunk, parse_patch

AROUND = 4  # lines shown before and after a marked line
LONGEST = 400  # characters of a code line before it is cut


@dataclass(frozen=True)
class Mark:
    """A reference (with an excerpt) or a system's comment at a location."""

    span: Span
    state: str
    anchor: str
    name: str
    excerpt: str


@dataclass
class LineView:
    """One line of a diff, or (kind `gap`) omitted lines."""

    kind: str
    old: int | None
    new: int | None
    text: str
    marks: list[Mark] = field(default_factory=list)


@dataclass
class FileView:
    """The shown lines of one file."""

    path: str
    old_path: str | None
    marks: list[Mark]  # about the file as a whole
    lines: list[LineView]


def show_files(files: Sequence[ChangedFile], marks: Iterable[Mark]) -> tuple[list[FileView], int]:
    """(the files and lines with marks, the number of hunks without one)."""
    by_path: dict[str, list[Mark]] = {}
    for mark in marks:
        by_path.setdefault(mark.span.path, []).append(mark)
    views: list[FileView] = []
    hidden = 0
    for file in files:
        if file.patch is None:
            continue
        about = by_path.get(file.path, [])
        if file.old_path and file.old_path != file.path:
            about = [*about, *(m for m in by_path.get(file.old_path, []) if m.span.side == Side.OLD)]
        shown = [list(_show_hunk(hunk, about)) for hunk in parse_patch(file.patch)]
        hidden += sum(not lines for lines in shown)
        lines = [line for hunk in shown for line in hunk]
        whole = [m for m in about if m.span.start is None]
        if lines or whole:
            views.append(FileView(file.path, file.old_path, whole, lines))
    return views, hidden


def _show_hunk(hunk: Hunk, about: Sequence[Mark]) -> Iterator[LineView]:
    placed: dict[int, list[Mark]] = {}
    for mark in about:
        at = _last_line(hunk.lines, mark.span)
        if at is not None:
            placed.setdefault(at, []).append(mark)
    if not placed:
        return
    keep = {line for at, marks in placed.items() for line in _window(hunk.lines, at, marks)}
    yield LineView("head", None, None, f"@@ -{hunk.old_start} +{hunk.new_start} @@ {hunk.heading}".rstrip())
    for kept, run in groupby(enumerate(hunk.lines), key=lambda numbered: numbered[0] in keep):
        lines = list(run)
        if not kept:
            yield LineView("gap", None, None, f"{len(lines)} lines")
            continue
        for at, line in lines:
            yield LineView(line.kind, line.old, line.new, cut(line.text), placed.get(at, []))


def _last_line(lines: Sequence[DiffLine], span: Span) -> int | None:
    """The last line of the hunk that the span covers; None if it covers none."""
    if span.start is None or span.end is None:
        return None
    numbers = [line.old if span.side == Side.OLD else line.new for line in lines]
    covered = [at for at, number in enumerate(numbers) if number is not None and span.start <= number <= span.end]
    return covered[-1] if covered else None


def _window(lines: Sequence[DiffLine], at: int, marks: Sequence[Mark]) -> range:
    longest = max((m.span.end or 0) - (m.span.start or 0) for m in marks)
    return range(max(0, at - min(longest, 20) - AROUND), min(len(lines), at + AROUND + 1))


def cut(line: str) -> str:
    """The first characters of a long line of code."""
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"
