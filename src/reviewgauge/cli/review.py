"""`reviewgauge review`: benchmark x reviewers, or recorded reviews, into a run folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from reviewgauge.api.edit import EditResult, edit
from reviewgauge.api.review import ReviewResult, review
from reviewgauge.cli.options import (
    from_option,
    json_option,
    model_options,
    only_option,
    plugin_option,
    refuse,
    seed_option,
    settings_in_force,
    stage_option,
    verb,
    workers_option,
)
from reviewgauge.cli.output import note, note_reasons, run_stoppable
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Drop
from reviewgauge.engine.review import ReviewTotals
from reviewgauge.views.comparisons import comparison_table
from reviewgauge.views.figures import counted
from reviewgauge.views.gates import changed_tables
from reviewgauge.views.terminal.closing import after_review, drop_notes, review_line
from reviewgauge.views.terminal.documents import table_view

LABELS = "labels"  # names left out what was not a label


@verb("review")
@click.argument("dataset")
@click.argument("reviewers", nargs=-1)
@click.option("-o", "--run", "run", type=click.Path(file_okay=False), help="The run folder.")
@click.option("--edit", "edited", metavar="SYSTEM", help="New words for this prompt of the run DATASET, in $EDITOR.")
@click.option("--template", type=click.Path(exists=True, dir_okay=False), help="With --edit: a file with the words.")
@plugin_option
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
@click.pass_context
def command(
    ctx: click.Context,
    /,
    dataset: str,
    reviewers: Sequence[str],
    edited: str | None,
    template: str | None,
    plugins: Sequence[str],
    as_json: bool,
    **options: Any,
) -> int:
    """Run REVIEWERS on every case of DATASET and keep their reviews in a run folder.

    DATASET is a name (reviewgauge list datasets) or a JSON lines file. A reviewer is a spec such as silent or
    'replay(path="my-tool.sarif")'. The word recorded imports the reviews that came with the data set. Killed or
    interrupted, the same command goes on where it stopped. Ctrl-C finishes what is in flight, twice stops at once.

    review RUN --edit SYSTEM opens the words of a prompt in $EDITOR, reviews the same cases with the new words as
    SYSTEM-2, and shows the difference. Requests that stay the same are answered from the cache.
    """
    if edited is not None:
        refuse(ctx, "with --edit", "run", "source", "stages", "limit", "train", "attempts", "only", "seed")
        if len(reviewers) > 1:
            raise UserError("--edit takes one spec at most", remedy="leave the others out")
        spec = reviewers[0] if reviewers else None
        kept = {name: options[name] for name in ("workers", "models")}
        change = partial(edit, dataset, edited, template or _in_editor, reviewer=spec, plugins=plugins, **kept)
        done = run_stoppable("reviewing", change, as_json, _difference)
        return int(any(totals.all_failed for totals in done.totals))
    refuse(ctx, "without --edit", "template", "plugins")
    if options["run"] is None:
        raise click.MissingParameter(ctx=ctx, param_hint="'-o' / '--run'", param_type="option")
    work = partial(review, dataset, *reviewers, names=settings_in_force().names, **options)
    result = run_stoppable("reviewing", work, as_json, _shown)
    return int(any(totals.all_failed for totals in result.totals))


def _in_editor(text: str) -> str:
    """What the user makes of a text. Raises UserError without an editor."""
    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        raise UserError("there is no editor: EDITOR is not set", remedy="export EDITOR=nano, or --template FILE")
    try:
        return click.edit(text, extension=".txt", require_save=False) or ""
    except click.ClickException as error:
        raise UserError(f"the editor failed: {error.message}", remedy="set EDITOR, or --template FILE") from None


def _difference(result: EditResult) -> list[object]:
    note_reasons(result.totals)
    first = result.totals[0]
    parts: list[object] = [review_line(first, result.spending)] if isinstance(first, ReviewTotals) else []
    parts += [result.spending.sentence] if result.spending.sentence else []
    for table, changed in zip(result.comparisons, result.changes, strict=True):
        parts += map(table_view, (comparison_table(table), *changed_tables(changed)))
    return [*parts, f"{result.system} has the words of {result.template}, in {result.run}"]


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
