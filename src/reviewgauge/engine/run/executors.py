"""Who does the work: this thread, or several threads for work that waits. A cluster is in workers.py.

`Executor.map(fn, items)` yields (index, value or Failure) **as they finish**, not in order: a finished review is
recorded at once and never waits behind a slow one. An exception of `fn` is a Failure of its item. Once `stop` is set
no further item is handed out, and what is in flight is finished and yielded. A KeyboardInterrupt is not caught: it
stops handing out items and leaves what was yielded in the caller's hands.
"""

from __future__ import annotations

import errno
import os
import queue
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import ClassVar, Protocol, TypeVar

from typing_extensions import override

from reviewgauge.core.errors import BadInput, UserError, crash_message, one_line
from reviewgauge.core.protocols import Progress
from reviewgauge.core.results import Failed, Failure, FailureKind
from reviewgauge.core.secrets import hide_secrets

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


_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EAGAIN}


@contextmanager
def interruptible(announce: Callable[[], object] | None = None) -> Iterator[Interruption]:
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


A = TypeVar("A")
B = TypeVar("B")


class Executor(Protocol):
    """Runs a function over items. `least` is how many small ones are worth handing to a worker together."""

    least: ClassVar[int] = 1

    @property
    def workers(self) -> int:
        """How many items are worked on at a time."""

    def map(
        self, fn: Callable[[A], B], items: Sequence[A], stop: Interruption | None = None
    ) -> Generator[tuple[int, B | Failure], None, None]:
        """(index, value or Failure) of every item once, in the order in which they finish; once `stop` is set, of those
        that were begun.
        """


def exhausted(error: BaseException) -> Failed | None:
    """The Failed that stops the run, where this machine ran out of files, memory, processes or disk; None elsewhere.

    The next case would fail on it too, and its failure would say nothing about the reviewer. A MemoryError may be due
    to this one case.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in _EXHAUSTED:
            what = os.strerror(seen.errno or 0).lower()
            remedy = "raise the limit (ulimit -a shows it) or lower --workers, and run the same command again"
            return Failed(FailureKind.CRASH, f"this machine ran out: {what}", remedy=remedy, stops=True)
        seen = seen.__cause__ or seen.__context__
    return None


def failure_of(error: BaseException) -> Failure:
    """The Failure for an exception: its kind, and its message on one line."""
    if isinstance(error, Failed):
        return error.failure
    if isinstance(error, TimeoutError):
        kind = FailureKind.TIMEOUT
    elif isinstance(error, ConnectionError) or type(error).__name__ in ("URLError", "HTTPError", "gaierror"):
        kind = FailureKind.NETWORK
    elif isinstance(error, BadInput):
        kind = FailureKind.UNREADABLE
    else:
        kind = FailureKind.CRASH
    message = str(error) if isinstance(error, UserError) else crash_message(error)
    return Failure(kind=kind, message=one_line(hide_secrets(message), 500))


def attempt(fn: Callable[[A], B], item: A) -> B | Failure:
    """What `fn` makes of an item, or the Failure that it ends in."""
    try:
        return fn(item)
    except (Exception, SystemExit) as error:  # the boundary where a plug-in's bug becomes a record
        return failure_of(error)


@dataclass(frozen=True)
class Serial(Executor):
    """One item after the other, in this thread, in order."""

    @property
    @override
    def workers(self) -> int:
        return 1

    @override
    def map(
        self, fn: Callable[[A], B], items: Sequence[A], stop: Interruption | None = None
    ) -> Generator[tuple[int, B | Failure], None, None]:
        for index, item in enumerate(items):
            if stop is not None and stop.is_set():
                return
            yield index, attempt(fn, item)


@dataclass(frozen=True)
class Threads(Executor):
    """For work that waits. The threads are daemons: after Ctrl-C the program does not wait for a slow answer."""

    workers: int = 8

    @override
    def map(
        self, fn: Callable[[A], B], items: Sequence[A], stop: Interruption | None = None
    ) -> Generator[tuple[int, B | Failure], None, None]:
        waiting = iter(enumerate(items))
        taking, unheard = threading.Lock(), threading.Event()
        finished: queue.SimpleQueue[tuple[int, B | Failure] | None] = queue.SimpleQueue()

        def work() -> None:
            try:
                while not unheard.is_set() and not (stop is not None and stop.is_set()):
                    with taking:
                        taken = next(waiting, None)
                    if taken is None:
                        return
                    index, item = taken
                    finished.put((index, attempt(fn, item)))
            finally:
                finished.put(None)

        at_work = min(self.workers, len(items))
        for _ in range(at_work):
            threading.Thread(target=work, daemon=True).start()
        try:
            while at_work:
                done = finished.get()
                if done is None:
                    at_work -= 1
                else:
                    yield done
        finally:
            unheard.set()
