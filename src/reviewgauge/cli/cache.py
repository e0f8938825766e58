"""`reviewgauge cache`: show, clear or export the stored answers of models."""

from __future__ import annotations

import sys

import click

from reviewgauge.api.cache import CacheInfo, cache, clear, export
from reviewgauge.cli.options import WholeHelp, json_option
from reviewgauge.cli.output import emit
from reviewgauge.core.errors import UserError


@click.group("cache", cls=WholeHelp, no_args_is_help=True)
def command() -> None:
    """Show, clear or export the stored answers of models, which keep a call from being paid for twice."""


@command.command("info")
@json_option
def info_command(as_json: bool) -> None:
    """Show what the cache holds: calls, tokens and dollars by model, vectors, and indexes of code and runs."""
    found = cache()

    def show() -> object:
        if not found.path:
            return "the cache is turned off (REVIEWGAUGE_CACHE=off)"
        lines = f"{found.path}: {found.calls:,} calls, {_size(found.bytes)}"
        vectors = f"{found.vectors_path}: {found.vectors:,} vectors, {_size(found.vectors_bytes)}"
        indexes = f"{found.indexes_path}: {found.indexes:,} indexes of code and runs, {_size(found.indexes_bytes)}"
        return [lines, *([_table(found)] if found.models else []), vectors, indexes]

    emit(found, as_json, show)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} KB"


def _table(found: CacheInfo) -> object:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    from reviewgauge.models.request.budget import money

    table = Table("model", box=box.SIMPLE_HEAD)
    for name in ("calls", "tokens in", "tokens out", "cost", "oldest", "newest"):
        table.add_column(name, justify="right")
    for one in found.models:
        cost = money(one.dollars) if one.unpriced < one.calls else "unknown"
        table.add_row(
            escape(one.model),
            f"{one.calls:,}",
            f"{one.tokens_in:,}",
            f"{one.tokens_out:,}",
            f"{cost} + ?" if 0 < one.unpriced < one.calls else cost,
            f"{one.oldest:%Y-%m-%d}",
            f"{one.newest:%Y-%m-%d}",
        )
    return table


@command.command("clear")
@click.option("--model", help="Only calls of this model: a spec, or a model's name.")
@click.option("--older-than", type=click.FloatRange(min=0), metavar="DAYS", help="Only calls older than so many days.")
@click.option("--derived", is_flag=True, help="The vectors of texts and the indexes of code and runs instead of calls.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def clear_command(model: str | None, older_than: float | None, derived: bool, yes: bool, as_json: bool) -> None:
    """Delete calls from the cache; the same questions are then paid for again. Or what is derived from texts."""
    if not yes:
        what = "vectors and indexes, which are made again when needed" if derived else "answers that were paid for"
        if not sys.stdin.isatty():
            raise UserError(f"this deletes {what}", remedy="confirm with --yes")
        click.confirm(f"Delete {what}?", abort=True, err=True)
    result = clear(model=model, older_than=older_than, derived=derived)
    gone = f"{result.vectors:,} vectors, {result.indexes:,} indexes" if derived else f"{result.calls:,} calls"
    emit(result, as_json, lambda: f"{result.path}: {gone} deleted")


@command.command("export")
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False), help="calls.jsonl, or calls.jsonl.gz.")
@click.option("--model", help="Only calls of this model: a spec, or a model's name.")
@click.option("--run", type=click.Path(exists=True, file_okay=False), help="The calls that this run recorded.")
@json_option
def export_command(out: str, model: str | None, run: str | None, as_json: bool) -> None:
    """Write calls as JSON lines, for --replay on another machine. They hold the prompts, and so the code in them."""
    result = export(out, model=model, run=run)
    emit(result, as_json, lambda: f"{result.path}: {result.calls:,} calls, {_size(result.bytes)}")
