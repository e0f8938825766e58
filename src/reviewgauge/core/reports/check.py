"""What `check` reports of a JSON lines file or a bundle."""

from __future__ import annotations

from collections.abc import Mapping

from reviewgauge.core.base import Record


class Problem(Record):
    """One bad record: its file, its 1-based line (None: the file as a whole), the field, and what is wrong.

    Of a bundle, the first difference: `line` is the row, `stored` what the bundle says, `found` what it is.
    """

    file: str
    line: int | str | None
    field: str
    problem: str
    stored: str = ""
    found: str = ""


class CheckResult(Record):
    """What was found at a path. `records` counts the good ones by kind, `bad` all that are not; the first are named.

    Of a bundle, `records` counts the reviews, the scores that were measured again and the figures that were recomputed,
    `content` is the hash of its sums, and `notes` say what was not measured again.
    """

    schema_version: int = 1
    path: str
    records: Mapping[str, int]
    bad: int
    problems: tuple[Problem, ...] = ()
    content: str = ""
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every record is good, and there is one."""
        return not self.bad
