"""What verbs print: results to standard output, progress and notes to standard error; and how they end early."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click
from pydantic import BaseModel

from reviewgauge.cli.main import GO_ON
from reviewgauge.core.document import Table
from reviewgauge.core.errors import one_line
from reviewgauge.core.files import write_named
from reviewgauge.core.protocols import Progress
from reviewgauge.core.secrets import hide_in, hide_secrets
from reviewgauge.engine.run.executors import interruptible
from reviewgauge.engine.run.progress import WorkTotals
from reviewgauge.views.table_files import table_files

R = TypeVar("R", bound=BaseModel)
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")
_INTERRUPTED = b"\ninterrupted: finishing what is in flight; Ctrl-C again stops at once\n"


def emit(
    result: BaseModel | Sequence[BaseModel], as_json: bool, show: Callable[[], object], *, whole_lines: bool = False
) -> None:
    """Print a result: as JSON when asked for, else as what `show` returns: something rich can print, or a list of such.

    Texts are printed as they are, without markup. `whole_lines` leaves long lines in one piece, for lists that people
    search line by line.
    """
    if as_json:
        data = (
            result.model_dump(mode="json")
            if isinstance(result, BaseModel)
            else [item.model_dump(mode="json") for item in result]
        )
        everything = sys.stdout.encoding.lower() in ("utf-8", "utf8")  # elsewhere escapes keep what "?" would lose
        text = json.dumps(hide_in(data), indent=2, ensure_ascii=not everything, allow_nan=False)
        click.echo(_UNPRINTABLE.sub(_escaped, text))
        return
    shown = show()
    if isinstance(shown, str) and shown.isascii() and len(shown) <= _width():  # rich is slow to import for a short line
        click.echo(harmless(hide_secrets(shown)))
        return
    from rich.console import Console

    console = Console(width=_width(), highlight=False)
    for part in shown if isinstance(shown, list) else [shown]:
        clean = harmless(hide_secrets(part)) if isinstance(part, str) else part
        command = isinstance(clean, str) and clean.startswith("$ ")  # to be copied: a break would end it
        console.print(clean, soft_wrap=whole_lines or command, crop=False, markup=False, emoji=False)


def _escaped(found: re.Match[str]) -> str:
    """A character that could steer a terminal, as JSON writes it in ASCII."""
    return found[0] if found[0].isprintable() or found[0] == "\n" else json.dumps(found[0])[1:-1]


def harmless(text: str) -> str:
    """`text` without terminal escapes and control characters; its line breaks stay."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def _width() -> int:
    """The columns that COLUMNS says; else 100, or those of the terminal when it has fewer."""
    if (stated := os.environ.get("COLUMNS", "")).isdecimal():
        return max(1, int(stated))
    return min(100, shutil.get_terminal_size((100, 24)).columns) if sys.stdout.isatty() else 100


def note(text: str) -> None:
    """One line to standard error; what in it came from data cannot steer the terminal."""
    click.echo(harmless(hide_secrets(text)).replace("\n", " "), err=True)


@contextmanager
def progress_bar(title: str, quiet: bool = False) -> Iterator[Progress]:
    """A progress bar on standard error; the callable takes (done, total, what). Silent when not a terminal.

    It shows the time that has passed and is left, and `what`: what failed, what was spent, what came last.
    """
    from rich import progress as rich
    from rich.console import Console

    console = Console(stderr=True)
    columns = (
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
        rich.TextColumn("{task.fields[what]}", style="dim", markup=False),  # names from data, brackets and all
    )
    with rich.Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True) as bar:
        task = bar.add_task(title, total=None, what="")

        def show(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, what=harmless(what[:60]))

        yield show


def write_tables(tables: Iterable[Table], files: Mapping[str, str]) -> None:
    """Write the tables of a result into the files that the user named, if any, and say which."""
    written = table_files(tables, **files) if any(files.values()) else {}
    for file, text in written.items():
        write_named(Path(file), text.encode())
    if written:
        note(f"written: {', '.join(written)}")
    elif any(files.values()):
        note("note: no table to write")


def run_stoppable(
    title: str,
    work: Callable[..., R],
    as_json: bool,
    show: Callable[[R], object],
    note_first: Callable[[R], None] = lambda result: None,
) -> R:
    """Do `work(stop=, progress=)` behind a progress bar and print its result, which `note_first` may comment on.

    The first Ctrl-C finishes what is in flight, and the exit code is 130; the second is KeyboardInterrupt. Raises what
    stopped the work.
    """
    with interruptible(lambda: os.write(2, _INTERRUPTED)) as stop:  # past Python's buffers: it is a signal handler
        with progress_bar(title, quiet=as_json) as progress:
            result = work(stop=stop, progress=progress)
        note_first(result)
        emit(result, as_json, lambda: show(result))
        if stop.error is not None:
            raise stop.error
        if stop.by_user:
            sys.stdout.flush()
            note(GO_ON)
            raise click.exceptions.Exit(130)
    return result


def note_reasons(totals: Iterable[WorkTotals], notes: Iterable[str] = ()) -> None:
    """Print `notes`, then the first failure of each kind."""
    for text in notes:
        note(f"note: {text}")
    for one in totals:
        for kind, message in one.reasons.items():
            note(f"note: failed ({kind}): {one_line(message, 300)}")
