"""Drop changes too large for a person to review.

Source: AACR-Bench (arXiv:2601.19494) keeps changes of at most 1,000 changed lines, after Google's review practice.
"""

from __future__ import annotations

from dataclasses import dataclass

from reviewbench.core.protocols import Stage
from reviewbench.core.records import Case, Change, Side
from reviewbench.repo.diffs import changed_lines


@dataclass(frozen=True)
class DropLarge(Stage):
    """Keep changes of at most `lines` added and deleted lines, by the diff, else by the fact `changed_lines`."""

    lines: int = 1000

    def keep(self, case: Case) -> Case | str:
        """The case, or that it is too large, or that nobody can say how large it is."""
        count = changed_line_count(case.change)
        if count is None:
            stated = case.facts.get("changed_lines")
            count = stated if isinstance(stated, int) and not isinstance(stated, bool) else None
        if count is None:
            return "no diff at hand, and no fact changed_lines"
        return case if count <= self.lines else f"more than {self.lines} changed lines"


def changed_line_count(change: Change) -> int | None:
    """Added and deleted lines; None when no diff is at hand."""
    if not change.has_diff:
        return None
    return sum(len(changed_lines(file, side)) for file in change.files for side in Side)
