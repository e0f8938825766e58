"""What ends a run early: Ctrl-C, or an error that every further item would meet.

Executors check an `Interruption` before they hand out an item. Items in flight are finished and recorded, and the same
command goes on with the rest. A second Ctrl-C stops at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress

CTRL_C = "interrupted"


class Interruption:
    """Whether to stop, and why. Safe for several threads; once set, it stays set."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self.by_user = False
        self.error: UserError | None = None

    @property
    def why(self) -> str:
        """Why the run stopped, on one line; empty while it goes on."""
        if self.error is not None:
            return str(self.error)
        return CTRL_C if self.by_user else ""

    def is_set(self) -> bool:
        """Whether to stop."""
        return self._stop.is_set()

    def ask(self) -> None:
        """Stop because the user asked."""
        self.by_user = True
        self._stop.set()

    def stop(self, error: UserError) -> None:
        """Stop because of `error`; of several, the first counts."""
        if self.error is None:
            self.error = error
        self._stop.set()


@contextmanager
def interruptible(announce: Callable[[], None] | None = None) -> Iterator[Interruption]:
    """Turn the first Ctrl-C inside into `Interruption.ask`, and call `announce`; the next one is KeyboardInterrupt.

    `announce` runs in the signal handler: it must not print through a buffer. Outside of the main thread signals cannot
    be handled, and where Ctrl-C is ignored (a job in the background) it stays ignored.
    """
    interruption = Interruption()
    ours = threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT))
    if not ours:
        yield interruption
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if interruption.by_user:
            raise KeyboardInterrupt
        interruption.ask()
        if announce is not None:
            announce()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)


def abort_on_interrupt(stop: Interruption, progress: Progress | None) -> Progress:
    """`progress` for work that keeps nothing half done: after Ctrl-C the next step raises KeyboardInterrupt."""

    def show(done: int, total: int, what: str) -> None:
        if stop.by_user:
            raise KeyboardInterrupt
        if progress is not None:
            progress(done, total, what)

    return show
