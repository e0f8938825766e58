"""`reviewbench score`: run x metrics, and the leaderboard that comes out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from reviewbench.cli._output import Progress, emit, json_option, progress_bar, seed_option
from reviewbench.cli._runs import read_runs
from reviewbench.cli._words import find_metrics
from reviewbench.core.base import Record
from reviewbench.core.plugins import signature
from reviewbench.core.protocols import Metric
from reviewbench.core.summaries import ComparisonTable, Leaderboard
from reviewbench.engine.score import ScoreTotals
from reviewbench.engine.score import score as score_run
from reviewbench.engine.store import RunFolder


class ScoreResult(Record):
    """What was measured, the leaderboard of each metric, and how its leader compares with every other system."""

    schema_version: int = 1
    run: str
    totals: tuple[ScoreTotals, ...]
    leaderboards: tuple[Leaderboard, ...]
    comparisons: tuple[ComparisonTable, ...] = ()


def score(
    run: str | Path,
    *metrics: str | Metric,
    slices: Sequence[str] = (),
    resamples: int = 10_000,
    seed: int = 0,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> ScoreResult:
    """Measure every review of a run that the metrics have not measured yet; `hits` when none is named.

    `slices` are case facts (`language`) or facets (`category`) to break the leaderboard down by.
    """
    wanted = find_metrics(metrics)
    with RunFolder.open(run, write=True) as folder:
        totals = tuple(score_run(folder, m, retry_failed=retry_failed, progress=progress) for m in wanted)
    boards, comparisons = [], []
    for metric in wanted:
        measured = read_runs([run], signature(metric))[0]
        boards.append(measured.leaderboard(slices, resamples, seed))
        if sum(row.scored > 0 for row in boards[-1].systems) > 1:
            comparisons.append(measured.comparison(None, resamples, seed))
    return ScoreResult(run=str(run), totals=totals, leaderboards=tuple(boards), comparisons=tuple(comparisons))


@click.command("score")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.argument("metrics", nargs=-1)
@click.option("--slice", "slices", multiple=True, help="Break down by a fact or facet; may be given again.")
@click.option("--resamples", default=10_000, show_default=True, help="Bootstrap resamples.")
@seed_option
@click.option("--retry-failed", is_flag=True, help="Measure again what failed before.")
@json_option
def command(
    run: str,
    metrics: Sequence[str],
    slices: Sequence[str],
    resamples: int,
    seed: int,
    retry_failed: bool,
    as_json: bool,
) -> None:
    """Measure the reviews of RUN with METRICS (default: hits) and print the leaderboard."""
    with progress_bar("scoring", quiet=as_json) as progress:
        result = score(
            run,
            *metrics,
            slices=slices,
            resamples=resamples,
            seed=seed,
            retry_failed=retry_failed,
            progress=progress,
        )

    def show() -> object:
        from rich.console import Group

        from reviewbench.views import tables

        parts: list[object] = []
        for board in result.leaderboards:
            duels = next((c for c in result.comparisons if c.metric == board.metric), None)
            parts.append(tables.leaderboard(board, duels))
            if board.slices:
                parts += ["", tables.slices(board)]
        for totals in result.totals:
            parts.append(_closing(totals))
        return Group(*parts)  # type: ignore[arg-type]

    emit(result, as_json, show)


def _closing(totals: ScoreTotals) -> str:
    failed = sum(totals.failed.values())
    said = [f"{totals.done} reviews measured"]
    said += [f"{totals.skipped} measured before"] if totals.skipped else []
    said += [f"{totals.not_applicable} not applicable"] if totals.not_applicable else []
    said += [f"{failed} failed"] if failed else []
    said += [f"{totals.failed_reviews} reviews had failed"] if totals.failed_reviews else []
    return f"{'; '.join(said)}; {totals.seconds:.1f} s"
