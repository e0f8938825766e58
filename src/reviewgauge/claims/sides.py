"""A hunk as two texts, before and after, whose rows know their line in the new version and whether they changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from reviewgauge.repo.diff.diffs import Hunk

MOST_LINES = 2000  # of a hunk that are looked at
LONGEST_LINE = 1000  # characters of a line that are looked at


@dataclass(frozen=True)
class HunkSide:
    """The lines of a hunk on one side. Rows count from 0.

    `lines` has the line of the new version of each row; of a removed row, the line that follows it. `changed` are the
    rows that the change removes (before) or adds (after).
    """

    heading: str
    rows: tuple[str, ...]
    lines: tuple[int, ...]
    changed: frozenset[int]


@dataclass(frozen=True)
class Pair:
    """Both sides of a hunk. `blocks`: (removed rows, added rows) of each run of changed lines."""

    old: HunkSide
    new: HunkSide
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]

    @classmethod
    def of(cls, hunk: Hunk) -> Pair:
        """Take a hunk apart."""
        found: tuple[list[tuple[str, int]], list[tuple[str, int]]] = ([], [])
        blocks: list[tuple[list[int], list[int]]] = []
        at, inside = max(hunk.new_start + (hunk.new_count == 0), 1), False
        for line in hunk.lines[:MOST_LINES]:
            if line.kind != " " and not inside:
                blocks.append(([], []))
            inside = line.kind != " "
            for which, other in enumerate("+-"):
                if line.kind != other:
                    if inside:
                        blocks[-1][which].append(len(found[which]))
                    found[which].append((line.text[:LONGEST_LINE].rstrip("\r"), line.new or at))
            at = at if line.new is None else line.new + 1
        old, new = (
            HunkSide(
                heading=hunk.heading.strip()[:LONGEST_LINE],
                rows=tuple(text for text, _ in found[which]),
                lines=tuple(number for _, number in found[which]),
                changed=frozenset(row for block in blocks for row in block[which]),
            )
            for which in (0, 1)
        )
        return cls(old, new, tuple((tuple(removed), tuple(added)) for removed, added in blocks))

    @cached_property
    def block_of(self) -> tuple[dict[int, int], dict[int, int]]:
        """The number of the run of changed lines that each changed row is in, for the old and for the new side."""
        old = {row: number for number, (rows, _) in enumerate(self.blocks) for row in rows}
        new = {row: number for number, (_, rows) in enumerate(self.blocks) for row in rows}
        return old, new
