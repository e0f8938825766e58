"""One event loop in a daemon thread, and the way to it from synchronous code.

Hundreds of threads may wait here at once, so the way is short: work is handed over in a queue for which the loop is
woken once, however many put something in meanwhile, and each waits on a bare lock.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Errand(Generic[T]):
    """Work on its way to the loop, and what came of it."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._task: asyncio.Task[None] | None = None
        self._done = threading.Lock()
        self._done.acquire()
        self._value: T | None = None
        self._error: BaseException | None = None
        self._began = self.ended = False

    def start(self) -> None:
        """Begin. On the loop."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def cancel(self) -> None:
        """Stop; nobody waits any more. On the loop."""
        if self._task is not None:
            self._task.cancel()
        if not self._began:
            self._work.close()

    async def _run(self) -> None:
        self._began = True
        try:
            self._value = await self._work
        except BaseException as error:  # whatever it is, it is raised where it is waited for
            self._error = error
        finally:
            self.ended = True
            self._done.release()

    def wait(self) -> T:
        """The value, once it is there; raises what the work raised."""
        self._done.acquire()
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # its traceback leads here: no circle
        return self._value  # type: ignore[return-value]  # there was no error, so there is a value


class Background:
    """The loop of this process, and the thread that runs it."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._errands: deque[_Errand[Any]] = deque()
        self._ringing = False
        self._thread = threading.Thread(target=self.loop.run_forever, name="chat models", daemon=True)
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether this is the loop's own thread."""
        return threading.get_ident() == self._thread.ident

    def hand_over(self, errand: _Errand[Any]) -> None:
        """Have the loop start an errand."""
        self._errands.append(errand)
        if not self._ringing:
            self._ringing = True
            self.loop.call_soon_threadsafe(self._start_all)

    def give_up(self, errand: _Errand[Any]) -> None:
        """Have the loop stop an errand, wherever the one who handed it over was interrupted."""
        self.loop.call_soon_threadsafe(self._stop, errand)

    def _stop(self, errand: _Errand[Any]) -> None:
        self._start_all()
        errand.cancel()

    def _start_all(self) -> None:
        self._ringing = False  # first, so that what is put in from here on rings again
        while self._errands:
            self._errands.popleft().start()


_lock = threading.Lock()
_background: Background | None = None


def background() -> Background:
    """The background loop of this process, started when first asked for."""
    global _background  # noqa: PLW0603  (one loop a process)
    found = _background
    if found is None:
        with _lock:
            found = _background = _background or Background()
    return found


def _after_fork() -> None:
    """A child has its parent's loop without the thread that runs it, and maybe a lock that nobody holds any more."""
    global _lock, _background
    _lock, _background = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def run_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on the background loop and wait for it. Interrupting the wait cancels the work, and forgets it."""
    there = background()
    if there.is_here:
        work.close()
        raise RuntimeError("the background loop cannot wait for itself: await the model's `answer` there")
    errand = _Errand(work)
    try:
        there.hand_over(errand)
        return errand.wait()
    except BaseException:
        if not errand.ended:
            there.give_up(errand)
        raise
