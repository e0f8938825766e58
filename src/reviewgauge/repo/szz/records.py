"""The settings of SZZ, the fixes that it traces and the traces that it returns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from reviewgauge.core.base import Line, Record, RelPath, Text
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Drop


@dataclass(frozen=True)
class SzzSettings:
    """The variant and the limits of SZZ.

    `refactoring`: lines that were moved and identifiers that were renamed are followed. `whitespace`: a change of white
    space alone counts as a change (None: in `basic` only). `beside`: for a fix without a line to blame, this many lines
    before and after each place where it adds some are blamed; 0 reports it as having nothing to blame. `choose`: all
    inducing commits, or of each fix only the latest (R-SZZ) or the one with most lines (L-SZZ; Davies et al., 2014).

    An inducing commit is at least `min_days` and at most `max_days` older than the fix. Fixes of more than `max_files`
    files or `max_lines` deleted lines are skipped, files of more than `largest_file` bytes too. `documentation`,
    `generated` (and vendored) and `tests` say whether such files are traced. `seconds` bound one question to git,
    `depth` the number of commits that one line is followed through.
    """

    variant: Literal["basic", "ag", "ma"] = "ma"
    refactoring: bool = False
    whitespace: bool | None = None
    beside: int = 0
    choose: Literal["all", "latest", "largest"] = "all"
    min_days: float = 0.0
    max_days: float | None = None
    max_files: int = 50
    max_lines: int = 1000
    documentation: bool = False
    generated: bool = False
    tests: bool = True
    largest_file: int = 5_000_000
    seconds: float = 60.0
    depth: int = 20

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.variant not in ("basic", "ag", "ma"):
            raise UserError(f"variant={self.variant!r} is not a variant of SZZ", remedy="choose basic, ag or ma")
        if self.choose not in ("all", "latest", "largest"):
            raise UserError(f"choose={self.choose!r} is not a choice of SZZ", remedy="choose all, latest or largest")
        if self.max_days is not None and self.max_days < self.min_days:
            raise UserError(f"max_days={self.max_days:g} is less than min_days={self.min_days:g}")
        if min(self.beside, self.max_files, self.max_lines, self.largest_file, self.depth) < 0 or self.seconds <= 0:
            raise UserError("limits of SZZ must not be negative, and seconds must be positive")


@dataclass(frozen=True)
class Fix:
    """A fix to trace. `opened` is when its issue was reported, where that is known (an aware time)."""

    commit: str
    opened: datetime | None = None

    def __post_init__(self) -> None:
        """Check the time zone."""
        if self.opened is not None and self.opened.tzinfo is None:
            raise UserError(f"the time at which the issue of {self.commit} was opened has no time zone")


class Inducing(Record):
    """One line that a commit brought and a fix had to change.

    `line` of `path` as `commit` left it; `fix_line` of `fix_path` as it was just before the fix. `text` is the line
    before the fix. `when` is the earlier of the commit's two times. `through` are the commits that touched the line in
    between and do not count, latest first, each with what it did.
    """

    commit: str
    path: RelPath
    line: Line
    text: Text
    fix: str
    fix_path: RelPath
    fix_line: Line
    reason: str
    when: datetime
    through: tuple[str, ...] = ()


class Trace(Record):
    """The outcome of one fix. `parent` is the commit that was blamed, empty where there is none.

    `skipped` names files (`path`), lines (`path:12` or `path:12-14`, as they were before the fix) or the fix itself,
    each with why. `notes` say where the settings could not be followed, such as comments of an unknown language.
    """

    fix: str
    parent: str = ""
    when: datetime | None = None
    inducing: tuple[Inducing, ...] = ()
    skipped: tuple[Drop, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def commits(self) -> tuple[str, ...]:
        """The inducing commits, the one with most lines first."""
        count: dict[str, int] = {}
        for line in self.inducing:
            count[line.commit] = count.get(line.commit, 0) + 1
        return tuple(sorted(count, key=lambda c: (-count[c], c)))
