"""`reviewgauge score`: run x metrics, and the leaderboard that comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from reviewgauge.api.score import ScoreResult, score
from reviewgauge.cli.options import json_option, model_options, only_option, seed_option, workers_option
from reviewgauge.cli.output import emit, end, left_words, note_reasons, progress_bar, stoppable
from reviewgauge.core.reports.leaderboard import Leaderboard
from reviewgauge.engine.score import ScoreTotals


@click.command("score")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.argument("metrics", nargs=-1)
@click.option("--slice", "slices", multiple=True, help="Break down by a fact or facet; may be given again.")
@click.option("--resamples", default=10_000, show_default=True, help="Bootstrap resamples.")
@seed_option
@workers_option
@click.option("--retry-failed", is_flag=True, help="Measure what is missing, and again what failed before.")
@only_option
@model_options
@json_option
def command(run: str, metrics: Sequence[str], as_json: bool, **options: Any) -> None:
    """Measure the reviews of RUN with METRICS (default: hits) and print the leaderboard.

    Killed or interrupted, the same command goes on where it stopped. Ctrl-C finishes what is in flight, twice stops at
    once.
    """
    with stoppable() as stop:
        with progress_bar("scoring", quiet=as_json) as progress:
            result = score(run, *metrics, stop=stop, progress=progress, **options)
        emit(result, as_json, lambda: _shown(result))
        end(stop)
        if any(_all_failed(board) for board in result.leaderboards):
            raise click.exceptions.Exit(1)


def _all_failed(board: Leaderboard) -> bool:
    """Whether all that the metric has by now are failures, its own or the reviews'."""
    worked = sum(row.scored + row.not_applicable for row in board.systems)
    return not worked and any(row.failed for row in board.systems)


def _shown(result: ScoreResult) -> object:
    from rich.console import Group
    from rich.markup import escape

    from reviewgauge.views.terminal import leaderboards

    parts: list[object] = []
    for board in result.leaderboards:
        duels = next((c for c in result.comparisons if c.metric == board.metric), None)
        parts.append(leaderboards.leaderboard(board, duels))
        if board.slices:
            parts += ["", leaderboards.slices(board)]
    for totals in result.totals:
        parts.append(escape(_closing(totals, result)))
        note_reasons(totals.reasons)
    if result.spending.sentence:
        parts.append(escape(result.spending.sentence))
    parts += [escape(line) for line in _next(result)]
    return Group(*parts)  # type: ignore[arg-type]


def _next(result: ScoreResult) -> list[str]:
    """What to do about what failed. What was stopped says so itself."""
    if any(totals.stopped for totals in result.totals):
        return []
    failed = sum(sum(totals.failed.values()) + totals.failed_before for totals in result.totals)
    nothing = [board.label for board in result.leaderboards if _all_failed(board)]
    lines = [f"{label}: nothing could be measured; {result.run}/scores.jsonl says why" for label in nothing]
    if failed:
        lines.append(f"{failed} failed: the same command with --only failed tries them again")
    if any(totals.failed_reviews for totals in result.totals):
        lines.append("what failed as a review is made again by the command that made it, with --only failed")
    return lines


def _closing(totals: ScoreTotals, result: ScoreResult) -> str:
    if result.spending.estimated:
        return f"{totals.left} reviews to measure"
    failed = sum(totals.failed.values())
    kinds = ", ".join(f"{kind} {n}" for kind, n in totals.failed.items())
    counts = [f"{totals.done} reviews measured"]
    counts += [f"{totals.skipped} measured before"] if totals.skipped else []
    counts += [f"{totals.not_applicable} not applicable"] if totals.not_applicable else []
    counts += [f"{failed} failed ({kinds})"] if failed else []
    counts += [f"{totals.failed_reviews} reviews had failed"] if totals.failed_reviews else []
    counts += left_words(totals.stopped, totals.left)
    return f"{'; '.join(counts)}; {totals.seconds:.1f} s"
