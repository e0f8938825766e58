"""Each value once, whatever asks at the same time; an error is not kept."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from reviewgauge.contexts.code.once_cache import OnceCache


def test_threads_share_one_value_and_few_are_made_at_a_time() -> None:
    made: OnceCache[int, int] = OnceCache(10, at_once=2)
    calls: list[int] = []
    running, most, guard = 0, 0, threading.Lock()

    def make(key: int) -> int:
        nonlocal running, most
        with guard:
            running += 1
            most = max(most, running)
            calls.append(key)
        time.sleep(0.02)
        with guard:
            running -= 1
        return key * 2

    with ThreadPoolExecutor(12) as threads:
        found = list(threads.map(lambda n: made.of(n % 4, lambda: make(n % 4)), range(24)))
    assert found == [n % 4 * 2 for n in range(24)]
    assert sorted(calls) == [0, 1, 2, 3]
    assert most == 2


def test_an_error_is_not_kept_and_the_oldest_make_room() -> None:
    made: OnceCache[str, str] = OnceCache(2)
    with pytest.raises(ZeroDivisionError):
        made.of("a", lambda: str(1 // 0))
    assert made.of("a", lambda: "first") == "first"
    for key in "bc":
        made.of(key, lambda: "x")
    assert made.of("a", lambda: "again") == "again"
