"""`reviewgauge classify`: a model sorts the comments, references or changes of a run into classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from reviewgauge.api.classify import ClassifyResult, classify
from reviewgauge.cli.options import json_option, model_options
from reviewgauge.cli.output import emit, note, progress_bar
from reviewgauge.engine.classify import Sorted
from reviewgauge.engine.run.executors import CTRL_C, interruptible
from reviewgauge.judges.classes.classes import QUESTIONS


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
    emit(result, as_json, lambda: shown(result))
    if not result.sorted.stopped:
        return int(bool(result.sorted.failed) and not result.sorted.done + result.sorted.skipped)
    note(f"stopped: {result.sorted.stopped}; {result.sorted.left} left: run the same command again to go on")
    return 130 if result.sorted.stopped == CTRL_C else 2


def shown(result: ClassifyResult) -> str:
    """The result in words, one fact a line."""
    found = result.sorted
    if result.spending.estimated:  # the classes of a rehearsal are the fake model's
        return "\n".join([*_left_out(found), result.spending.sentence])
    rows = [f"{found.dimension} of {found.of}, by {found.rater} ({found.setting}){': fake' if found.fake else ''}"]
    width = max((len(name) for name in found.classes), default=0)
    rows += [f"  {name:<{width}}  {count:>6,}" for name, count in _most_first(found.classes)]
    done = [f"{found.done:,} sorted"]
    done += [f"{found.skipped:,} sorted before"] if found.skipped else []
    rows.append("; ".join(done))
    if found.known:
        rows.append(
            f"as the data says, where it does: {found.agree:,} of {found.known:,} ({found.agree / found.known:.1%})"
        )
    rows += _left_out(found)
    rows += [
        f"{'undecided' if kind == 'undecided' else f'failed ({kind})'}: {count:,}, such as: {found.examples[kind]}"
        for kind, count in _most_first(found.failed)
    ]
    rows += [result.spending.sentence] if result.spending.sentence else []
    return "\n".join(rows)


def _left_out(found: Sorted) -> list[str]:
    rows = [f"not asked: {count:,} ({reason})" for reason, count in _most_first(found.left_out)]
    if any(reason.startswith("no diff hunk") for reason in found.left_out):
        rows.append("  --without-code asks without the hunk; such classes are not published ones")
    return rows


def _most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
