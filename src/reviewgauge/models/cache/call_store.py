"""Where answers are kept: the cache on disk, the record that is replayed, or nothing.

The cache is one SQLite file, `chat.sqlite`, beside that of the vectors (see `_vector_cache.cache_home`). Any number of
threads and processes may use it. It holds whole calls: requests with the code under review in them, and answers. An
answer costs money, so trouble with it is an error that says what to do, and never a second call in silence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from reviewgauge.models.request.messages import Answer, Call


class Reused:
    """What answers that were there already would have cost: their number, tokens and dollars (None: some unknown)."""

    def __init__(self) -> None:
        self.calls = self.tokens_in = self.tokens_out = self.unpriced = 0
        self.dollars = 0.0

    def add(self, answer: Answer) -> None:
        """One more answer that was there."""
        self.calls += 1
        self.tokens_in += answer.usage.tokens_in
        self.tokens_out += answer.usage.tokens_out
        self.unpriced += answer.usage.dollars is None
        self.dollars += answer.usage.dollars or 0.0


class CallStore(Protocol):
    """Looked up before a call, written after it and before anybody sees the answer."""

    payer: str  # who pays for what is put: the name of a run, or nobody's

    @property
    def reused(self) -> Reused:
        """What `get` found so far."""

    def ours(self, key: str) -> bool:
        """Whether the payer has paid for what `get` found, now or before it was killed."""

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
        self.payer = ""
        self.reused = Reused()
        self._calls: dict[str, Call] = {}

    def ours(self, key: str) -> bool:
        """See `CallStore.ours`."""
        return key in self._calls

    def get(self, key: str) -> Call | None:
        """See `CallStore.get`."""
        call = self._calls.get(key)
        if call is not None:
            self.reused.add(call.answer)
        return call

    async def put(self, call: Call) -> None:
        """See `CallStore.put`."""
        self._calls[call.key] = call

    def forget(self, keys: Sequence[str]) -> None:
        """See `CallStore.forget`."""
        for key in keys:
            self._calls.pop(key, None)

    def close(self) -> None:
        """See `CallStore.close`."""
