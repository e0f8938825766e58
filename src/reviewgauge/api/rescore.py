"""`reviewgauge score --on`: the reviews of runs on another version of their benchmark.

The reviews of runs, put onto another version of their benchmark: the same changes, other references.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from reviewgauge.analysis.compare.versions import compare_versions
from reviewgauge.api.resolve import dataset_label, find_dataset, find_metrics, given_path
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Dataset, Metric, Progress
from reviewgauge.core.records import Case
from reviewgauge.core.reports.leaderboard import VersionTable
from reviewgauge.core.results import Outcome
from reviewgauge.core.specs import signature
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import same_change
from reviewgauge.engine.run.model_options import ModelOptions, Spending
from reviewgauge.engine.run.progress import parse_only
from reviewgauge.engine.run.scored_run import open_runs, read_scored_runs, rename_systems, renamed_labels
from reviewgauge.engine.run.workers import Workers
from reviewgauge.engine.score import ScoreTotals, measure_run
from reviewgauge.repo.git.folders import scratch_folder


def carry_over(runs: Sequence[RunFolder], paths: Sequence[str | Path], target: RunFolder) -> int:
    """Put the reviews and failures of `runs` into `target`, with who made them; returns how many were new there.

    Changes that `target` does not have any more are left out. Systems that have the same name in two runs get their
    run's name in front. Raises UserError where `target` has no reviewed change, has another one under its id, or holds
    another review.
    """
    cases = target.cases_by_id()
    for run, path in zip(runs, paths, strict=True):
        _check_changes(run, path, cases, target.manifest.dataset)
    names = rename_systems([{one.system for one in run.outcomes()} for run in runs], paths)
    known = {one.key: one for one in target.outcomes()}
    added = 0
    for run, path, new in zip(runs, paths, names, strict=True):
        for system, entry in run.manifest.systems.items():
            target.add_systems({new.get(system, system): entry.pins}, entry.signature)
        for outcome in (one for one in run.outcomes() if one.case in cases):
            named = _renamed(outcome, new.get(outcome.system, outcome.system))
            before = known.get((named.case, named.system, named.attempt))
            if before == named:
                continue
            if before is not None and before.review is not None:
                raise UserError(
                    f"{target.path} holds another review of {named.case} by {named.system} than {path}",
                    remedy="name a new folder",
                )
            target.append_outcome(named, sync=False)
            added += 1
        target.add_labels(renamed_labels(run, new))
    target.sync()
    return added


def _check_changes(run: RunFolder, path: str | Path, cases: Mapping[str, Case], dataset: str) -> None:
    remedy = "reviews count on the very changes that they are about: reviewgauge review makes new ones"
    reviewed = {one.case for one in run.outcomes()}
    if reviewed and not reviewed & cases.keys():
        raise UserError(f"no change that {path} reviewed is in {dataset}", remedy=remedy)
    for case in run.cases():
        if case.id in reviewed and case.id in cases and not same_change(case.change, cases[case.id].change):
            raise UserError(f"{case.id}, which {path} reviewed, is another change in {dataset}", remedy=remedy)


def _renamed(outcome: Outcome, system: str) -> Outcome:
    review = outcome.review and outcome.review.model_copy(update={"system": system})
    return outcome.model_copy(update={"system": system, "review": review})


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
    judge: str = "",
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
    named = [signature(metric) for metric in find_metrics(metrics, judge)] if metrics else [None]
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
