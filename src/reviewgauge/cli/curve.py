"""`reviewgauge curve`: how good several attempts are together, by their number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from reviewgauge.api.curve import CurveResult, curve
from reviewgauge.cli.options import json_option, model_options, seed_option
from reviewgauge.cli.output import run_stoppable
from reviewgauge.views.terminal.curves import curve_table


@click.command("curve")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("--system", "systems", multiple=True, help="Whose attempts; given again, they are mixed.")
@click.option("--metric", default="hits", show_default=True, help="What is measured.")
@click.option("--judge", default="lexical", show_default=True, help="Says which comments of two attempts are the same.")
@click.option("--least", default=0, help="Votes that a finding needs.  [default: more than half]")
@click.option("--model", default="", help="Also let this model put the attempts together.")
@click.option("-n", "--attempts", "sizes", multiple=True, type=int, help="How many attempts; may be given again.")
@click.option("--subsets", default=20, show_default=True, help="Random subsets of each number of attempts.")
@click.option("-o", "--out", type=click.Path(dir_okay=False), help="Also write an HTML page with plots.")
@click.option("--resamples", default=10_000, show_default=True, help="Bootstrap resamples.")
@seed_option
@model_options
@json_option
def command(run: str, as_json: bool, sizes: Sequence[int], out: str | None, **options: Any) -> None:
    """Show how good 1, 2, 3 ... attempts are together, from the attempts that RUN holds (`review --attempts 10`).

    Votes keep what more than half of the attempts say. Nothing is reviewed again, and RUN is not changed.
    """
    work = partial(curve, run, sizes=tuple(sizes), out=out, **options)
    run_stoppable("curve", work, as_json, partial(_shown, out=out))


def _shown(result: CurveResult, out: str | None) -> list[object]:
    parts: list[object] = [curve_table(result.curve)] if result.curve is not None else []
    parts += [result.spending.sentence] if result.spending.sentence else []
    parts += [f"{out}: the curve as a page; open it in a browser"] if out and result.curve is not None else []
    return parts or ["Dry run: no model would be asked."]
