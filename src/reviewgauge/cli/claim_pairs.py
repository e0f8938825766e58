"""`reviewgauge claim-pairs`: the claims of a strong model as training data for a small one."""

from __future__ import annotations

from collections.abc import Sequence

import click

from reviewgauge.api.claim_pairs import ClaimPairs, claim_pairs
from reviewgauge.cli.options import from_option, json_option
from reviewgauge.cli.output import emit, note


@click.command("claim-pairs")
@click.argument("benchmark")
@from_option
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False), help="The file, such as pairs.jsonl.")
@click.option(
    "--held-out",
    multiple=True,
    metavar="DATASET",
    help="Leave out its changes, on which the small model is to be tested; crscore_study always, where it is here.",
)
@json_option
def command(benchmark: str, out: str, held_out: Sequence[str], source: str | None, as_json: bool) -> None:
    """Write the claims that a model made on BENCHMARK as conversations to fine-tune a small model on.

    One JSON line a change, in the chat format of transformers and TRL. BENCHMARK is a benchmark or a run that was made
    with the stage add_claims and a model. The lines hold the prompts, and so the code in them.
    """
    result = claim_pairs(benchmark, out, held_out=held_out, source=source)
    for line in result.notes if not as_json else ():
        note(f"note: {line}")
    emit(result, as_json, lambda: "\n".join(_lines(result)))


def _lines(result: ClaimPairs) -> list[str]:
    by = ", ".join(f"{count:,} by {model}" for model, count in result.models.items())
    found = [f"{result.path}: {result.pairs:,} pairs ({by})"]
    if result.left_out:
        found.append("left out: " + ", ".join(f"{count:,} {why}" for why, count in result.left_out.items()))
    held_out = ", ".join(f"{name} ({count:,} cases)" for name, count in result.held_out.items())
    return [*found, f"held out: {held_out}"]
