"""The limits of an address: calls in flight, requests and tokens per minute, pauses, and a circuit breaker.

All models at one address share one `EndpointLimiter`, used on the background loop only. A cancelled caller gives back
what it held.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum

from reviewgauge.core.backoff import backoff
from reviewgauge.core.results import Failed, FailureKind

LONGEST_PAUSE = 15 * 60.0  # seconds; an endpoint that asks for more ends the run
_IN_A_ROW = 24  # failed tries with no success between them; at 40% random failures that is one run in 10**9
_UNREACHED = 4  # the same for an address that never answered
_PENDING = 4  # more failed tries allowed for each one in flight, as failures may come back sooner than answers
_GRACE = 30.0  # times the first wait: how long an address that has answered before may be down


class Trouble(StrEnum):
    """Why a try failed."""

    UNREACHED = "unreached"  # nothing listens there, or it cannot be reached
    DROPPED = "dropped"  # the connection broke
    TIMEOUT = "timeout"  # no answer in time
    ERROR = "error"  # a 5xx, or an error in place of an answer
    INVALID_RESPONSE = "invalid response"  # an answer that is not what the protocol says


_AGAIN = "then repeat the command: finished calls are kept"
NOT_THE_PROTOCOL = (
    "is the address right (an OpenAI-compatible one usually ends in /v1), and is it the model's own server, "
    "not the page of a proxy?"
)
_WORDS = {
    Trouble.UNREACHED: ("is down", "check that it runs"),
    Trouble.DROPPED: ("is down", "check that it runs, and what closes its connections"),
    Trouble.TIMEOUT: (
        "does not answer in time",
        "raise timeout in the model's name (?timeout=...), or lower --in-flight",
    ),
    Trouble.ERROR: ("answers with errors only", "wait a while, or lower --in-flight or --rpm"),
    Trouble.INVALID_RESPONSE: ("answers, but not in the protocol", NOT_THE_PROTOCOL),
}


class TokenBucket:
    """At most `per_minute` units a minute, spread evenly, with a second's worth at once."""

    def __init__(self, per_minute: float | None) -> None:
        self._each = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    def book(self, units: float, now: float) -> float:
        """Take `units`; the seconds to wait before they may be used."""
        if not self._each:
            return 0.0
        at = max(self._next, now - 1.0)
        self._next = at + units * self._each
        return max(0.0, at - now)

    def correct(self, units: float) -> None:
        """Units that were used beyond those booked; below zero gives back."""
        self._next += units * self._each


class EndpointLimiter:
    """The limits of one address, and its circuit breaker. `patience`: seconds of a first wait."""

    def __init__(
        self,
        address: str,
        in_flight: int = 16,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        patience: float = 1.0,
    ) -> None:
        self.address, self.patience = address, patience
        self._slots = asyncio.Semaphore(max(1, in_flight))
        self._requests, self._tokens = TokenBucket(requests_per_minute), TokenBucket(tokens_per_minute)
        self._resume, self._paused, self._pauses = 0.0, 0.0, 0
        self._pending, self._row, self._row_began = 0, 0, 0.0
        self._reached, self._succeeded = False, False
        self._down, self._tripped = asyncio.Event(), 0.0
        self._kind, self._problem, self._remedy = FailureKind.NETWORK, "", ""

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[None]:
        """One call in flight of about `tokens` tokens, when its turn comes. Raises Failed where the address is down."""
        async with self._slots:
            await self._clear(tokens)
            self._pending += 1
            try:
                yield
            finally:
                self._pending -= 1

    async def _clear(self, tokens: int) -> None:
        """Wait for the pause that the address asked for, and for the token buckets."""
        self.check()
        now = time.monotonic()
        wait = max(self._requests.book(1, now), self._tokens.book(tokens, now))
        try:
            if wait:
                await self.sleep(wait)
            while (left := self._resume - time.monotonic()) > 0:
                await self.sleep(left + random.uniform(0, min(left, self.patience)))  # not all at once
        except BaseException:
            self._requests.correct(-1)
            self._tokens.correct(-tokens)
            raise

    def used(self, tokens: int) -> None:
        """Correct the tokens of a call by those used beyond the expected ones; below zero gives back."""
        self._tokens.correct(tokens)

    async def sleep(self, seconds: float) -> None:
        """Wait. Raises Failed as soon as the address turns out to be down."""
        try:
            async with asyncio.timeout(seconds):
                await self._down.wait()
        except TimeoutError:
            return
        self.check()

    def pause(self, asked: float | None, sent: float) -> None:
        """All calls wait: as long as the address asks for, else longer with each further request to wait.

        A try that was `sent` before the last pause changes nothing.
        """
        now = time.monotonic()
        if asked is None:
            if sent < self._paused:
                return
            self._pauses += 1
            asked = backoff(self._pauses, self.patience)
        self._paused = now
        self._resume = max(self._resume, now + asked)

    def mark_reachable(self) -> None:
        """The address sent something, if only an error."""
        self._reached = True

    def succeeded(self) -> None:
        """The address answered a call, or explained why it rejects it."""
        self._reached = self._succeeded = True
        self._row = self._pauses = 0

    def failed(self, reason: str, trouble: Trouble = Trouble.DROPPED) -> None:
        """A try failed. Raises Failed where that is one too many.

        Unreadable answers count as well: an endpoint may bill for each.
        """
        now = time.monotonic()
        if not self._row:
            self._row_began = now
        self._row += 1
        enough = (_IN_A_ROW if self._reached else _UNREACHED) + _PENDING * self._pending
        if self._row < enough or (self._succeeded and now - self._row_began < _GRACE * self.patience):
            return
        self._tripped = now
        problem, remedy = _WORDS[trouble]
        if not self._reached:
            remedy = f"is the address right, and is a server running there? {remedy}"
        self._kind = FailureKind.TIMEOUT if trouble is Trouble.TIMEOUT else FailureKind.NETWORK
        self._problem = f"{self.address} {problem}: {self._row} tries in a row failed, the last one with: {reason}"
        self._remedy = f"{remedy}{' ' if remedy.endswith('?') else ', '}{_AGAIN}"
        self._down.set()
        self.check()

    def check(self) -> None:
        """Raise Failed while the address is down; after a while it is tried again."""
        if not self._down.is_set():
            return
        if time.monotonic() - self._tripped > _GRACE * self.patience:
            self._down.clear()
            self._row = 0
            return
        raise Failed(self._kind, self._problem, remedy=self._remedy, stops=True)
