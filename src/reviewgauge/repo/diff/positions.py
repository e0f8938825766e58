"""Places in a diff: markers, GitHub's diff positions, the hunk around a line, a line's number in the other version.

A GitHub position counts the lines of a file's patch below its first hunk header (position 1); later headers and
`\\ No newline at end of file` count too, and are not place for a comment. Sources: GitHub's REST documentation of
review comments, and for the lines beginning with a backslash github/VisualStudio pull request 1148. Markers
`[old][new]` are those of ContextCRBench (Hu et al., 2025): `[][253]` is an added line, `[254][]` a deleted one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from reviewgauge.core.records import Side
from reviewgauge.repo.diff.diffs import DiffLine, Hunk, parse_patch

_MARKER = re.compile(r"\s*\[\s*(\d{0,9})\s*\]\s*\[\s*(\d{0,9})\s*\]")


class Marker(NamedTuple):
    """The numbers of one line of a hunk in the old and the new file; None where that version does not have it."""

    old: int | None
    new: int | None

    def __str__(self) -> str:
        return f"[{'' if self.old is None else self.old}][{'' if self.new is None else self.new}]"


def markers(hunk: Hunk) -> list[str]:
    """One marker for each line of the hunk: `[old][new]`, empty where that version does not have the line."""
    return [str(Marker(line.old, line.new)) for line in hunk.lines]


def parse_marker(text: str) -> Marker | None:
    """The marker that `text` begins with; None where it begins with none, or with one that names no line."""
    found = _MARKER.match(text)
    if found is None:
        return None
    old, new = (int(number) if number else None for number in found.groups())
    return None if (old or new) is None or 0 in (old, new) else Marker(old, new)


@lru_cache(maxsize=256)
def patch_rows(patch: str) -> tuple[DiffLine | None, ...]:
    """The lines of the patch's text; None for hunk headers, `\\ No newline at end of file` and what is not a diff."""
    rows: list[DiffLine | None] = []
    hunks = iter(parse_patch(patch))
    body: list[DiffLine] = []
    lines = patch.split("\n")
    for text in lines[:-1] if lines[-1] == "" else lines:
        if not body and text.startswith("@@ -"):
            hunk = next(hunks, None)
            body = list(reversed(hunk.lines)) if hunk is not None else []
            rows.append(None)
        else:
            rows.append(None if text.startswith("\\") or not body else body.pop())
    return tuple(rows)


def position_to_line(patch: str, position: int) -> tuple[Side, int] | None:
    """The place of GitHub's diff position: old side for a deleted line, else new. None where no line has it."""
    rows = patch_rows(patch)
    line = rows[position] if 0 < position < len(rows) else None
    if line is None:
        return None
    if line.new is not None:
        return Side.NEW, line.new
    return None if line.old is None else (Side.OLD, line.old)


def line_to_position(patch: str, side: Side, line: int) -> int | None:
    """GitHub's diff position of a line that the patch shows; None where it does not show it."""
    return next(
        (at for at, row in enumerate(patch_rows(patch)) if row is not None and _number(row, side) == line), None
    )


def hunk_at(patch: str, side: Side, line: int) -> Hunk | None:
    """The hunk that shows `line` of the version `side`; None where none does."""
    return next((hunk for hunk in parse_patch(patch) if any(_number(row, side) == line for row in hunk.lines)), None)


def diff_hunk(patch: str, side: Side, line: int) -> str | None:
    """The `diff_hunk` that GitHub keeps with a comment: its hunk's header and lines, down to the commented one."""
    position = line_to_position(patch, side, line)
    if position is None:
        return None
    texts, rows = patch.split("\n"), patch_rows(patch)
    first = max(at for at in range(position) if rows[at] is None and texts[at].startswith("@@ -"))
    return "\n".join(texts[first : position + 1])


def map_line(patch: str, line: int, source: Side = Side.OLD) -> int | None:
    """The number in the other version of `line`, counted in the version `source`; None where the patch changed it.

    Lines that the patch does not show keep their distance to the hunk above. In a hunk that is cut short, lines
    behind the cut are None: nobody knows.
    """
    shift = 0
    for hunk in parse_patch(patch):
        here, there = (_range(hunk, Side.OLD), _range(hunk, Side.NEW))
        if source is Side.NEW:
            here, there = there, here
        if line < here.start:
            break
        if line < here.stop:
            row = next((row for row in hunk.lines if _number(row, source) == line), None)
            return None if row is None else _number(row, Side.NEW if source is Side.OLD else Side.OLD)
        shift = there.stop - here.stop
    return line + shift


def _range(hunk: Hunk, side: Side) -> range:
    """The lines that the hunk covers; an empty range at its place where it has none on this side."""
    start, count = (hunk.old_start, hunk.old_count) if side is Side.OLD else (hunk.new_start, hunk.new_count)
    first = start if count else start + 1
    return range(first, first + count)


def _number(line: DiffLine, side: Side) -> int | None:
    return line.old if side is Side.OLD else line.new
