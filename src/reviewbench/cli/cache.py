"""`reviewbench cache`: what is kept of the answers of models, taking it out, and writing it into a file."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from reviewbench.cli._output import emit, json_option
from reviewbench.core.base import Record
from reviewbench.core.errors import UserError
from reviewbench.engine.journal import write_error
from reviewbench.engine.store import RunFolder
from reviewbench.models._cache_contents import (
    calls_by_model,
    count_vectors,
    delete_calls,
    delete_vectors,
    is_of,
    size_of,
    stored_calls,
)
from reviewbench.models._call_cache import cache_file
from reviewbench.models.messages import Call

VECTORS = "vectors.sqlite"


class CachedModel(Record):
    """The answers of one model. `dollars` is what those cost whose price was known; `unpriced` counts the others."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float
    unpriced: int
    oldest: datetime
    newest: datetime


class CacheInfo(Record):
    """What the caches hold. `path` is empty where the cache is turned off; sizes in bytes."""

    schema_version: int = 1
    path: str
    bytes: int = 0
    calls: int = 0
    models: tuple[CachedModel, ...] = ()
    vectors_path: str = ""
    vectors_bytes: int = 0
    vectors: int = 0


class CacheCleared(Record):
    """How many calls and vectors were taken out of the cache."""

    schema_version: int = 1
    path: str
    calls: int = 0
    vectors: int = 0


class CallsExported(Record):
    """The file of calls that was written."""

    schema_version: int = 1
    path: str
    calls: int
    bytes: int


def cache() -> CacheInfo:
    """What the caches of answers and of vectors hold."""
    file = cache_file()
    if file is None:
        return CacheInfo(path="")
    vectors = file.with_name(VECTORS)
    models = calls_by_model(file) if file.exists() else []
    return CacheInfo(
        path=str(file),
        bytes=size_of(file),
        calls=sum(model.calls for model in models),
        models=tuple(CachedModel(**model._asdict()) for model in models),
        vectors_path=str(vectors),
        vectors_bytes=size_of(vectors),
        vectors=count_vectors(vectors) if vectors.exists() else 0,
    )


def clear(*, model: str | None = None, older_than: float | None = None, vectors: bool = False) -> CacheCleared:
    """Take answers out of the cache: all, those of one model, or those older than so many days.

    `vectors` takes out the vectors of texts instead. Raises UserError for a cache that is broken or locked.
    """
    if vectors and (model is not None or older_than is not None):
        raise UserError("vectors are taken out all together", remedy="leave --model and --older-than away")
    file = _file()
    if vectors:
        place = file.with_name(VECTORS)
        return CacheCleared(path=str(place), vectors=delete_vectors(place) if place.exists() else 0)
    before = None if older_than is None else datetime.now(UTC) - timedelta(days=older_than)
    return CacheCleared(path=str(file), calls=delete_calls(file, model, before) if file.exists() else 0)


def export(out: str | Path, *, model: str | None = None, run: str | Path | None = None) -> CallsExported:
    """Write the calls of the cache, or those that a run recorded, as JSON lines; `out` may end in .gz.

    Any --replay takes such a file. Calls of a run are written once each, as the run used them last.
    """
    if run is not None:
        last = {call.key: call for call in RunFolder.open(run).calls()}
        found: Iterable[Call] = (call for call in last.values() if model is None or is_of(call.model, model))
        source = str(run)
    else:
        file = _file()
        found = stored_calls(file, model) if file.exists() else ()
        source = str(file)
    path = Path(out)
    count = _write(path, found)
    if not count:
        path.unlink()
        whose = f" of {model}" if model is not None else ""
        raise UserError(f"{source} holds no calls{whose}", remedy="reviewbench cache info shows what there is")
    return CallsExported(path=str(path), calls=count, bytes=path.stat().st_size)


def _write(path: Path, calls: Iterable[Call]) -> int:
    """Write the calls; a file is there whole or not at all."""
    temporary = path.with_name(path.name + ".tmp")
    count = 0
    try:
        with temporary.open("wb") as out:
            packed = gzip.GzipFile("", "wb", fileobj=out, mtime=0) if path.suffix == ".gz" else out
            with packed:
                for call in calls:
                    packed.write(call.to_line())
                    count += 1
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise write_error(path, error) from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return count


def _file() -> Path:
    file = cache_file()
    if file is None:
        raise UserError("the cache is turned off", remedy="REVIEWBENCH_CACHE names the folder that it lies in")
    return file


# --- the command ---------------------------------------------------------------------------------------------------


class Cache(click.Group):
    """Its help shows every sub-command in full."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """All of it on one page."""
        super().format_help(ctx, formatter)
        for name, sub in self.commands.items():
            formatter.write_paragraph()
            sub.format_help(click.Context(sub, info_name=name, parent=ctx), formatter)


@click.group("cache", cls=Cache, no_args_is_help=True)
def command() -> None:
    """Show, clear or export the answers of models that are kept, so that no call is paid for twice."""


@command.command("info")
@json_option
def info_command(as_json: bool) -> None:
    """Show what the cache holds: calls, tokens and dollars by model, and vectors."""
    found = cache()

    def show() -> object:
        from rich.console import Group
        from rich.markup import escape

        if not found.path:
            return "the cache is turned off (REVIEWBENCH_CACHE=off)"
        lines = f"{found.path}: {found.calls:,} calls, {_size(found.bytes)}"
        vectors = f"{found.vectors_path}: {found.vectors:,} vectors, {_size(found.vectors_bytes)}"
        parts: list[object] = [escape(lines), *([_table(found)] if found.models else []), escape(vectors)]
        return Group(*parts)  # type: ignore[arg-type]  # things that rich can print

    emit(found, as_json, show)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} KB"


def _table(found: CacheInfo) -> object:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    from reviewbench.models._ledger import money

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
@click.option("--vectors", is_flag=True, help="The vectors of texts instead of calls.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def clear_command(model: str | None, older_than: float | None, vectors: bool, yes: bool, as_json: bool) -> None:
    """Take calls out of the cache. What is asked for again is then paid for again."""
    if not yes:
        if not sys.stdin.isatty():
            raise UserError("this takes answers out that were paid for", remedy="say --yes")
        click.confirm("Take these answers out of the cache?", abort=True, err=True)
    result = clear(model=model, older_than=older_than, vectors=vectors)

    def show() -> object:
        from rich.markup import escape

        gone = f"{result.vectors:,} vectors" if vectors else f"{result.calls:,} calls"
        return escape(f"{result.path}: {gone} taken out")

    emit(result, as_json, show)


@command.command("export")
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False), help="calls.jsonl, or calls.jsonl.gz.")
@click.option("--model", help="Only calls of this model: a spec, or a model's name.")
@click.option("--run", type=click.Path(exists=True, file_okay=False), help="The calls that this run recorded.")
@json_option
def export_command(out: str, model: str | None, run: str | None, as_json: bool) -> None:
    """Write calls as JSON lines, for --replay on another machine. They hold the prompts, and so the code in them."""
    result = export(out, model=model, run=run)

    def show() -> object:
        from rich.markup import escape

        return escape(f"{result.path}: {result.calls:,} calls, {_size(result.bytes)}")

    emit(result, as_json, show)
