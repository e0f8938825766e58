"""`reviewbench check`: is this JSON lines file what it should be?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from reviewbench.cli._output import emit, json_option
from reviewbench.core.base import Record


class Problem(Record):
    """One bad record: its 1-based line (0: the file as a whole), the field, and what is wrong."""

    line: int
    field: str
    problem: str


class CheckResult(Record):
    """What was found in a file; `records` counts the good ones."""

    schema_version: int = 1
    path: str
    kind: str
    records: int
    problems: tuple[Problem, ...] = ()


def check(path: str | Path) -> CheckResult:
    """Read every record of a JSON lines file (cases, reviews or outcomes) and name each bad record and field."""
    from reviewbench.datasets._check import check_file

    found = check_file(Path(path))
    return CheckResult(
        path=str(path),
        kind=found.kind,
        records=found.records,
        problems=tuple(Problem(line=p.line, field=p.field, problem=p.problem) for p in found.problems),
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
            for p in result.problems[:100]:
                field = f", field {p.field}" if p.field else ""
                lines.append(f"{result.path}, line {p.line}{field}: {p.problem}")
            bad = len(result.problems)
            if bad > 100:
                lines.append(f"… and {bad - 100} more problems")
            lines.append(f"{result.path}: {result.records} good {result.kind}, {bad} problems")
        return escape("\n".join(lines))

    emit(results, as_json, show)
    return 2 if any(result.problems for result in results) else 0
