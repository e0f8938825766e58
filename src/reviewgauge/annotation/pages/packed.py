"""A memory of what takes long to make, compressed and bounded: raters see the same diffs."""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class Packed:
    """Texts by name, each with something small beside it; the least used ones go when there are `most` bytes."""

    def __init__(self, most: int = 64_000_000) -> None:
        self._most, self._size = most, 0
        self._kept: OrderedDict[Hashable, tuple[bytes, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Hashable, make: Callable[[], tuple[str, Any]]) -> tuple[str, Any]:
        """What is kept under a name; made where it is not."""
        with self._lock:
            found = self._kept.get(name)
            if found is not None:
                self._kept.move_to_end(name)
        if found is not None:
            return zlib.decompress(found[0]).decode("utf-8", "surrogatepass"), found[1]
        text, beside = make()
        raw = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
        with self._lock:
            self._size += len(raw) - len(self._kept.pop(name, (b"", None))[0])
            self._kept[name] = raw, beside
            while self._size > self._most:
                self._size -= len(self._kept.popitem(last=False)[1][0])
        return text, beside
