"""`reviewgauge review`: benchmark x reviewers, or recorded reviews, into a run folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.api.resolve import dataset_label, find_dataset, find_stages, given_path, staged_label
from reviewgauge.core.base import Record
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Dataset, Progress, Reviewer, Stage
from reviewgauge.core.records import Case
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load, parse_spec
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.engine.review import ReviewTotals, changes_to_review, import_reviews, rehearse_review
from reviewgauge.engine.review import review as run_reviewer
from reviewgauge.engine.run.executors import Executor, Interruption, executor_for
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST, benchmark_hash
from reviewgauge.engine.run.model_options import ModelOptions, Spending, spending
from reviewgauge.engine.run.progress import Selection, parse_only, with_cost

RECORDED = "recorded"


class ReviewResult(Record):
    """What a review did: one entry of totals per reviewer, or one for all recorded systems together.

    `spending` is what went to models; with `--dry-run` it is the estimate, and nothing was reviewed.
    """

    schema_version: int = 1
    run: str
    dataset: str
    benchmark: str
    cases: int
    totals: tuple[ReviewTotals, ...]
    notes: tuple[Drop, ...] = ()
    dropped: tuple[Drop, ...] = ()
    spending: Spending = Spending()


@dataclass(frozen=True)
class _Settings:
    """The settings of a review, the same for each reviewer."""

    attempts: int
    workers: int | None
    retry_failed: bool
    only: Selection
    models: ModelOptions
    stop: Interruption

    def executor(self, reviewer: Reviewer) -> Executor:
        return executor_for(reviewer, self.workers, self.models.in_flight, otherwise=2)


def review(
    dataset: str | Dataset,
    *reviewers: str | Reviewer,
    run: str | Path,
    source: str | Path | None = None,
    stages: Sequence[str | Stage] = (),
    attempts: int = 1,
    workers: int | None = None,
    retry_failed: bool = False,
    only: Sequence[str] = (),
    seed: int = 0,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ReviewResult:
    """Let reviewers review every case of a data set, resuming what `run` holds already.

    The reviewer `recorded` imports the reviews that came with the data set, all systems at once. `source` is the
    folder that holds the data set's files. `stages` narrow its cases first, and every drop is counted. `only` does a
    part: `failed`, `case=ID`. The totals and `stop` say what stopped a run early.
    """
    if not reviewers:
        raise UserError("no reviewer given", remedy="reviewgauge list reviewers")
    settings = _Settings(
        attempts, workers, retry_failed, parse_only(only), models or ModelOptions(), stop or Interruption()
    )
    found = find_dataset(dataset, source)
    chosen = [word if isinstance(word, Reviewer) else _parse(word) for word in reviewers]
    narrowing = find_stages(stages)
    cases, drops = apply_stages(found.cases(), narrowing)
    label = staged_label(found, narrowing)
    _check_code(chosen, cases, found)
    if settings.models.dry_run:
        totals, spent = _rehearse(cases, label, chosen, run, settings, progress)
        benchmark = benchmark_hash(cases)
    else:
        where = given_path(dataset, found, source)
        with RunFolder.create(run, dataset=label, dataset_path=where, cases=cases, seed=seed) as folder:
            totals, spent = _run(folder, found, chosen, settings, progress)
            label, benchmark = folder.manifest.dataset, folder.manifest.benchmark
    return ReviewResult(
        run=str(run),
        dataset=label,
        benchmark=benchmark,
        cases=len(cases),
        totals=tuple(totals),
        notes=tuple(found.notes()),
        dropped=tuple(drops),
        spending=spent,
    )


def _check_code(chosen: Sequence[Reviewer | dict[str, object]], cases: Sequence[Case], found: Dataset) -> None:
    """Raise NeedsCode before a folder is made: with the code it will be another benchmark."""
    for reviewer in chosen:
        if cases and isinstance(reviewer, Reviewer):
            try:
                changes_to_review(reviewer, cases, dataset_label(found))
            except NeedsCode as error:
                raise NeedsCode(error.what, dataset_label(found), found.code_remedy()) from None


def _run(
    folder: RunFolder,
    found: Dataset,
    chosen: Sequence[Reviewer | dict[str, object]],
    settings: _Settings,
    progress: Progress | None,
) -> tuple[list[ReviewTotals], Spending]:
    totals = []
    with settings.models.client(folder) as client:
        for reviewer in chosen:
            if isinstance(reviewer, dict):
                totals.append(_import(folder, found, reviewer, progress))
                continue
            done = run_reviewer(
                folder,
                reviewer,
                executor=settings.executor(reviewer),
                attempts=settings.attempts,
                retry_failed=settings.retry_failed,
                only=settings.only,
                stop=settings.stop,
                progress=with_cost(progress, client),
            )
            totals.append(done)
        return totals, spending(client)


def _rehearse(
    cases: Sequence[Case],
    label: str,
    chosen: Sequence[Reviewer | dict[str, object]],
    run: str | Path,
    settings: _Settings,
    progress: Progress | None,
) -> tuple[list[ReviewTotals], Spending]:
    """Count what would be asked, writing nothing; an existing run says what is done already."""
    folder = RunFolder.open(run) if (Path(run) / MANIFEST).exists() else None
    if folder is not None and folder.manifest.benchmark != benchmark_hash(cases):
        raise UserError(f"{run} holds a run on {folder.manifest.dataset}, not on {label}", remedy="use another folder")
    outcomes = [] if folder is None else folder.outcomes()
    with settings.models.client() as client:
        totals = [
            rehearse_review(
                cases,
                outcomes,
                reviewer,
                executor=settings.executor(reviewer),
                dataset=label,
                attempts=settings.attempts,
                retry_failed=settings.retry_failed,
                only=settings.only,
                stop=settings.stop,
                progress=progress,
            )
            for reviewer in chosen
            if isinstance(reviewer, Reviewer)
        ]
        return totals, spending(client)


def _import(
    folder: RunFolder, dataset: Dataset, parameters: dict[str, object], progress: Progress | None
) -> ReviewTotals:
    """Take in the reviews that came with the data set, and their labels."""
    reviews, labels = dataset.recorded(**parameters)
    given = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    spec = f"{RECORDED}({given})" if given else RECORDED
    totals = import_reviews(folder, reviews, source=spec, pins=dataset.pins(), progress=progress)
    known = {case.id for case in folder.cases()}
    # After the reviews: refused ones must not leave their verdicts behind.
    folder.add_labels(label for label in labels if label.subject.case in known)
    return totals


def _parse(word: str) -> Reviewer | dict[str, object]:
    spec = parse_spec(word)
    return dict(spec.parameters) if spec.name == RECORDED else load(Reviewer, word)
