"""`reviewgauge check`: is this JSON lines file what it should be?"""

from __future__ import annotations

from collections.abc import Sequence

import click

from reviewgauge.api.check import check
from reviewgauge.cli.options import json_option
from reviewgauge.cli.output import emit


@click.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@json_option
def command(files: Sequence[str], as_json: bool) -> int:
    """Check FILES in ReviewGauge's own format record by record. The exit code is 2 when something is wrong."""
    results = [check(path) for path in files]

    def show() -> str:
        lines = []
        for result in results:
            shown = [problem.problem for problem in result.problems[:100]]
            lines += shown
            if result.bad > len(shown):
                lines.append(f"… and {result.bad - len(shown)} more")
            good = ", ".join(f"{n} good {kind} record{'s' if n != 1 else ''}" for kind, n in result.records.items())
            lines.append(f"{result.path}: {good or 'no good record'}, {result.bad} bad")
        return "\n".join(lines)

    emit(results, as_json, show, whole_lines=True)
    return 2 if any(result.bad for result in results) else 0
