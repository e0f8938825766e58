"""A hunk as two texts, before and after, whose rows know their line in the new version and whether they changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from reviewgauge.core.records import Side
from reviewgauge.repo.diff.diffs import DiffLine, Hunk

MOST_LINES = 2000  # of a hunk that are looked at
LONGEST_LINE = 1000  # characters of a line that are looked at


@dataclass(frozen=True)
class HunkSide:
    """The lines of a hunk on one side. Rows count from 0."""

    hunk: Hunk
    side: Side

    @cached_property
    def _kept(self) -> tuple[tuple[DiffLine, int], ...]:
        """The lines on this side, each with the line of the new version where it is or would be."""
        skipped = "-" if self.side is Side.NEW else "+"
        found: list[tuple[DiffLine, int]] = []
        at = max(self.hunk.new_start + (self.hunk.new_count == 0), 1)
        for line in self.hunk.lines[:MOST_LINES]:
            if line.kind != skipped:
                found.append((line, line.new or at))
            if line.new is not None:
                at = line.new + 1
        return tuple(found)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The text of each row."""
        return tuple(line.text[:LONGEST_LINE].rstrip("\r") for line, _ in self._kept)

    @cached_property
    def changed(self) -> frozenset[int]:
        """The rows that this change removes (before) or adds (after)."""
        return frozenset(row for row, (line, _) in enumerate(self._kept) if line.kind != " ")

    def line(self, row: int) -> int:
        """The line of the new version for a row: of a removed row, the line that follows it."""
        return self._kept[row][1] if row < len(self._kept) else 1


@dataclass(frozen=True)
class Pair:
    """Both sides of a hunk."""

    hunk: Hunk

    @cached_property
    def old(self) -> HunkSide:
        """The side before the change."""
        return HunkSide(self.hunk, Side.OLD)

    @cached_property
    def new(self) -> HunkSide:
        """The side after the change."""
        return HunkSide(self.hunk, Side.NEW)

    @cached_property
    def blocks(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        """(removed rows of the old side, added rows of the new side) of each run of changed lines."""
        found: list[tuple[list[int], list[int]]] = []
        old = new = 0
        open_ = False
        for line in self.hunk.lines[:MOST_LINES]:
            if line.kind == " ":
                open_, old, new = False, old + 1, new + 1
                continue
            if not open_:
                found.append(([], []))
                open_ = True
            if line.kind == "-":
                found[-1][0].append(old)
                old += 1
            else:
                found[-1][1].append(new)
                new += 1
        return tuple((tuple(a), tuple(b)) for a, b in found)
