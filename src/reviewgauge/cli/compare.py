"""`reviewgauge compare`: systems on the cases that they share, or the attempts of one run put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import click

from reviewgauge.api.compare import compare, rankings
from reviewgauge.api.curve import CurveResult, curve
from reviewgauge.cli.options import (
    MODEL_OPTIONS,
    json_option,
    model_options,
    refuse,
    resamples_option,
    seed_option,
    table_options,
    verb,
)
from reviewgauge.cli.output import emit, run_stoppable, write_tables
from reviewgauge.engine.run.model_options import ModelOptions
from reviewgauge.views.comparisons import comparison_table
from reviewgauge.views.curve import curve_document
from reviewgauge.views.gates import rankings_document
from reviewgauge.views.table_files import titled_comparison
from reviewgauge.views.terminal.documents import document_view, table_view


@verb("compare")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("--system", "systems", multiple=True, help="Compare only this system; give two for one comparison.")
@click.option("--metric", help="The metric to compare by (default: all that the runs were scored with).")
@click.option("--measure", "measures", multiple=True, help="A measure to compare, such as recall; may be given again.")
@click.option("--all-pairs", "every_pair", is_flag=True, help="Every pair, not only each system against the leader.")
@click.option("--rankings", "ranked", is_flag=True, help="Whether runs of several benchmarks rank systems alike.")
@resamples_option
@seed_option
@click.option("--attempts", metavar="all|N,N...", help="How good so many attempts of a run are together, by votes.")
@click.option("--judge", default="lexical", show_default=True, help="Says which comments of two attempts are the same.")
@click.option("--least", default=0, help="Votes that a finding needs.  [default: more than half]")
@click.option("--model", default="", help="Also let this model put the attempts together.")
@click.option("-o", "--out", type=click.Path(dir_okay=False), help="With --attempts: also write a page with plots.")
@table_options
@model_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    runs: Sequence[str],
    attempts: str | None,
    judge: str,
    least: int,
    model: str,
    out: str | None,
    models: ModelOptions,
    as_json: bool,
    measures: Sequence[str],
    every_pair: bool,
    ranked: bool,
    metric: str | None,
    files: Mapping[str, str],
    **options: Any,
) -> None:
    """Compare the systems of one or more RUNS on the cases they share, with intervals and corrected p-values.

    --attempts shows how good 1, 2, 3 ... attempts are together, from those that a run holds (review --attempts 10).
    Votes keep what more than half of the attempts say. --rankings takes runs on different benchmarks. Nothing is
    reviewed again, and no run is changed.
    """
    if attempts is None:
        refuse(ctx, "without --attempts", "judge", "least", "model", "out", *MODEL_OPTIONS)
        if ranked:
            refuse(ctx, "with --rankings", "systems", "measures", "every_pair")
            options.pop("systems")
            order = rankings(*runs, metric=metric, **options)
            shown = rankings_document(order)
            write_tables(shown.tables.values(), files)
            emit(order, as_json, lambda: [document_view(shown)])
            return
        every: dict[str, Any] = {"measures": measures or None, "every_pair": every_pair, "metric": metric}
        result = compare(*runs, **every, **options)
        write_tables(map(titled_comparison, result), files)
        emit(result, as_json, lambda: [table_view(comparison_table(table)) for table in result])
        return
    refuse(ctx, "with --attempts", "measures", "every_pair", "ranked")
    if len(runs) > 1:
        raise click.UsageError("--attempts takes one run")
    asked: dict[str, Any] = {
        "metric": metric or "hits",
        "judge": judge,
        "least": least,
        "model": model,
        "sizes": _sizes(attempts),
    }
    work = partial(curve, runs[0], **asked, out=out, models=models, **options)
    write = partial(_write, files=files)
    run_stoppable("attempts", work, as_json, partial(_shown, out=out), note_first=write)


def _write(result: CurveResult, files: Mapping[str, str]) -> None:
    write_tables(curve_document(result.curve).tables.values() if result.curve is not None else (), files)


def _sizes(word: str) -> tuple[int, ...]:
    """`1,3,10`; none for `all`, which takes the usual ones."""
    if word == "all":
        return ()
    if not all(part.strip().isdecimal() for part in word.split(",")):
        raise click.BadParameter(f"{word!r} is neither all nor numbers such as 1,3,10", param_hint="--attempts")
    return tuple(int(part) for part in word.split(","))


def _shown(result: CurveResult, out: str | None) -> list[object]:
    parts: list[object] = [document_view(curve_document(result.curve))] if result.curve is not None else []
    parts += [result.spending.sentence] if result.spending.sentence else []
    parts += [f"{out}: the curve as a page; open it in a browser"] if out and result.curve is not None else []
    return parts or ["Dry run: no model would be asked."]
