"""Where a client finds and keeps calls: the cache on disk, a record that is replayed, or memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from typing_extensions import override

from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.cache.call_cache import CallCache, cache_file
from reviewgauge.models.cache.recorded_calls import RecordedCalls, calls_file
from reviewgauge.models.request.messages import Call


class CallStore(Protocol):
    """Looked up before a call, written after it and before anybody sees the answer."""

    payer: str  # who pays for what is put: the name of a run, or ""

    def get(self, key: str) -> Call | None:
        """The call under a key. Raises Failed where only recorded calls may answer and this one is not among them."""

    def ours(self, key: str) -> bool:
        """Whether the payer has paid for what `get` found, now or before it was killed."""

    async def put(self, call: Call) -> None:
        """Keep a call; it is committed when this returns."""

    def forget(self, keys: Sequence[str]) -> None:
        """Remove calls."""

    def close(self) -> None:
        """Close it: nothing is read or written after this."""


def open_store(cache: bool, replay: Path | None, rehearsal: bool) -> CallStore:
    """The store that the settings of a client ask for."""
    if replay is not None:
        return Replay(replay)
    file = cache_file() if cache else None
    if file is None:
        return Memory()
    found = CallCache(file)
    return Rehearsed(found) if rehearsal else found


class Memory(CallStore):
    """Keeps calls as long as the process runs."""

    def __init__(self) -> None:
        self.payer = ""
        self._calls: dict[str, Call] = {}

    @override
    def get(self, key: str) -> Call | None:
        return self._calls.get(key)

    @override
    def ours(self, key: str) -> bool:
        return key in self._calls

    @override
    async def put(self, call: Call) -> None:
        self._calls[call.key] = call

    @override
    def forget(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._calls.pop(key, None)

    @override
    def close(self) -> None:
        pass


class Rehearsed(Memory):
    """Finds what the cache holds, and stores no answer of the fake model there."""

    def __init__(self, cache: CallCache) -> None:
        super().__init__()
        self._cache = cache

    @override
    def get(self, key: str) -> Call | None:
        found = super().get(key)
        return self._cache.get(key) if found is None and self._cache.file.exists() else found

    @override
    def close(self) -> None:
        self._cache.close()


class Replay(CallStore):
    """Recorded calls answer and nothing else does: any other call is a failure, and nothing is sent."""

    def __init__(self, path: Path) -> None:
        self.payer = ""
        self._calls = RecordedCalls(calls_file(path))

    @override
    def get(self, key: str) -> Call | None:
        call = self._calls.get(key)
        if call is None:
            raise Failed(
                FailureKind.REQUEST,
                f"this call is not in the record {self._calls.path}, and a replay asks no model",
                remedy="a prompt, a model, its parameters or the attempt differs from what was recorded; "
                "run without --replay to ask",
            )
        return call

    @override
    def ours(self, key: str) -> bool:
        return False

    @override
    async def put(self, call: Call) -> None:
        raise AssertionError("a replay makes no calls")

    @override
    def forget(self, keys: Sequence[str]) -> None:
        """A record stays as it is."""

    @override
    def close(self) -> None:
        self._calls.close()
