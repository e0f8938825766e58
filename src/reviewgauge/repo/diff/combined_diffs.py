"""Reads git's combined diffs (`diff --cc`, `diff --combined`): what a merge itself changed, against all its parents.

Source: "Combined diff format" in git's documentation of diff formats. One column for each parent: `+` is a line of
the result that this parent lacks, `-` a line of this parent that the result lacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEADER = re.compile(r"(@{3,})((?: -\d{1,9}(?:,\d{1,9})?)+) \+(\d{1,9})(?:,(\d{1,9}))? \1 ?(.*)", re.DOTALL)
_OLD = re.compile(r" -(\d{1,9})(?:,(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class CombinedLine:
    """One line. `marks` has a character for each parent, `old` its number there (None where that parent lacks it)."""

    marks: str
    old: tuple[int | None, ...]
    new: int | None
    text: str

    @property
    def own(self) -> bool:
        """Whether the merge made this line: no parent has it."""
        return set(self.marks) == {"+"}


@dataclass(frozen=True, slots=True)
class CombinedHunk:
    """One hunk: for each parent and for the result its first line and how many; a count of 0 as in `Hunk`."""

    old_starts: tuple[int, ...]
    old_counts: tuple[int, ...]
    new_start: int
    new_count: int
    heading: str
    lines: tuple[CombinedLine, ...]


def is_combined(patch: str) -> bool:
    """Whether `patch` is a combined one: other readers find no hunks in it."""
    return patch.startswith("@@@")


def parse_combined(patch: str) -> tuple[CombinedHunk, ...]:
    """The hunks of one file's combined patch. One that is damaged or cut short keeps the lines that it has."""
    hunks: list[CombinedHunk] = []
    lines = patch.split("\n")
    if lines[-1] == "":
        lines.pop()
    at = 0
    while at < len(lines):
        header = _HEADER.fullmatch(lines[at])
        at += 1
        if header is not None and len(header[1]) == header[2].count("-") + 1:
            hunk, at = _read(header, lines, at)
            hunks.append(hunk)
    return tuple(hunks)


def _read(header: re.Match[str], lines: list[str], at: int) -> tuple[CombinedHunk, int]:
    starts = tuple(int(m[1]) for m in _OLD.finditer(header[2]))
    counts = tuple(1 if m[2] is None else int(m[2]) for m in _OLD.finditer(header[2]))
    new_start, new_count = int(header[3]), 1 if header[4] is None else int(header[4])
    olds, new = list(starts), new_start
    ends = [start + count for start, count in zip(starts, counts, strict=True)]
    found: list[CombinedLine] = []
    width = len(starts)
    while at < len(lines) and (new < new_start + new_count or any(o < end for o, end in zip(olds, ends, strict=True))):
        line = lines[at]
        if line.startswith("\\"):
            at += 1
            continue
        marks = line[:width].ljust(width) if not line[:width].strip() else line[:width]
        if set(marks) - set(" +-") or {"+", "-"} <= set(marks):
            break
        deleted = "-" in marks
        has = [mark == "-" if deleted else mark == " " for mark in marks]
        numbers = tuple(old if there else None for old, there in zip(olds, has, strict=True))
        found.append(CombinedLine(marks, numbers, None if deleted else new, line[width:]))
        olds = [old + there for old, there in zip(olds, has, strict=True)]
        new += not deleted
        at += 1
    heading = header[5].rstrip("\r")
    return CombinedHunk(starts, counts, new_start, new_count, heading, tuple(found)), at
