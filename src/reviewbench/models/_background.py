"""One event loop in a daemon thread, and the way to it from synchronous code."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}  # by process id: a fork must not use its parent's loop


def background_loop() -> asyncio.AbstractEventLoop:
    """The loop of this process, started when first asked for."""
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="chat models", daemon=True).start()
            _loops[os.getpid()] = loop
        return loop


def run_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on the background loop and wait for it. Interrupting the wait cancels the work."""
    future = asyncio.run_coroutine_threadsafe(work, background_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
