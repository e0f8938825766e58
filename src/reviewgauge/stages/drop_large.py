"""Drop changes too large for a person to review.

Source: AACR-Bench (arXiv:2601.19494) keeps changes of at most 1,000 changed lines, after Google's review practice;
SWR-Bench (arXiv:2509.01494) drops by "predefined thresholds for file changes or lines of code", which it does not name.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change
from reviewgauge.repo.diff.diffs import count_changed


@dataclass(frozen=True)
class DropLarge(Stage):
    """Keep changes of at most `lines` added and deleted lines, by the diff, else by the fact `changed_lines`.

    `files` and `commits` are further limits, where they are given; commits are known by the fact of that name.
    """

    lines: int = 1000
    files: int | None = None
    commits: int | None = None

    @override
    def keep(self, case: Case) -> Case | str:
        count = changed_line_count(case.change)
        if count is None:
            count = _stated(case, "changed_lines")
        if count is None:
            return "no diff at hand, and no fact changed_lines"
        if count > self.lines:
            return f"more than {self.lines} changed lines"
        files = len(case.change.files) or _stated(case, "changed_files")
        if self.files is not None and (files is None or files > self.files):
            return f"more than {self.files} changed files" if files is not None else "no fact changed_files"
        commits = _stated(case, "commits")
        if self.commits is not None and (commits is None or commits > self.commits):
            return f"more than {self.commits} commits" if commits is not None else "no fact commits"
        return case


def _stated(case: Case, fact: str) -> int | None:
    value = case.facts.get(fact)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def changed_line_count(change: Change) -> int | None:
    """Added and deleted lines; None when no diff is at hand."""
    return count_changed(change.files) if change.has_diff else None
