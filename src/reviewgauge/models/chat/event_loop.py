"""One event loop in a daemon thread, and the way to it from synchronous code."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def background() -> asyncio.AbstractEventLoop:
    """The background loop of this process, started when first asked for."""
    global _loop  # noqa: PLW0603  (one loop a process)
    found = _loop
    if found is None:
        with _lock:
            if _loop is None:
                _loop = asyncio.new_event_loop()
                threading.Thread(target=_loop.run_forever, name="chat models", daemon=True).start()
            found = _loop
    return found


def _after_fork() -> None:
    """A child has its parent's loop without the thread that runs it, and maybe a lock that is held for ever."""
    global _lock, _loop, _parents_loop
    _lock, _loop, _parents_loop = threading.Lock(), None, _loop


_parents_loop: asyncio.AbstractEventLoop | None = None  # freed in the child, it would close what the parent uses
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def run_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on the background loop and wait for it. Interrupting the wait cancels the work."""
    loop = background()
    try:
        inside = asyncio.get_running_loop() is loop
    except RuntimeError:
        inside = False
    if inside:
        work.close()
        raise RuntimeError("the background loop cannot wait for itself: await the model's `answer` there")
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
