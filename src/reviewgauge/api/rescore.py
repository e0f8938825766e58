"""`reviewgauge score --on`: the reviews of runs on another version of their benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from reviewgauge.analysis.compare.versions import compare_versions
from reviewgauge.api.resolve import dataset_label, find_dataset, find_metrics, given_path
from reviewgauge.core.base import Record
from reviewgauge.core.protocols import Dataset, Metric, Progress
from reviewgauge.core.reports.versions import VersionTable
from reviewgauge.core.specs import signature
from reviewgauge.engine.rescore import carry_over
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.model_options import ModelOptions, Spending
from reviewgauge.engine.run.progress import parse_only
from reviewgauge.engine.run.scored_run import open_runs, read_scored_runs
from reviewgauge.engine.run.workers import Workers
from reviewgauge.engine.score import ScoreTotals, measure_run
from reviewgauge.repo.git.folders import scratch_folder


class RescoreResult(Record):
    """What was measured, and one table a metric. `reviews` were carried over now; `spending` as for `score`."""

    schema_version: int = 1
    run: str
    reviews: int
    totals: tuple[ScoreTotals, ...]
    tables: tuple[VersionTable, ...] = ()
    spending: Spending = Spending()


def rescore(
    *runs: str | Path,
    on: str | Dataset,
    run: str | Path,
    source: str | Path | None = None,
    metrics: Sequence[str | Metric] = (),
    resamples: int = 10_000,
    seed: int = 0,
    only: Sequence[str] = (),
    workers: Workers = None,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> RescoreResult:
    """Measure the stored reviews of `runs` against the references in `on`, in the new run folder `run`.

    The metrics are those that the runs were scored with. Raises UserError where `on` has not the changes that were
    reviewed.
    """
    part, models, stop = parse_only(only), models or ModelOptions(), stop or Interruption()
    opened = open_runs(runs)
    named = [signature(metric) for metric in find_metrics(metrics)] if metrics else [None]
    old = [one for name in named for one in read_scored_runs(runs, name)]
    dataset = find_dataset(on, source)
    where = given_path(on, dataset, source)
    with _folder(run, models.dry_run) as folder:
        with RunFolder.create(
            folder, dataset=dataset_label(dataset), dataset_path=where, cases=dataset.cases()
        ) as made:
            added = carry_over(opened, runs, made)
            done = measure_run(
                made,
                [one.metric for one in old],
                models,
                only=part,
                workers=workers,
                stop=stop,
                progress=progress,
            )
            scored = set(made.scored_metrics())
        kept = {} if models.dry_run else {signature(one.metric): one for one in old}
        tables = [
            compare_versions(one, read_scored_runs([folder], name)[0], resamples=resamples, seed=seed)
            for name, one in kept.items()
            if name in scored
        ]
    return RescoreResult(run=str(run), reviews=added, totals=done.totals, tables=tuple(tables), spending=done.spending)


@contextmanager
def _folder(run: str | Path, dry_run: bool) -> Iterator[Path]:
    """The folder to work in; a temporary one where nothing is to be kept."""
    if not dry_run:
        yield Path(run)
        return
    with scratch_folder() as temporary:
        yield temporary / "run"
