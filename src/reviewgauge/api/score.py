"""`reviewgauge score`: run x metrics, and the leaderboard that comes out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.analysis.compare.slices import tier_slice
from reviewgauge.api.resolve import find_metrics
from reviewgauge.core.base import Record
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.reports.leaderboard import ComparisonTable, Leaderboard
from reviewgauge.core.specs import signature
from reviewgauge.engine.measure import usual_metrics
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.kept import kept
from reviewgauge.engine.run.model_options import ModelOptions, Spending
from reviewgauge.engine.run.progress import parse_only
from reviewgauge.engine.run.scored_run import read_scored_runs
from reviewgauge.engine.run.workers import Workers
from reviewgauge.engine.score import ScoreTotals, measure_run
from reviewgauge.viewer.selection import prepare
from reviewgauge.views.comparisons import comparison_table
from reviewgauge.views.leaderboard import leaderboard_table, slice_tables
from reviewgauge.views.tables import ResultTable, result_tables, tables_html


class ScoreResult(Record):
    """What was measured, the leaderboard of each metric, and how its leader compares with every other system.

    `spending` is what went to models; with `--dry-run` it is the estimate, and nothing was measured.
    """

    schema_version: int = 1
    run: str
    totals: tuple[ScoreTotals, ...]
    leaderboards: tuple[Leaderboard, ...]
    comparisons: tuple[ComparisonTable, ...] = ()
    spending: Spending = Spending()

    @property
    def tables(self) -> dict[str, ResultTable]:
        """`leaderboard`, `comparison`, and a table a slice; of several metrics each name begins with its metric."""
        found = []
        for board in self.leaderboards:
            duels = [comparison_table(one) for one in self.comparisons if one.metric == board.metric]
            title = f"{board.label or board.metric} on {board.dataset}"
            before = f"{board.label or board.metric}: " if len(self.leaderboards) > 1 else ""
            own = [leaderboard_table(board), *duels, *slice_tables(board)]
            found += [one.model_copy(update={"name": before + one.name, "title": one.title or title}) for one in own]
        return result_tables(found)

    def _repr_html_(self) -> str:
        return tables_html(self.tables.values())


def score(
    run: str | Path,
    *metrics: str | Metric,
    slices: Sequence[str] = (),
    judge: str = "",
    test: str = "",
    resamples: int = 10_000,
    seed: int = 0,
    retry_failed: bool = False,
    only: Sequence[str] = (),
    workers: Workers = None,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ScoreResult:
    """Measure every review of a run that the metrics have not measured yet; the usual ones if none is named.

    `judge` is that of metrics that name none, in the place of `lexical`, and `test` the command of those that run
    tests. `slices` are case facts (`language`) or facets
    (`category`) to break the leaderboard down by, `tier` always where findings are founded in several ways. `only` does
    a part: `failed`, `case=ID`. The totals and `stop` say what stopped it early.
    """
    named, part = find_metrics(metrics, judge, test) if metrics else [], parse_only(only)
    models, stop = models or ModelOptions(), stop or Interruption()
    with RunFolder.open(run, write=not models.dry_run) as folder:
        wanted = named or find_metrics(usual_metrics(folder.cases()), judge)
        done = measure_run(
            folder,
            wanted,
            models,
            retry_failed=retry_failed,
            only=part,
            workers=workers,
            stop=stop,
            progress=progress,
        )
        has_scores = set(folder.scored_metrics())
    if models.dry_run:
        return ScoreResult(run=str(run), totals=done.totals, leaderboards=(), spending=done.spending)
    boards, comparisons = [], []
    scored = [metric for metric in wanted if signature(metric) in has_scores]
    for metric in scored or ([] if has_scores or stop.error else wanted):
        (found,) = read_scored_runs([run], signature(metric))
        wanted_slices = list(dict.fromkeys([*slices, *tier_slice(found.cases)]))
        if wanted_slices:
            boards.append(leaderboard(found, slices=wanted_slices, resamples=resamples, seed=seed))
        else:
            boards.append(kept(leaderboard, found, resamples=resamples, seed=seed))
        if sum(row.scored > 0 for row in boards[-1].systems) > 1:
            comparisons.append(kept(compare, found, resamples=resamples, seed=seed))
    prepare(run, resamples, seed)
    return ScoreResult(
        run=str(run),
        totals=done.totals,
        leaderboards=tuple(boards),
        comparisons=tuple(comparisons),
        spending=done.spending,
    )
