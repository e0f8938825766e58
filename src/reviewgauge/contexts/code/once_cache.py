"""Values that take long to make and that several threads ask for: each is made once, few at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from reviewgauge.repo.processes import RecentlyUsed

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class OnceCache(Generic[_Key, _Value]):
    """The `most` values that were used last. `at_once` are made at a time: an index takes much memory."""

    def __init__(self, most: int, at_once: int = 1) -> None:
        self._held: RecentlyUsed[_Key, _Value] = RecentlyUsed(most)
        self._guard = threading.Lock()
        self._making: dict[_Key, threading.Lock] = {}
        self._places = threading.BoundedSemaphore(at_once)

    def of(self, key: _Key, make: Callable[[], _Value]) -> _Value:
        """The value of `key`, made where it is not held; who asks meanwhile waits for it."""
        value = self._held.get(key)
        if value is not None:
            return value
        with self._guard:
            mine = self._making.setdefault(key, threading.Lock())
        with mine, self._places:
            value = self._held.of(key, make)
        with self._guard:
            self._making.pop(key, None)
        return value
