"""Where a comment on a part of a change belongs."""

from __future__ import annotations

from reviewgauge.core.records import ChangedFile, Side, Span
from reviewgauge.repo.diff.diffs import Hunk


def changed_lines(file: ChangedFile, hunk: Hunk) -> Span:
    """The lines that a hunk adds, from the first to the last, or those that it deletes where it adds none."""
    for kind, side in (("+", Side.NEW), ("-", Side.OLD)):
        numbers = [n for line in hunk.lines if line.kind == kind and (n := line.number(side)) is not None]
        if numbers:
            path = file.path if side is Side.NEW else file.old_path or file.path
            return Span(path=path, start=numbers[0], end=numbers[-1], side=side)
    return Span(path=file.path)
