"""`reviewbench review`: benchmark x reviewers, or recorded reviews, into a run folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

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
from reviewbench.cli._words import dataset_label, find_dataset, find_stages, staged_label
from reviewbench.core.base import Record
from reviewbench.core.errors import NeedsCode, UserError
from reviewbench.core.plugins import load, parse_spec
from reviewbench.core.protocols import Dataset, Reviewer, Stage
from reviewbench.core.results import Drop
from reviewbench.engine.executors import Serial, Threads
from reviewbench.engine.review import ReviewTotals, import_reviews
from reviewbench.engine.review import review as run_reviewer
from reviewbench.engine.stages import apply_stages
from reviewbench.engine.store import RunFolder

RECORDED = "recorded"
LABELS = "labels"  # who left out what was no label
NAMED = 20  # more systems than this are counted, not named


class ReviewResult(Record):
    """What a review did: one entry of totals per reviewer, or one for all recorded systems together."""

    schema_version: int = 1
    run: str
    dataset: str
    benchmark: str
    cases: int
    totals: tuple[ReviewTotals, ...]
    notes: tuple[Drop, ...] = ()
    dropped: tuple[Drop, ...] = ()


def review(
    dataset: str | Dataset,
    *reviewers: str | Reviewer,
    run: str | Path,
    source: str | Path | None = None,
    stages: Sequence[str | Stage] = (),
    attempts: int = 1,
    workers: int = 2,
    retry_failed: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> ReviewResult:
    """Let reviewers review every case of a data set, resuming what `run` holds already.

    The reviewer `recorded` stands for the reviews that came with the data set, all systems at once. `source` is the
    folder that holds the data set's files. `stages` narrow its cases first, and every drop is counted.
    """
    if not reviewers:
        raise UserError("no reviewer given", remedy="reviewbench list reviewers")
    found = find_dataset(dataset, source)
    plan = [word if isinstance(word, Reviewer) else _parse(word) for word in reviewers]
    narrowing = find_stages(stages)
    cases, drops = apply_stages(found.cases(), narrowing)
    with RunFolder.create(
        run,
        dataset=staged_label(found, narrowing),
        dataset_path=_as_given(dataset, found, source),
        cases=cases,
        seed=seed,
    ) as folder:
        totals = []
        for reviewer in plan:
            if isinstance(reviewer, dict):
                totals.append(_import(folder, found, reviewer, progress))
                continue
            try:
                done = run_reviewer(
                    folder,
                    reviewer,
                    executor=Threads(workers) if workers > 1 else Serial(),
                    attempts=attempts,
                    retry_failed=retry_failed,
                    progress=progress,
                )
            except NeedsCode as error:
                raise NeedsCode(error.what, dataset_label(found), found.code_remedy()) from None
            totals.append(done)
        manifest = folder.manifest
    return ReviewResult(
        run=str(run),
        dataset=manifest.dataset,
        benchmark=manifest.benchmark,
        cases=manifest.cases,
        totals=tuple(totals),
        notes=tuple(found.notes()),
        dropped=tuple(drops),
    )


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
@click.option(
    "--workers", default=2, show_default=True, type=click.IntRange(min=1), help="How many cases are reviewed at once."
)
@click.option("--retry-failed", is_flag=True, help="Try cases again that failed before.")
@seed_option
@json_option
def command(
    dataset: str,
    reviewers: Sequence[str],
    run: str,
    source: str | None,
    stages: Sequence[str],
    attempts: int,
    workers: int,
    retry_failed: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Run REVIEWERS on every case of DATASET and keep their reviews in a run folder.

    DATASET is a name (reviewbench list datasets) or a JSON lines file. A reviewer is a spec such as silent or
    'replay(path="my-tool.sarif")'. The word recorded imports the reviews that came with the data set. Killed or
    interrupted, the same command goes on where it stopped.
    """
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
            seed=seed,
            progress=progress,
        )
    emit(result, as_json, lambda: _summary(result))


def _summary(result: ReviewResult) -> str:
    lines = []
    for totals in result.totals:
        who = ", ".join(totals.systems[:NAMED])
        if len(totals.systems) > NAMED:
            who += f" and {len(totals.systems) - NAMED} more systems"
        failed = sum(totals.failed.values())
        parts = [f"{_count(totals.done, 'review')} with {_count(totals.comments, 'comment')}"]
        if failed:
            kinds = ", ".join(f"{kind} {n}" for kind, n in totals.failed.items())
            parts.append(f"{failed} failed ({kinds})")
        if totals.skipped:
            before = f", {totals.failed_before} of them failures" if totals.failed_before else ""
            parts.append(f"{totals.skipped} already there{before}")
        if totals.cost.calls:
            price = "price unknown" if totals.cost.dollars is None else f"${totals.cost.dollars:.2f}"
            parts.append(f"{totals.cost.calls} model calls, {price}")
        lines.append(f"{who}: {'; '.join(parts)}; {totals.seconds:.1f} s")
    for line in counted_notes(result):
        note(line)
    remarks = [drop for drop in result.notes if drop.by != LABELS]
    if remarks:
        word = result.dataset.partition(" | ")[0]
        note(f"note: {_count(len(remarks), 'remark')} on the data: reviewbench info {word} shows them")
    lines.append(f"{result.run}: {result.dataset}, {_count(result.cases, 'case')}, benchmark {result.benchmark[:12]}")
    lines.append(f"next: reviewbench score {result.run} hits")
    from rich.markup import escape

    return escape("\n".join(lines))


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
