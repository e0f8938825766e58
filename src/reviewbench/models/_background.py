"""One event loop in a daemon thread, and the way to it from synchronous code."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: int | None = None  # that the loop runs in


def background_loop() -> asyncio.AbstractEventLoop:
    """The loop of this process, started when first asked for."""
    global _loop  # noqa: PLW0603  (one loop a process)
    with _lock:
        if _loop is None:
            loop = asyncio.new_event_loop()
            threading.Thread(target=_run, args=(loop,), name="chat models", daemon=True).start()
            _loop = loop
        return _loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    global _thread  # noqa: PLW0603
    _thread = threading.get_ident()
    loop.run_forever()


def _after_fork() -> None:
    """A child has its parent's loop without the thread that runs it, and maybe a lock that nobody holds any more."""
    global _lock, _loop, _thread
    _lock, _loop, _thread = threading.Lock(), None, None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def run_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on the background loop and wait for it. Interrupting the wait cancels the work, and forgets it."""
    loop = background_loop()
    if _thread == threading.get_ident():
        work.close()
        raise RuntimeError("the background loop cannot wait for itself: await the model's `answer` there")
    outcome: Future[T] = Future()
    task = _Task()
    try:
        loop.call_soon_threadsafe(task.start, _deliver(work, outcome))
        return outcome.result()
    except BaseException:
        if not outcome.done():
            loop.call_soon_threadsafe(task.cancel)
        raise


class _Task:
    """A task that is started and cancelled from another thread. Used on the loop only."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.get_running_loop().create_task(work)

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


async def _deliver(work: Coroutine[Any, Any, T], outcome: Future[T]) -> None:
    try:
        value = await work
    except BaseException as error:  # whatever it is, it is raised where it is waited for
        outcome.set_exception(error)
    else:
        outcome.set_result(value)
