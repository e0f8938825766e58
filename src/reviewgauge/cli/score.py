"""`reviewgauge score`: run x metrics, and the leaderboard that comes out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from reviewgauge.api.score import ScoreResult, score
from reviewgauge.cli.options import json_option, model_options, only_option, seed_option, workers_option
from reviewgauge.cli.output import note_reasons, run_stoppable
from reviewgauge.views.terminal import leaderboards
from reviewgauge.views.terminal.closing import after_score, nothing_scored, score_line


@click.command("score")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.argument("metrics", nargs=-1)
@click.option("--slice", "slices", multiple=True, help="Break down by a fact or facet; may be given again.")
@click.option("--resamples", default=10_000, show_default=True, help="Bootstrap resamples.")
@seed_option
@workers_option
@click.option("--retry-failed", is_flag=True, help="Measure what is missing, and again what failed before.")
@only_option
@click.option("--explain", is_flag=True, help="Say what the columns mean, how figures were made, and every caveat.")
@model_options
@json_option
def command(run: str, metrics: Sequence[str], as_json: bool, explain: bool, **options: Any) -> int:
    """Measure the reviews of RUN with METRICS and print the leaderboard.

    Without METRICS it is hits, or the usual one of a small task: assess, pass_at_k to locate, rouge to comment. Killed
    or interrupted, the same command goes on where it stopped. Ctrl-C finishes what is in flight, twice stops at once.
    """
    work = partial(score, run, *metrics, **options)
    result = run_stoppable("scoring", work, as_json, partial(_shown, explain=explain))
    return int(any(nothing_scored(board) for board in result.leaderboards))


def _shown(result: ScoreResult, explain: bool) -> list[object]:
    note_reasons(result.totals)
    parts: list[object] = [score_line(totals, result.spending.estimated) for totals in result.totals]
    parts += [result.spending.sentence] if result.spending.sentence else []
    for board in result.leaderboards:
        duels = next((c for c in result.comparisons if c.metric == board.metric), None)
        parts.append(leaderboards.leaderboard(board, duels, explain))
        if board.slices:
            parts += ["", leaderboards.slices(board)]
    return [*parts, *after_score(result.run, result.totals, result.leaderboards)]
