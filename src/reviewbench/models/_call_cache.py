"""Where answers are kept: the cache on disk, the record that is replayed, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from reviewbench.models.messages import Call


class CallStore(Protocol):
    """Looked up before a call, written after it and before anybody sees the answer."""

    def get(self, key: str) -> Call | None:
        """The call under a key. Raises Failed where only recorded calls may answer and this one is not among them."""

    async def put(self, call: Call) -> None:
        """Keep a call; it is committed when this returns."""

    def forget(self, keys: Sequence[str]) -> None:
        """Take calls out again."""

    def close(self) -> None:
        """Nothing is read or written after this."""


class Memory:
    """Keeps calls as long as the process runs."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}

    def get(self, key: str) -> Call | None:
        """See `CallStore.get`."""
        return self._calls.get(key)

    async def put(self, call: Call) -> None:
        """See `CallStore.put`."""
        self._calls[call.key] = call

    def forget(self, keys: Sequence[str]) -> None:
        """See `CallStore.forget`."""
        for key in keys:
            self._calls.pop(key, None)

    def close(self) -> None:
        """See `CallStore.close`."""


def open_call_cache(cache: bool, replay: Path | None, rehearsal: bool) -> CallStore:
    """The store that the settings of a door ask for."""
    return Memory()
