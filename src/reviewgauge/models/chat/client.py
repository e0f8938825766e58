"""The one door to chat models: every call is cached, limited, retried, counted, recorded and replayable.

Plug-ins are synchronous and hold a model's spec. They call `chat_model(spec)` when they need it and `ask`. Behind it
one event loop in a background thread runs the providers' async clients. A verb opens a `ChatClient` with its settings
(budget, limits, cache, replay) and `with` it; without one, a door with default settings is opened.

    with ChatClient(ChatSettings(budget=5.0)) as door, counted() as tally:
        answer = chat_model("openai:gpt-5").ask(Request(messages=(user("Say yes."),)))
    tally.usage.dollars

What can go wrong is a `Failed` with a kind and a remedy; it `stops` where the next call would fail on it too.
"""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import json
import os
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from reviewgauge.core.records import Usage
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.cache.call_store import CallStore
from reviewgauge.models.cache.open import open_call_cache
from reviewgauge.models.chat.endpoints import Endpoints, check_parameters
from reviewgauge.models.chat.event_loop import run_in_background
from reviewgauge.models.chat.retries import Unusable
from reviewgauge.models.request.budget import BudgetTracker
from reviewgauge.models.request.messages import Answer, Call, Repeat, Request
from reviewgauge.models.request.model_spec import ModelSpec, address_of, family, parse_model
from reviewgauge.models.request.settings import ChatSettings

T = TypeVar("T")
Recorder = Callable[[Call], None]


class Tally:
    """What the calls of one piece of work cost, and whether a fake model answered one. Safe for several threads."""

    def __init__(self, attempt: int = 1) -> None:
        self.attempt = attempt
        self._lock = threading.Lock()
        self._calls, self._tokens_in, self._tokens_out, self._seconds = 0, 0, 0, 0.0
        self._dollars: float | None = 0.0
        self.fake = False

    def add(self, answer: Answer) -> None:
        """One more answer: what it cost when it was made, also where it came from the cache now."""
        with self._lock:
            self._calls += answer.usage.calls
            self._tokens_in += answer.usage.tokens_in
            self._tokens_out += answer.usage.tokens_out
            self._seconds += answer.usage.seconds
            known = self._dollars is not None and answer.usage.dollars is not None
            self._dollars = (self._dollars or 0.0) + (answer.usage.dollars or 0.0) if known else None
            self.fake = self.fake or answer.fake

    @property
    def usage(self) -> Usage:
        """The sum so far; its dollars are None as soon as one call's price is not known, or when there was none."""
        with self._lock:
            dollars = self._dollars if self._calls else None
            return Usage(
                calls=self._calls,
                tokens_in=self._tokens_in,
                tokens_out=self._tokens_out,
                dollars=None if dollars is None else round(dollars, 10),
                seconds=round(self._seconds, 6),
            )


_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)
_doors: list[ChatClient] = []
_default: ChatClient | None = None
_opening = threading.Lock()


@contextmanager
def counted(attempt: int = 1) -> Iterator[Tally]:
    """Count the calls that this thread makes meanwhile. `attempt` is that of the review being made: part of the key."""
    tally = Tally(attempt)
    token = _tally.set(tally)
    try:
        yield tally
    finally:
        _tally.reset(token)


class InFlightCall:
    """A call being made, and how many wait for it."""

    def __init__(self, task: asyncio.Task[Call]) -> None:
        self.task, self.waiting = task, 0


@dataclass(eq=False)
class ChatClient:
    """Settings, and everything that is shared by the calls made under them. `record` is told of every answer, once."""

    settings: ChatSettings = field(default_factory=ChatSettings)
    record: Recorder | None = None

    def __post_init__(self) -> None:
        if is_offline():
            self.settings = replace(self.settings, offline=True)
        self.budget = BudgetTracker(self.settings.budget, self.settings.spent, self.settings.prices)
        self.calls: CallStore = open_call_cache(self.settings.cache, self.settings.replay, self.settings.rehearsal)
        self._recorded: set[str] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._endpoints = Endpoints(self.settings)
        self._flying: dict[str, InFlightCall] = {}

    def __enter__(self) -> ChatClient:
        with _opening:
            _doors.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with _opening:
            _doors.remove(self)
        self.close()

    @property
    def closed(self) -> bool:
        """Whether nothing goes through it any more."""
        return self._closed

    def close(self) -> None:
        """Close connections and the cache. Calls in flight are abandoned: who waits for one gets a Failed."""
        if self._closed:
            return
        self._closed = True
        if self._process == os.getpid():
            run_in_background(self._land())
        self.calls.close()

    async def _land(self) -> None:
        flights = list(self._flying.values())
        for flight in flights:
            flight.task.cancel()
        await asyncio.gather(*(flight.task for flight in flights), return_exceptions=True)
        await self._endpoints.close()

    def model(self, spec: str | ModelSpec) -> ChatModel:
        """The model that a spec names. Raises UserError for a parameter that it is known not to take."""
        parsed = parse_model(spec) if isinstance(spec, str) else spec
        check_parameters(parsed)
        return ChatModel(parsed, self)

    async def answer(self, spec: ModelSpec, request: Request, tally: Tally | None, trial: int, ask: int) -> Answer:
        """The answer to one request: from the record, the cache or the endpoint. Runs on the background loop."""
        if self._closed:
            raise Failed(FailureKind.CRASH, "this door is closed", remedy="ask while it is open", stops=True)
        if self._process != os.getpid():
            self._begin()  # a fork has its parent's connections, and no loop that serves them
        repeat = Repeat(tally.attempt if tally else 1, trial, ask)
        key = call_key(spec, request, repeat)
        # Who comes between the commit of an answer and its record joins the flight, and does not find it in the cache.
        call = None if key in self._flying else self.calls.get(key)
        if call is None:
            try:
                call = await self._fly(key, spec, request, repeat)
            except Unusable as unusable:
                if tally is not None:
                    tally.add(unusable.paid)
                raise
        else:
            call = call.model_copy(update={"paid": False})
            self._note(call)
        if tally is not None:
            tally.add(call.answer)
        if call.failure is not None:
            raise Failed(call.failure.kind, call.failure.message, raw=call.failure.raw)
        return call.answer

    async def _fly(self, key: str, spec: ModelSpec, request: Request, repeat: Repeat) -> Call:
        """Make a call, or wait for the same one that is being made. The last to stop waiting stops the call."""
        flight = self._flying.get(key)
        if flight is None:
            flight = InFlightCall(asyncio.ensure_future(self._make(key, spec, request, repeat)))
            self._flying[key] = flight
            flight.task.add_done_callback(lambda task: self._landed(key, task))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if self._closed and me is not None and not me.cancelling():
                raise Failed(FailureKind.CRASH, "the door was closed before the answer came", stops=True) from None
            raise
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._flying.pop(key, None)
                flight.task.cancel()

    def _landed(self, key: str, task: asyncio.Task[Call]) -> None:
        flight = self._flying.get(key)
        if flight is not None and flight.task is task:
            del self._flying[key]
        if not task.cancelled():
            task.exception()  # looked at, so that nobody warns of it where nobody waits any more

    async def _make(self, key: str, spec: ModelSpec, request: Request, repeat: Repeat) -> Call:
        """Ask the endpoint, and commit the answer before anybody sees it."""
        named: dict[str, Any] = {"key": key, "model": str(spec), "request": request, **repeat._asdict()}
        try:
            answer = await self._endpoints.of(spec).answer(request, repeat=repeat, budget=self.budget)
        except Unusable as unusable:
            self._note(Call(**named, answer=unusable.paid, failure=unusable.failure))
            raise
        call = Call(**named, answer=answer)
        try:
            await self.calls.put(call)
        finally:
            self._note(call)  # also where the cache cannot take it: the run has paid for it
        return call

    def _note(self, call: Call) -> None:
        """Tell of a call that was paid for, and of an answer that was there already, once."""
        if self.record is None or self.settings.rehearsal:
            return
        with self._lock:
            if not call.paid and call.key in self._recorded:
                return
            self._recorded.add(call.key)
        self.record(call)

    def forget(self, calls: Sequence[str]) -> None:
        """Take unreadable answers out of the cache, so that trying a failed case again asks anew."""
        self.calls.forget(calls)


def current_client() -> ChatClient:
    """The door that was opened last; one with default settings where none is. That one lives as long as the process."""
    global _default  # noqa: PLW0603  (the one door that nobody opens)
    with _opening:
        if _doors:
            return _doors[-1]
        if _default is None or _default.closed:
            _default = ChatClient()
            atexit.register(_default.close)
        return _default


def is_offline() -> bool:
    """Whether nothing may be fetched or asked over the network now: an open door is offline."""
    return any(door.settings.offline for door in tuple(_doors))


def chat_model(spec: str) -> ChatModel:
    """The model that `spec` names, behind the current door. Raises UserError for a spec that names none."""
    return current_client().model(spec)


@dataclass(frozen=True)
class ChatModel:
    """One model behind one door. Synchronous; safe to share between threads."""

    of: ModelSpec
    door: ChatClient

    @cached_property
    def family(self) -> str:
        """See `model_spec.family`."""
        return family(self.of.model)

    def ask(self, request: Request, *, trial: int = 1, ask: int = 1) -> Answer:
        """The answer to `request`. Repeats are different calls: `trial` counts votes, `ask` counts re-asks.

        Raises Failed.
        """
        return run_in_background(self.answer(request, _tally.get(), trial=trial, ask=ask))

    async def answer(self, request: Request, tally: Tally | None, *, trial: int = 1, ask: int = 1) -> Answer:
        """As `ask`, for code that runs on the background loop itself."""
        return await self.door.answer(self.of, request, tally, trial, ask)


def together(work: Sequence[Callable[[Tally | None], Coroutine[Any, Any, T]]]) -> list[T | Failed]:
    """Run coroutines on the background loop at the same time, counted in this thread's tally; results in order.

    A Failed stands in its place; one that stops the run is raised, as is anything else.
    """
    tally = _tally.get()

    async def all_of() -> list[T | BaseException]:
        return await asyncio.gather(*(make(tally) for make in work), return_exceptions=True)

    results: list[T | Failed] = []
    for value in run_in_background(all_of()):
        if isinstance(value, Failed) and not value.stops:
            results.append(value)
        elif isinstance(value, BaseException):
            raise value
        else:
            results.append(value)
    return results


def call_key(spec: ModelSpec, request: Request, repeat: Repeat) -> str:
    """SHA-256 of everything that changes an answer, and of which repeat it is. The time-out is not part of it."""
    what = {
        "model": f"{spec.provider}:{spec.model}@{address_of(spec)}",
        "parameters": [spec.temperature, spec.top_p, spec.top_k, spec.seed, spec.reasoning, spec.max_tokens, spec.json],
        "request": request.model_dump(mode="json", exclude_defaults=True),
        "repeat": list(repeat),
    }
    text = json.dumps(what, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
