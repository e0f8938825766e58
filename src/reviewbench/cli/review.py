"""`reviewbench review`: benchmark x reviewers, or recorded reviews, into a run folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from reviewbench.cli._model_options import ModelOptions, Spending, model_options, spending
from reviewbench.cli._output import (
    Progress,
    emit,
    from_option,
    json_option,
    note,
    progress_bar,
    seed_option,
    stage_option,
)
from reviewbench.cli._stopping import (
    end,
    executor_for,
    left_words,
    only_option,
    stoppable,
    tell_reasons,
    with_bill,
    workers_option,
)
from reviewbench.cli._words import dataset_label, find_dataset, find_stages, staged_label
from reviewbench.core.base import Record
from reviewbench.core.errors import NeedsCode, UserError
from reviewbench.core.plugins import load, parse_spec
from reviewbench.core.protocols import Dataset, Reviewer, Stage
from reviewbench.core.records import Case
from reviewbench.core.results import Drop
from reviewbench.engine.benchmark import benchmark_hash
from reviewbench.engine.executors import Executor
from reviewbench.engine.interruption import Interruption
from reviewbench.engine.manifest import MANIFEST
from reviewbench.engine.rehearsal import rehearse_review
from reviewbench.engine.review import ReviewTotals, changes_to_review, import_reviews
from reviewbench.engine.review import review as run_reviewer
from reviewbench.engine.selection import Only, parse_only
from reviewbench.engine.stages import apply_stages
from reviewbench.engine.store import RunFolder

RECORDED = "recorded"
LABELS = "labels"  # who left out what was no label
NAMED = 20  # more systems than this are counted, not named


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
class _How:
    """How a review is to be done, the same for each reviewer."""

    attempts: int
    workers: int | None
    retry_failed: bool
    only: Only
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

    The reviewer `recorded` stands for the reviews that came with the data set, all systems at once. `source` is the
    folder that holds the data set's files. `stages` narrow its cases first, and every drop is counted. `only` does a
    part: `failed`, `case=ID`. What stopped a run early stands in the totals and in `stop`.
    """
    if not reviewers:
        raise UserError("no reviewer given", remedy="reviewbench list reviewers")
    how = _How(attempts, workers, retry_failed, parse_only(only), models or ModelOptions(), stop or Interruption())
    found = find_dataset(dataset, source)
    plan = [word if isinstance(word, Reviewer) else _parse(word) for word in reviewers]
    narrowing = find_stages(stages)
    cases, drops = apply_stages(found.cases(), narrowing)
    label = staged_label(found, narrowing)
    _check_code(plan, cases, found)
    if how.models.dry_run:
        totals, spent = _rehearse(cases, label, plan, run, how, progress)
        benchmark = benchmark_hash(cases)
    else:
        where = _as_given(dataset, found, source)
        with RunFolder.create(run, dataset=label, dataset_path=where, cases=cases, seed=seed) as folder:
            totals, spent = _run(folder, found, plan, how, progress)
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


def _check_code(plan: Sequence[Reviewer | dict[str, object]], cases: Sequence[Case], found: Dataset) -> None:
    """Raise NeedsCode, with what to do, before a folder is made: with the code it will be another benchmark."""
    for reviewer in plan:
        if cases and isinstance(reviewer, Reviewer):
            try:
                changes_to_review(reviewer, cases, dataset_label(found))
            except NeedsCode as error:
                raise NeedsCode(error.what, dataset_label(found), found.code_remedy()) from None


def _run(
    folder: RunFolder,
    found: Dataset,
    plan: Sequence[Reviewer | dict[str, object]],
    how: _How,
    progress: Progress | None,
) -> tuple[list[ReviewTotals], Spending]:
    totals = []
    with how.models.door(folder) as door:
        for reviewer in plan:
            if isinstance(reviewer, dict):
                totals.append(_import(folder, found, reviewer, progress))
                continue
            done = run_reviewer(
                folder,
                reviewer,
                executor=how.executor(reviewer),
                attempts=how.attempts,
                retry_failed=how.retry_failed,
                only=how.only,
                stop=how.stop,
                progress=with_bill(progress, door),
            )
            totals.append(done)
        return totals, spending(door)


def _rehearse(
    cases: Sequence[Case],
    label: str,
    plan: Sequence[Reviewer | dict[str, object]],
    run: str | Path,
    how: _How,
    progress: Progress | None,
) -> tuple[list[ReviewTotals], Spending]:
    """What it would ask, with nothing written; a run that is there already says what is done."""
    folder = RunFolder.open(run) if (Path(run) / MANIFEST).exists() else None
    if folder is not None and folder.manifest.benchmark != benchmark_hash(cases):
        raise UserError(f"{run} holds a run on {folder.manifest.dataset}, not on {label}", remedy="use another folder")
    there = [] if folder is None else folder.outcomes()
    with how.models.door() as door:
        totals = [
            ReviewTotals(
                systems=(reviewer.system,),
                left=rehearse_review(
                    cases,
                    there,
                    reviewer,
                    executor=how.executor(reviewer),
                    dataset=label,
                    attempts=how.attempts,
                    retry_failed=how.retry_failed,
                    only=how.only,
                    stop=how.stop,
                    progress=progress,
                ),
            )
            for reviewer in plan
            if isinstance(reviewer, Reviewer)
        ]
        return totals, spending(door)


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


def _as_given(word: str | Dataset, found: Dataset, source: str | Path | None) -> str:
    """Where the data was said to be, in the user's own words: an absolute path would tell of this machine."""
    if source:
        return str(source)
    named = isinstance(word, str) and found.path == str(Path(word).resolve())
    return str(word) if named else found.path


def _parse(word: str) -> Reviewer | dict[str, object]:
    spec = parse_spec(word)
    return dict(spec.parameters) if spec.name == RECORDED else load(Reviewer, word)


@click.command("review")
@click.argument("dataset")
@click.argument("reviewers", nargs=-1, required=True)
@click.option("-o", "--run", "run", required=True, type=click.Path(file_okay=False), help="The run folder.")
@from_option
@stage_option
@click.option(
    "--attempts", default=1, show_default=True, type=click.IntRange(min=1), help="How often each case is reviewed."
)
@workers_option
@click.option("--retry-failed", is_flag=True, help="Do what is missing, and try again what failed before.")
@only_option
@seed_option
@model_options
@json_option
def command(
    dataset: str,
    reviewers: Sequence[str],
    run: str,
    source: str | None,
    stages: Sequence[str],
    attempts: int,
    workers: int | None,
    retry_failed: bool,
    only: Sequence[str],
    seed: int,
    models: ModelOptions,
    as_json: bool,
) -> None:
    """Run REVIEWERS on every case of DATASET and keep their reviews in a run folder.

    DATASET is a name (reviewbench list datasets) or a JSON lines file. A reviewer is a spec such as silent or
    'replay(path="my-tool.sarif")'. The word recorded imports the reviews that came with the data set. Killed or
    interrupted, the same command goes on where it stopped. Ctrl-C finishes what is in flight, twice stops at once.
    """
    with stoppable() as stop:
        with progress_bar("reviewing", quiet=as_json) as progress:
            result = review(
                dataset,
                *reviewers,
                run=run,
                source=source,
                stages=stages,
                attempts=attempts,
                workers=workers,
                retry_failed=retry_failed,
                only=only,
                seed=seed,
                models=models,
                stop=stop,
                progress=progress,
            )
        emit(result, as_json, lambda: _summary(result))
        end(stop)
        if any(_came_to_nothing(totals) for totals in result.totals):
            raise click.exceptions.Exit(1)


def _came_to_nothing(totals: ReviewTotals) -> bool:
    """Whether all that a reviewer has in the run by now are failures."""
    reviewed = totals.done + totals.skipped - totals.failed_before
    return not reviewed and not totals.left and bool(totals.failed or totals.failed_before)


def _summary(result: ReviewResult) -> str:
    lines = [_line(totals, result.spending) for totals in result.totals]
    for line in counted_notes(result):
        note(line)
    for totals in result.totals:
        tell_reasons(totals.reasons)
    remarks = [drop for drop in result.notes if drop.by != LABELS]
    if remarks:
        word = result.dataset.partition(" | ")[0]
        note(f"note: {_count(len(remarks), 'remark')} on the data: reviewbench info {word} shows them")
    lines += [result.spending.sentence] if result.spending.sentence else []
    if not result.spending.estimated:
        where = f"{result.dataset}, {_count(result.cases, 'case')}, benchmark {result.benchmark[:12]}"
        lines.append(f"{result.run}: {where}")
        lines += _next(result)
    from rich.markup import escape

    return escape("\n".join(lines))


def _next(result: ReviewResult) -> list[str]:
    """What to do now. What was stopped says so itself."""
    if any(totals.stopped for totals in result.totals):
        return []
    failed = sum(sum(totals.failed.values()) + totals.failed_before for totals in result.totals)
    nothing = [", ".join(totals.systems) for totals in result.totals if _came_to_nothing(totals)]
    lines = [f"{who}: every review failed; {result.run}/reviews.jsonl says why" for who in nothing]
    if failed:
        lines.append(f"{failed} failed: the same command with --only failed tries them again")
    return lines if len(nothing) == len(result.totals) else [*lines, f"next: reviewbench score {result.run} hits"]


def _line(totals: ReviewTotals, spent: Spending) -> str:
    """What one reviewer did, or all recorded systems."""
    who = ", ".join(totals.systems[:NAMED])
    if len(totals.systems) > NAMED:
        who += f" and {len(totals.systems) - NAMED} more systems"
    if spent.estimated:
        return f"{who}: {_count(totals.left, 'review')} to make"
    failed = sum(totals.failed.values())
    parts = [f"{_count(totals.done, 'review')} with {_count(totals.comments, 'comment')}"]
    if failed:
        kinds = ", ".join(f"{kind} {n}" for kind, n in totals.failed.items())
        parts.append(f"{failed} failed ({kinds})")
    if totals.skipped:
        before = f", {totals.failed_before} of them failures" if totals.failed_before else ""
        parts.append(f"{totals.skipped} already there{before}")
    parts += left_words(totals.stopped, totals.left)
    if totals.cost.calls and not spent.sentence:
        price = "price unknown" if totals.cost.dollars is None else f"${totals.cost.dollars:.2f}"
        parts.append(f"{totals.cost.calls} model calls, {price}")
    return f"{who}: {'; '.join(parts)}; {totals.seconds:.1f} s"


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def counted_notes(result: ReviewResult) -> list[str]:
    """What was dropped or could not be used, most frequent reason first, with how often and one example."""
    labels = [drop for drop in result.notes if drop.by == LABELS]  # info reads no labels
    drops = [*result.dropped, *labels, *(drop for totals in result.totals for drop in totals.drops)]
    by_reason: dict[tuple[str, str], list[str]] = {}
    for drop in drops:
        by_reason.setdefault((drop.by, drop.reason), []).append(drop.item)
    ranked = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    lines = [
        f"note: {by}: {reason} ({items[0] if len(items) == 1 else f'{len(items)} times, first {items[0]}'})"
        for (by, reason), items in ranked[:12]
    ]
    if len(ranked) > 12:
        lines.append(f"note: {len(ranked) - 12} more kinds of notes; --json has all")
    return lines
