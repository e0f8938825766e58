"""Who does the work: this thread, several threads for waiting, several processes for computing.

`Executor.map(fn, items)` yields (index, value or Failure) **as they finish**, not in order: a finished review is
recorded at once and never waits behind a slow one. An exception of `fn` is a Failure of its item. Once `stop` is set
no further item is handed out, and what is in flight is finished and yielded. A KeyboardInterrupt is not caught: it
stops handing out items and leaves what was yielded in the caller's hands.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar

from reviewgauge.core.errors import BadInput, UserError, hide_secrets, one_line
from reviewgauge.core.results import Failed, Failure, FailureKind
from reviewgauge.engine.run.interruption import Interruption

A = TypeVar("A")
B = TypeVar("B")


class Executor(Protocol):
    """Runs a function over items. `workers` is how many it runs at a time."""

    @property
    def workers(self) -> int:
        """How many items are worked on at a time."""

    def map(
        self, fn: Callable[[A], B], items: Sequence[A], stop: Interruption | None = None
    ) -> Generator[tuple[int, B | Failure], None, None]:
        """(index, value or Failure) of every item once, in the order in which they finish; once `stop` is set, of those
        that were begun.
        """


def failure_of(error: BaseException) -> Failure:
    """The Failure that stands for an exception: at what it broke, and its words on one line."""
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
    words = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
    return Failure(kind=kind, message=one_line(hide_secrets(words), 500))


def _attempt(fn: Callable[[A], B], item: A) -> B | Failure:
    try:
        return fn(item)
    except (Exception, SystemExit) as error:  # the boundary where a plug-in's bug becomes a record
        return failure_of(error)


@dataclass(frozen=True)
class Serial:
    """One item after the other, in this thread, in order."""

    @property
    def workers(self) -> int:
        """One."""
        return 1

    def map(
        self, fn: Callable[[A], B], items: Sequence[A], stop: Interruption | None = None
    ) -> Generator[tuple[int, B | Failure], None, None]:
        """See `Executor.map`."""
        for index, item in enumerate(items):
            if stop is not None and stop.is_set():
                return
            yield index, _attempt(fn, item)


@dataclass(frozen=True)
class Threads:
    """For work that waits. The threads are daemons: after Ctrl-C the program does not wait for a slow answer."""

    workers: int = 8

    def map(
        self, fn: Callable[[A], B], items: Sequence[A], stop: Interruption | None = None
    ) -> Generator[tuple[int, B | Failure], None, None]:
        """See `Executor.map`."""
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
                    finished.put((index, _attempt(fn, item)))
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


@dataclass(frozen=True)
class Processes:
    """For work that computes. Functions, items and values must pickle; workers are started afresh (spawn).

    A worker that dies (a segmentation fault, out of memory) or works longer than `timeout` seconds on one item costs
    that item alone: it is a Failure, and a new worker takes its place. Workers end when their parent does.
    """

    workers: int = 2
    timeout: float | None = None

    def map(
        self, fn: Callable[[A], B], items: Sequence[A], stop: Interruption | None = None
    ) -> Generator[tuple[int, B | Failure], None, None]:
        """See `Executor.map`."""
        waiting = _until(stop, items)
        crew = [_Worker(fn) for _ in range(min(self.workers, len(items)))]
        try:
            busy = [worker for worker in crew if worker.take(waiting)]
            while busy:
                for worker in _ready(busy, self.timeout):
                    index, value, alive = worker.result(self.timeout)
                    busy.remove(worker)
                    again = worker if alive else _Worker(fn)
                    if not alive:
                        worker.stop()
                        crew[crew.index(worker)] = again
                    if again.take(waiting):
                        busy.append(again)
                    yield index, value
        finally:
            for worker in crew:
                worker.stop()


def _until(stop: Interruption | None, items: Sequence[A]) -> Iterator[tuple[int, A]]:
    """(index, item), as long as nothing stops."""
    for index, item in enumerate(items):
        if stop is not None and stop.is_set():
            return
        yield index, item


class _Worker:
    """One process and the pipe to it. It knows which item it works on, so a death is blamed on the right one."""

    def __init__(self, fn: Callable[..., object]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(theirs, fn), daemon=True)
        self.process.start()
        theirs.close()
        self.index, self.since = -1, 0.0

    def take(self, waiting: Iterator[tuple[int, object]]) -> bool:
        """Start on the next item; False when there is none."""
        index, item = next(waiting, (-1, None))
        self.index, self.since = index, time.monotonic()
        if index < 0:
            return False
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # seen again as a death in `result`
            self.pipe.send(item)
        return True

    def overdue(self, timeout: float | None) -> bool:
        return timeout is not None and time.monotonic() - self.since > timeout

    def result(self, timeout: float | None) -> tuple[int, Any, bool]:
        """(index, value or Failure, whether the worker lives on)."""
        try:
            if self.pipe.poll():
                return self.index, self.pipe.recv(), True
        except (EOFError, ConnectionResetError):
            pass
        else:
            if self.process.is_alive() and self.overdue(timeout):
                message = f"no answer within {timeout:g} seconds"
                return self.index, Failure(kind=FailureKind.TIMEOUT, message=message), False
        self.process.join(5)
        code = self.process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return self.index, Failure(kind=FailureKind.CRASH, message=f"the worker process died ({how})"), False

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _ready(busy: Sequence[_Worker], timeout: float | None) -> list[_Worker]:
    """Wait until a worker has answered, has died or is overdue."""
    by_handle: dict[object, _Worker] = {}
    for worker in busy:
        by_handle[worker.pipe] = worker
        by_handle[worker.process.sentinel] = worker
    wait: float | None = None
    if timeout is not None:
        wait = max(0.0, min(worker.since for worker in busy) + timeout - time.monotonic()) + 0.01
    handles: list[Any] = list(by_handle)
    ready = {id(by_handle[handle]) for handle in connection.wait(handles, wait)}
    return [worker for worker in busy if id(worker) in ready or worker.overdue(timeout)]


def _serve(pipe: connection.Connection, fn: Callable[[object], object]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the parent is gone
        while True:
            value = _attempt(fn, pipe.recv())
            try:
                pipe.send(value)
            except (BrokenPipeError, ConnectionResetError):
                raise
            except Exception as error:  # a value that does not pickle
                pipe.send(failure_of(error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
