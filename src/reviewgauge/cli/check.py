"""`reviewgauge check`: is this JSON lines file, or this bundle, what it should be?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from reviewgauge.api.check import check, check_prompt
from reviewgauge.cli.options import json_option, plugin_option
from reviewgauge.cli.output import emit, note, progress_bar
from reviewgauge.core.reports.check import CheckResult
from reviewgauge.engine.bundle.compare import DIGITS


@click.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--from", "sources", multiple=True, help="A run that holds the texts which a bundle leaves out.")
@click.option(
    "--digits",
    default=DIGITS,
    show_default=True,
    type=click.IntRange(min=1, max=DIGITS),
    help="How far the figures of a bundle must agree; fewer for embeddings on another machine.",
)
@click.option("--prompt", metavar="SPEC", help="FILES are templates for this reviewer, such as prompt(model=...).")
@plugin_option
@json_option
def command(files: Sequence[str], prompt: str | None, as_json: bool, **options: Any) -> int:
    """Check FILES: ReviewGauge's own format record by record, and every number of a bundle by recomputing it.

    A bundle is checked without a network, up to the first number that differs. The exit code is 2 when a record is
    wrong, 1 when a bundle differs.
    """
    with progress_bar("checking", quiet=as_json) as progress:
        results = [
            check_prompt(path, prompt) if prompt else check(path, progress=progress, **options) for path in files
        ]
    for line in () if as_json else (line for result in results for line in result.notes):
        note(f"note: {line}")
    emit(results, as_json, lambda: "\n".join(line for one in results for line in _shown(one)), whole_lines=True)
    return max((1 if result.content else 2) * (not result.ok) for result in results)


def _shown(result: CheckResult) -> list[str]:
    shown = [problem.problem for problem in result.problems[:100]]
    if result.content:
        counts = [result.records.get(kind, 0) for kind in ("score", "review", "figure")]
        again = "{:,} scores of {:,} reviews were measured again and {:,} figures were recomputed".format(*counts)
        whole = f"{result.path}, content {result.content[:16]}: every file has its sum"
        return [f"DIFFERS: {problem}" for problem in shown] or [whole, f"{again}: none differs"]
    if result.bad > len(shown):
        shown.append(f"… and {result.bad - len(shown)} more")
    good = ", ".join(f"{n} good {kind} record{'s' if n != 1 else ''}" for kind, n in result.records.items())
    return [*shown, f"{result.path}: {good or 'no good record'}, {result.bad} bad"]
