"""What verbs print: results to standard output, progress and notes to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click
from pydantic import BaseModel

from reviewgauge.core.protocols import Progress

F = TypeVar("F", bound=Callable[..., Any])


def json_option(command: F) -> F:
    """The --json flag that every verb with a result has."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(command)


def from_option(command: F) -> F:
    """The --from option of verbs that read a data set."""
    return click.option(
        "--from", "source", type=click.Path(exists=True), help="The folder or file that holds the data set's files."
    )(command)


def seed_option(command: F) -> F:
    """The --seed option of verbs that draw at random."""
    return click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0))(command)


def stage_option(command: F) -> F:
    """The --stage option of verbs that read cases."""
    return click.option(
        "--stage", "stages", multiple=True, help="Narrow the cases by a stage, such as drop_large; may be given again."
    )(command)


def emit(
    result: BaseModel | Sequence[BaseModel], as_json: bool, show: Callable[[], object], *, whole_lines: bool = False
) -> None:
    """Print a result: as JSON when asked for, else as what `show` returns (something rich can print).

    `whole_lines` leaves long lines in one piece, for lists that people search line by line.
    """
    if as_json:
        data = (
            result.model_dump(mode="json")
            if isinstance(result, BaseModel)
            else [item.model_dump(mode="json") for item in result]
        )
        everything = sys.stdout.encoding.lower() in ("utf-8", "utf8")  # elsewhere escapes keep what "?" would lose
        click.echo(json.dumps(data, indent=2, ensure_ascii=not everything, allow_nan=False))
        return
    from rich.console import Console

    shown = show()
    console = Console(width=_width(), highlight=False)
    console.print(harmless(shown) if isinstance(shown, str) else shown, soft_wrap=whole_lines)


def harmless(text: str) -> str:
    """`text` without terminal escapes and control characters; its line breaks stay."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def _width() -> int | None:
    """At most 100 columns; what the terminal has when that is less. Not a terminal: 100."""
    import shutil

    return min(100, shutil.get_terminal_size((100, 24)).columns) if sys.stdout.isatty() else 100


def note(text: str) -> None:
    """One line to standard error; what in it came from data cannot steer the terminal."""
    click.echo(harmless(text).replace("\n", " "), err=True)


@contextmanager
def progress_bar(title: str, quiet: bool = False) -> Iterator[Progress]:
    """A progress bar on standard error; the callable takes (done, total, what). Silent when not a terminal.

    It shows the time that has passed and is left, the rate, and `what`: what failed, what was spent, what came last.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TextColumn("{task.fields[what]}", style="dim", markup=False),  # names from data, brackets and all
    )
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True) as bar:
        task = bar.add_task(title, total=None, what="", rate="")

        def show(done: int, total: int, what: str) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, total=total, what=harmless(what[:60]), rate=rate_words(speed))

        yield show


def rate_words(per_second: float | None) -> str:
    """`12/s`, `4.2/min`; empty where it is not known."""
    if not per_second:
        return ""
    return f"{per_second:.3g}/s" if per_second >= 1 else f"{per_second * 60:.2g}/min"
