"""A cache of what was used last, limited by weight instead of by number."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class RecentlyUsed(Generic[_Key, _Value]):
    """The values that were used last, up to a total weight. Safe to use from several threads."""

    def __init__(self, most: int) -> None:
        self._most, self._weight = most, 0
        self._lock = threading.Lock()
        self._held: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()

    def get(self, key: _Key) -> _Value | None:
        """The value of `key`; None where it is not held."""
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: _Key, value: _Value, weight: int = 1) -> None:
        """Hold a value; those not used for longest make room, all but the newest."""
        with self._lock:
            self._weight += weight - self._held.pop(key, (value, 0))[1]
            self._held[key] = (value, weight)
            while self._weight > self._most and len(self._held) > 1:
                self._weight -= self._held.popitem(last=False)[1][1]
