"""How verbs end early: Ctrl-C finishes what is in flight, and what would break every further item ends the run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from reviewgauge.cli._output import note
from reviewgauge.core.errors import one_line
from reviewgauge.engine.run.interruption import Interruption, interruptible

F = TypeVar("F", bound=Callable[..., Any])
_TOLD = b"\ninterrupted: finishing what is in flight; Ctrl-C again stops at once\n"
_GO_ON = "interrupted: nothing finished is lost, run the same command again to go on"


def only_option(command: F) -> F:
    """The --only option of verbs that do what is missing of a run."""
    return click.option(
        "--only",
        multiple=True,
        metavar="failed|case=ID",
        help="Do this part alone: what failed before, or cases by id (* stands for any letters); may be given again.",
    )(command)


def workers_option(command: F) -> F:
    """The --workers option."""
    return click.option(
        "--workers",
        type=click.IntRange(min=1),
        help="How many reviews are worked on at once. [default: as many as --in-flight for what asks a model, else 2]",
    )(command)


def retry_option(command: F) -> F:
    """The --retry-failed option of verbs that measure."""
    words = "Measure what is missing, and again what failed before."
    return click.option("--retry-failed", is_flag=True, help=words)(command)


@contextmanager
def stoppable() -> Iterator[Interruption]:
    """Inside, the first Ctrl-C asks to stop and says so; the second is KeyboardInterrupt."""
    with interruptible(_tell) as stop:
        yield stop


def _tell() -> None:
    """Write past Python's buffers: this runs in a signal handler."""
    os.write(2, _TOLD)


def tell_reasons(reasons: Mapping[str, str]) -> None:
    """Say why something failed: the first failure of each kind."""
    for kind, words in reasons.items():
        note(f"note: failed ({kind}): {one_line(words, 300)}")


def left_words(stopped: str, left: int) -> Sequence[str]:
    """What the closing line says of a run that ended early."""
    return [f"{left} left undone"] if stopped and left else []


def end(stop: Interruption) -> None:
    """After the summary: raise what ended the run, if anything did. Ctrl-C is exit code 130."""
    if stop.error is not None:
        raise stop.error
    if stop.by_user:
        sys.stdout.flush()
        note(_GO_ON)
        raise click.exceptions.Exit(130)
