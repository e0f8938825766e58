"""The one way to chat models: every call is cached, limited, retried, counted, recorded and replayable.

Plug-ins are synchronous and hold a model's spec; they call `chat_model(spec)` when they need it, and `ask`. A verb
opens a `ChatClient` with its settings (budget, limits, cache, replay); without one, default settings hold. One event
loop in a background thread serves all of them.

    with ChatClient(ChatSettings(budget=5.0)), track_usage() as tracker:
        answer = chat_model("openai:gpt-5").ask(Request(messages=(user("Say yes."),)))
    tracker.usage.dollars

What can go wrong is a `Failed` with a kind and a remedy; it `stops` where the next call would fail on it too.
"""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import json
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.cache.call_cache import open_store
from reviewgauge.models.cache.stores import CallStore
from reviewgauge.models.chat.endpoints import Endpoints, Unusable, check_parameters
from reviewgauge.models.request.budget import BudgetTracker
from reviewgauge.models.request.messages import Answer, Call, Repeat, Request, UsageSum
from reviewgauge.models.request.model_spec import ChatSettings, ModelSpec, address_of, family, parse_model

T = TypeVar("T")
Recorder = Callable[[Call], None]


@dataclass
class UsageTracker(UsageSum):
    """Adds up what one piece of work asked of models, answers from the cache included. `attempt`: of its review."""

    attempt: int = 1


_tracker: ContextVar[UsageTracker | None] = ContextVar("tracker", default=None)
_clients: list[ChatClient] = []
_default: ChatClient | None = None
_opening = threading.Lock()


@contextmanager
def track_usage(attempt: int = 1) -> Iterator[UsageTracker]:
    """Count the calls that this thread makes meanwhile. `attempt` is that of the review: part of a call's key."""
    tracker = UsageTracker(attempt=attempt)
    token = _tracker.set(tracker)
    try:
        yield tracker
    finally:
        _tracker.reset(token)


def current_tracker() -> UsageTracker | None:
    """The tracker that counts the calls of this thread now, if there is one."""
    return _tracker.get()


class InFlightCall:
    """A call being made, and how many callers wait for it."""

    def __init__(self, task: asyncio.Task[Call]) -> None:
        self.task, self.waiting = task, 0


@dataclass(eq=False)
class ChatClient:
    """The cache, budget, endpoints and record that the calls under some settings share.

    `record` gets every answer once. `reused` sums up the answers that came from the cache.
    """

    settings: ChatSettings = field(default_factory=ChatSettings)
    record: Recorder | None = None

    def __post_init__(self) -> None:
        if is_offline():
            self.settings = replace(self.settings, offline=True)
        self.budget = BudgetTracker(self.settings.budget, self.settings.spent, self.settings.prices)
        self.calls: CallStore = open_store(self.settings.cache, self.settings.replay, self.settings.dry_run)
        self.reused = UsageSum()
        self._recorded: set[str] = set()
        self._own: dict[str, Call] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._connect()

    def _connect(self) -> None:
        self._process = os.getpid()
        self._endpoints = Endpoints(self.settings)
        self._in_flight: dict[str, InFlightCall] = {}

    def __enter__(self) -> ChatClient:
        with _opening:
            _clients.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with _opening:
            _clients.remove(self)
        self.close()

    @property
    def closed(self) -> bool:
        """Whether it takes no more calls."""
        return self._closed

    def close(self) -> None:
        """Close connections and the cache. Calls in flight are abandoned: their callers get a Failed."""
        if self._closed:
            return
        self._closed = True
        if self._process == os.getpid():
            run_in_background(self._disconnect())
        self.calls.close()

    async def _disconnect(self) -> None:
        tasks = [call.task for call in self._in_flight.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._endpoints.close()

    def model(self, spec: str | ModelSpec) -> ChatModel:
        """The model that a spec names. Raises UserError for a parameter that its protocol lacks."""
        parsed = parse_model(spec) if isinstance(spec, str) else spec
        check_parameters(parsed)
        return ChatModel(parsed, self)

    async def answer(
        self, spec: ModelSpec, request: Request, tracker: UsageTracker | None, trial: int, ask: int
    ) -> Answer:
        """The answer to one request. Runs on the background loop. Raises Failed."""
        self._check_open()
        repeat = Repeat(tracker.attempt if tracker else 1, trial, ask)
        key = call_key(spec, request, repeat)
        call = self._cached(key)
        if call is None:
            try:
                call = await self._join(key, spec, request, repeat)
            except Unusable as unusable:
                if tracker is not None:
                    tracker.add(unusable.paid.usage, fake=unusable.paid.fake)
                raise
        if tracker is not None:
            tracker.add(call.answer.usage, fake=call.answer.fake)
        if call.failure is not None:
            raise Failed(call.failure.kind, call.failure.message, raw=call.failure.raw)
        return call.answer

    def _check_open(self) -> None:
        if self._closed:
            raise Failed(FailureKind.CRASH, "this client is closed", remedy="ask while it is open", stops=True)
        if self._process != os.getpid():
            self._connect()  # a fork has its parent's connections, and no loop that serves them

    def _cached(self, key: str) -> Call | None:
        """Step 1, the cache. A caller arriving between commit and record joins the in-flight call instead."""
        found = None if key in self._in_flight else self.calls.get(key) or self._own.get(key)
        if found is None:
            return None
        self.reused.add(found.answer.usage)
        call = found.model_copy(update={"paid": False})
        self._record(call)
        return call

    async def _join(self, key: str, spec: ModelSpec, request: Request, repeat: Repeat) -> Call:
        """Make a call, or wait for the same one in flight. The last to stop waiting stops it."""
        call = self._in_flight.get(key)
        if call is None:
            call = InFlightCall(asyncio.ensure_future(self._make(key, spec, request, repeat)))
            self._in_flight[key] = call
            call.task.add_done_callback(lambda task: self._forget_task(key, task))
        call.waiting += 1
        try:
            return await asyncio.shield(call.task)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if self._closed and current is not None and not current.cancelling():
                raise Failed(FailureKind.CRASH, "the client was closed before the answer came", stops=True) from None
            raise
        finally:
            call.waiting -= 1
            if not call.waiting and not call.task.done():
                self._in_flight.pop(key, None)
                call.task.cancel()

    def _forget_task(self, key: str, task: asyncio.Task[Call]) -> None:
        call = self._in_flight.get(key)
        if call is not None and call.task is task:
            del self._in_flight[key]
        if not task.cancelled():
            task.exception()  # retrieved, or asyncio would warn where all callers left

    async def _make(self, key: str, spec: ModelSpec, request: Request, repeat: Repeat) -> Call:
        """Steps 2 to 5: budget, retries and provider in the endpoint; then commit and record, before it is seen."""
        named: dict[str, Any] = {"key": key, "model": str(spec), "request": request, **repeat._asdict()}
        try:
            answer = await self._endpoints.of(spec).answer(request, repeat=repeat, budget=self.budget)
        except Unusable as unusable:
            refused = Call(**named, answer=unusable.paid, failure=unusable.failure)
            if self.record is not None:  # the run's record holds one answer to one question, so a replay gives the same
                self._own[key] = refused
            self._record(refused)
            raise
        call = Call(**named, answer=answer)
        try:
            await self.calls.put(call)
        except BaseException:
            self._record(call.model_copy(update={"unkept": True}))  # the run has paid for it
            raise
        self._record(call)
        return call

    def answer_from(self, calls: Iterable[Call]) -> None:
        """Answer with what this run paid for and the cache could not take. None of it goes into the cache: a run may be
        somebody else's.
        """
        self._own.update({call.key: call for call in calls if call.unkept})

    def _record(self, call: Call) -> None:
        """Record a call that was paid for, and once an answer from the cache."""
        if self.record is None or self.settings.dry_run:
            return
        with self._lock:
            if not call.paid and call.key in self._recorded:
                return
            self._recorded.add(call.key)
        self.record(call)

    def forget(self, keys: Sequence[str]) -> None:
        """Remove unreadable answers from the cache, so that a failed case is asked anew."""
        self.calls.forget(keys)
        for key in keys:
            self._own.pop(key, None)


def current_client() -> ChatClient:
    """The client that was opened last; else one with default settings, which lives as long as the process."""
    global _default  # noqa: PLW0603  (the one client that nobody opens)
    with _opening:
        if _clients:
            return _clients[-1]
        if _default is None or _default.closed:
            _default = ChatClient()
            atexit.register(_default.close)
        return _default


def is_offline() -> bool:
    """Whether nothing may be fetched or asked over the network now: an open client is offline."""
    return any(client.settings.offline for client in tuple(_clients))


def is_dry_run() -> bool:
    """Whether a client is open in a dry run: then the fake model stands in for every model."""
    return any(client.settings.dry_run for client in tuple(_clients))


def chat_model(spec: str) -> ChatModel:
    """The model that `spec` names, behind the current client. Raises UserError for a spec that names none."""
    return current_client().model(spec)


@dataclass(frozen=True)
class ChatModel:
    """One model behind one client. Synchronous; safe to share between threads."""

    of: ModelSpec
    client: ChatClient

    @cached_property
    def family(self) -> str:
        """The family of the model, such as "gpt"."""
        return family(self.of.model)

    def ask(self, request: Request, *, trial: int = 1, ask: int = 1) -> Answer:
        """The answer to `request`. Repeats are different calls: `trial` counts votes, `ask` counts re-asks.

        Raises Failed.
        """
        return run_in_background(self.answer(request, _tracker.get(), trial=trial, ask=ask))

    async def answer(self, request: Request, tracker: UsageTracker | None, *, trial: int = 1, ask: int = 1) -> Answer:
        """As `ask`, for code that runs on the background loop itself."""
        return await self.client.answer(self.of, request, tracker, trial, ask)

    def forget(self, requests: Iterable[Request]) -> None:
        """Remove the answers that this thread got to `requests` from the cache, so that they are asked for anew."""
        tracker = _tracker.get()
        repeat = Repeat(tracker.attempt if tracker else 1)
        self.client.forget([call_key(self.of, request, repeat) for request in requests])


def together(work: Sequence[Callable[[UsageTracker | None], Coroutine[Any, Any, T]]], most: int) -> list[T | Failed]:
    """Run coroutines on the background loop, `most` at the same time, counted for this thread; results in order.

    Each is taken from `work` when its turn comes: what it asks is in memory no longer than that. A Failed stands in its
    place; one that stops the run is raised, as is anything else.
    """
    tracker = _tracker.get()
    found: dict[int, T | BaseException] = {}
    waiting = iter(range(len(work)))

    async def take_turns() -> None:
        for at in waiting:
            try:
                found[at] = await work[at](tracker)
            except (Exception, asyncio.CancelledError) as error:
                found[at] = error

    async def all_of() -> None:
        await asyncio.gather(*(take_turns() for _ in range(min(most, len(work)))))

    run_in_background(all_of())
    results: list[T | Failed] = []
    for value in map(found.__getitem__, range(len(work))):
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


_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def background() -> asyncio.AbstractEventLoop:
    """The background loop of this process, started when first asked for."""
    global _loop  # noqa: PLW0603  (one loop a process)
    found = _loop
    if found is None:
        with _lock:
            if _loop is None:
                _loop = asyncio.new_event_loop()
                threading.Thread(target=_loop.run_forever, name="chat models", daemon=True).start()
            found = _loop
    return found


def _after_fork() -> None:
    """A child has its parent's loop without the thread that runs it, and maybe a lock that is held for ever."""
    global _lock, _loop, _parents_loop
    _lock, _loop, _parents_loop = threading.Lock(), None, _loop


_parents_loop: asyncio.AbstractEventLoop | None = None  # freed in the child, it would close what the parent uses
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def run_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on the background loop and wait for it. Interrupting the wait cancels the work."""
    loop = background()
    try:
        inside = asyncio.get_running_loop() is loop
    except RuntimeError:
        inside = False
    if inside:
        work.close()
        raise RuntimeError("the background loop cannot wait for itself: await the model's `answer` there")
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
