"""`reviewgauge review`: benchmark x reviewers, or recorded reviews, into a run folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from reviewgauge.api.review import ReviewResult, review
from reviewgauge.cli.options import (
    from_option,
    json_option,
    model_options,
    only_option,
    seed_option,
    settings_in_force,
    stage_option,
    verb,
    workers_option,
)
from reviewgauge.cli.output import note, note_reasons, run_stoppable
from reviewgauge.core.results import Drop
from reviewgauge.views.figures import counted
from reviewgauge.views.terminal.closing import after_review, drop_notes, review_line

LABELS = "labels"  # names left out what was not a label


@verb("review")
@click.argument("dataset")
@click.argument("reviewers", nargs=-1, required=True)
@click.option("-o", "--run", "run", required=True, type=click.Path(file_okay=False), help="The run folder.")
@from_option
@stage_option
@click.option("--limit", type=click.IntRange(min=1), help="Only the first cases: the stage first at the end of all.")
@click.option("--train", metavar="DATASET", help="Learn from these cases, never from one under review (bm25_knn, ...).")
@click.option(
    "--attempts", default=1, show_default=True, type=click.IntRange(min=1), help="How often each case is reviewed."
)
@workers_option
@only_option
@seed_option
@model_options
@json_option
def command(dataset: str, reviewers: Sequence[str], as_json: bool, **options: Any) -> int:
    """Run REVIEWERS on every case of DATASET and keep their reviews in a run folder.

    DATASET is a name (reviewgauge list datasets) or a JSON lines file. A reviewer is a spec such as silent or
    'replay(path="my-tool.sarif")'. The word recorded imports the reviews that came with the data set. Killed or
    interrupted, the same command goes on where it stopped. Ctrl-C finishes what is in flight, twice stops at once.
    """
    work = partial(review, dataset, *reviewers, names=settings_in_force().names, **options)
    result = run_stoppable("reviewing", work, as_json, _shown)
    return int(any(totals.all_failed for totals in result.totals))


def _shown(result: ReviewResult) -> str:
    for line in drop_notes(all_drops(result)):
        note(line)
    note_reasons(result.totals)
    remarks = [drop for drop in result.notes if drop.by != LABELS]
    if remarks:
        word = result.dataset.partition(" | ")[0]
        note(f"note: {counted(len(remarks), 'remark')} on the data: reviewgauge info {word} shows them")
    lines = [review_line(totals, result.spending) for totals in result.totals]
    lines += [result.spending.sentence] if result.spending.sentence else []
    if not result.spending.estimated:
        where = f"{result.dataset}, {counted(result.cases, 'case')}, benchmark {result.benchmark[:12]}"
        lines += [f"{result.run}: {where}", *after_review(result.run, result.totals, result.metrics)]
    return "\n".join(lines)


def all_drops(result: ReviewResult) -> list[Drop]:
    """What was dropped or could not be used."""
    labels = [drop for drop in result.notes if drop.by == LABELS]  # info reads no labels
    return [*result.dropped, *labels, *(drop for totals in result.totals for drop in totals.drops)]
