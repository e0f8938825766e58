"""Which line of the diff an answer means: lines are rows of the diff, so that both numbers of a line name the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reviewgauge.core.records import Change, Side, Span
from reviewgauge.repo.diff.diffs import DiffLine, parse_patch
from reviewgauge.repo.diff.find_file import find_file
from reviewgauge.repo.diff.positions import Marker


class DiffRow(NamedTuple):
    """A line of a change's diff: the number of its file, of the hunk in it, and of the line in the hunk, from 0."""

    file: int
    hunk: int
    line: int


def hunk_rows(change: Change, span: Span) -> Iterator[DiffRow]:
    """The rows that a span covers, counted on its side."""
    if span.start is None or span.end is None:
        return
    wanted = range(span.start, span.end + 1)
    for row, line in _rows(change, span.path):
        if _number(line, span.side) in wanted:
            yield row


def find_row(change: Change, span: Span, *, repair: bool) -> DiffRow | None:
    """The row that a one-line answer names (the first of several lines); None where the diff does not show it.

    With `repair` a line that is not there is read as the nearest on its own side, else the nearest on the other.
    """
    old, new = (span.start, None) if span.side is Side.OLD else (None, span.start)
    return find_marker(change, span.path, Marker(old, new), repair=repair)


def find_marker(change: Change, path: str, marker: Marker, *, repair: bool) -> DiffRow | None:
    """The row that a marker `[old][new]` names.

    A marker is exact where both of its numbers fit; one with a single number also names the unchanged line with that
    number. With `repair`, in ContextCRBench's order: else the same old number, the same new number, the nearest old,
    the nearest new.
    """
    rows = _rows(change, path)
    exact = next((row for row, line in rows if (line.old, line.new) == (marker.old, marker.new)), None)
    if exact is not None:
        return exact
    if marker.old is None or marker.new is None or repair:
        for number, side in ((marker.old, Side.OLD), (marker.new, Side.NEW)):
            same = next((row for row, line in rows if number is not None and _number(line, side) == number), None)
            if same is not None:
                return same
    if not repair:
        return None
    for number, side in ((marker.old, Side.OLD), (marker.new, Side.NEW)):
        if number is None:
            continue
        near = [(abs(at - number), row) for row, line in rows if (at := _number(line, side)) is not None]
        if near:
            return min(near)[1]
    return None


def _rows(change: Change, path: str) -> list[tuple[DiffRow, DiffLine]]:
    file = find_file(path, change)
    if file is None or file.patch is None:
        return []
    at = change.files.index(file)
    return [
        (DiffRow(at, h, n), line) for h, hunk in enumerate(parse_patch(file.patch)) for n, line in enumerate(hunk.lines)
    ]


def _number(line: DiffLine, side: Side) -> int | None:
    return line.old if side is Side.OLD else line.new
