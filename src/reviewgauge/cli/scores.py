"""`reviewgauge scores`: what a run was measured with, and what should not stay in it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from reviewgauge.api.scores import MetricScores, ScoresResult, scores
from reviewgauge.cli.options import json_option
from reviewgauge.cli.output import emit
from reviewgauge.core.errors import one_line


@click.command("scores")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("--remove", multiple=True, metavar="SPEC", help="Remove this metric's scores; may be given again.")
@json_option
def command(run: str, remove: Sequence[str], as_json: bool) -> None:
    """List the metrics that RUN was scored with, or remove the scores of some.

    What models were paid for stays in the record of calls and in the cache: scoring again asks them nothing twice.
    """
    result = scores(run, remove=remove)

    emit(result, as_json, lambda: "\n".join(_lines(result)))


def _lines(result: ScoresResult) -> list[str]:
    lines = [f"{result.removed:,} scores removed"] if result.removed else []
    return [*lines, *map(_line, result.metrics)] or [f"{result.run} holds no scores"]


def _line(one: MetricScores) -> str:
    counts = {"not applicable": one.not_applicable, "failed": one.failed, "of failed reviews": one.failed_reviews}
    parts = [f"{one.measured:,} measured", *(f"{n:,} {what}" for what, n in counts.items() if n)]
    parts += [f"${one.dollars:.2f}"] if one.dollars else []
    return f"{one_line(one.label, 100)}: {len(one.systems)} systems; {'; '.join(parts)}"
