"""`reviewgauge classify`: a model sorts the comments, references or changes of a run into classes."""

from __future__ import annotations

from typing import Any

import click

from reviewgauge.api.classify import classify
from reviewgauge.cli.options import json_option, model_options
from reviewgauge.cli.output import emit, note, progress_bar
from reviewgauge.engine.run.executors import CTRL_C, interruptible
from reviewgauge.judges.classes.classes import QUESTIONS
from reviewgauge.views.terminal.closing import classify_lines


@click.command("classify")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.argument("model")
@click.option("--what", type=click.Choice([*QUESTIONS]), default="category", show_default=True, help="What to sort by.")
@click.option(
    "--of", type=click.Choice(["comments", "references", "changes"]), help="What to sort (default: what fits)."
)
@click.option("--votes", default=1, show_default=True, help="Times that each is asked; more than half decide.")
@click.option(
    "--prompt",
    type=click.Choice(["fenced", "published"]),
    default="fenced",
    show_default=True,
    help="The paper's words to the letter, or with what is judged marked as data.",
)
@click.option(
    "--without-code", is_flag=True, help="Ask also where the diff hunk is missing, unlike the published setting."
)
@model_options
@json_option
def command(run: str, model: str, as_json: bool, **options: Any) -> int:
    """Let MODEL sort the comments, references or changes of RUN, and keep its votes as labels in the run.

    Items that the same model sorted in the same way before are skipped, so the same command goes on where it stopped.
    """
    with progress_bar("classifying", quiet=as_json) as progress, interruptible() as stop:
        result = classify(run, model, stop=stop, progress=progress, **options)
    emit(result, as_json, lambda: "\n".join(classify_lines(result.sorted, result.spending)))
    if not result.sorted.stopped:
        return int(bool(result.sorted.failed) and not result.sorted.done + result.sorted.skipped)
    note(f"stopped: {result.sorted.stopped}; {result.sorted.left} left: run the same command again to go on")
    return 130 if result.sorted.stopped == CTRL_C else 2
