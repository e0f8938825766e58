"""`reviewbench check`: is this JSON lines file what it should be?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from reviewbench.cli._output import emit, json_option
from reviewbench.core.base import Record


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
    from reviewbench.datasets._check import check as check_files

    found = check_files(Path(path))
    return CheckResult(
        path=str(path),
        records=found.records,
        bad=found.bad,
        problems=tuple(Problem(file=p.source, line=p.record, field=p.field, problem=str(p)) for p in found.problems),
    )


@click.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@json_option
def command(files: Sequence[str], as_json: bool) -> int:
    """Check FILES in ReviewBench's own format record by record. The exit code is 2 when something is wrong."""
    results = [check(path) for path in files]

    def show() -> object:
        from rich.markup import escape

        lines = []
        for result in results:
            shown = [problem.problem for problem in result.problems[:100]]
            lines += shown
            if result.bad > len(shown):
                lines.append(f"… and {result.bad - len(shown)} more")
            good = ", ".join(f"{n} good {kind} record{'s' if n != 1 else ''}" for kind, n in result.records.items())
            lines.append(f"{result.path}: {good or 'no good record'}, {result.bad} bad")
        return escape("\n".join(lines))

    emit(results, as_json, show, whole_lines=True)
    return 2 if any(result.bad for result in results) else 0
