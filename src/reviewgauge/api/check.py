"""`reviewgauge check`: is this JSON lines file what it should be?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reviewgauge.core.base import Record


class Problem(Record):
    """One bad record: its file, its 1-based line (None: the file as a whole), the field, and what is wrong."""

    file: str
    line: int | str | None
    field: str
    problem: str


class CheckResult(Record):
    """What was found at a path. `records` counts the good ones by kind, `bad` all that are not; the first are named."""

    schema_version: int = 1
    path: str
    records: Mapping[str, int]
    bad: int
    problems: tuple[Problem, ...] = ()


def check(path: str | Path) -> CheckResult:
    """Read every record of a file (cases, reviews or outcomes) or folder, and name each bad record and field."""
    from reviewgauge.api.check_records import check as check_files

    found = check_files(Path(path))
    return CheckResult(
        path=str(path),
        records=found.records,
        bad=found.bad,
        problems=tuple(Problem(file=p.source, line=p.record, field=p.field, problem=str(p)) for p in found.problems),
    )
