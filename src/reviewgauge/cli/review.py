"""`reviewgauge review`: benchmark x reviewers, or recorded reviews, into a run folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from reviewgauge.api.review import ReviewResult, review
from reviewgauge.cli.options import (
    from_option,
    json_option,
    model_options,
    only_option,
    seed_option,
    stage_option,
    workers_option,
)
from reviewgauge.cli.output import emit, end, left_words, note, note_reasons, progress_bar, stoppable
from reviewgauge.engine.review import ReviewTotals
from reviewgauge.engine.run.spending import Spending

LABELS = "labels"  # names left out what was not a label
NAMED = 20  # more systems than this are counted, not named


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
def command(dataset: str, reviewers: Sequence[str], as_json: bool, **options: Any) -> None:
    """Run REVIEWERS on every case of DATASET and keep their reviews in a run folder.

    DATASET is a name (reviewgauge list datasets) or a JSON lines file. A reviewer is a spec such as silent or
    'replay(path="my-tool.sarif")'. The word recorded imports the reviews that came with the data set. Killed or
    interrupted, the same command goes on where it stopped. Ctrl-C finishes what is in flight, twice stops at once.
    """
    with stoppable() as stop:
        with progress_bar("reviewing", quiet=as_json) as progress:
            result = review(dataset, *reviewers, stop=stop, progress=progress, **options)
        emit(result, as_json, lambda: _summary(result))
        end(stop)
        if any(_all_failed(totals) for totals in result.totals):
            raise click.exceptions.Exit(1)


def _all_failed(totals: ReviewTotals) -> bool:
    """Whether all that a reviewer has in the run by now are failures."""
    reviewed = totals.done + totals.skipped - totals.failed_before
    return not reviewed and not totals.left and bool(totals.failed or totals.failed_before)


def _summary(result: ReviewResult) -> str:
    lines = [_line(totals, result.spending) for totals in result.totals]
    for line in counted_notes(result):
        note(line)
    for totals in result.totals:
        note_reasons(totals.reasons)
    remarks = [drop for drop in result.notes if drop.by != LABELS]
    if remarks:
        word = result.dataset.partition(" | ")[0]
        note(f"note: {_count(len(remarks), 'remark')} on the data: reviewgauge info {word} shows them")
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
    nothing = [", ".join(totals.systems) for totals in result.totals if _all_failed(totals)]
    lines = [f"{names}: every review failed; {result.run}/reviews.jsonl says why" for names in nothing]
    if failed:
        lines.append(f"{failed} failed: the same command with --only failed tries them again")
    return lines if len(nothing) == len(result.totals) else [*lines, f"next: reviewgauge score {result.run} hits"]


def _line(totals: ReviewTotals, spent: Spending) -> str:
    """What one reviewer did, or all recorded systems."""
    names = ", ".join(totals.systems[:NAMED])
    if len(totals.systems) > NAMED:
        names += f" and {len(totals.systems) - NAMED} more systems"
    if spent.estimated:
        return f"{names}: {_count(totals.left, 'review')} to make"
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
    return f"{names}: {'; '.join(parts)}; {totals.seconds:.1f} s"


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
