"""How many work, and where: a number of threads, or the machines of a Ray cluster. The one file that imports Ray.

Only what computes goes to the cluster. What asks a model waits in this process' threads: its limits, its budget and
its records are those of one process, however many machines there are.
"""

from __future__ import annotations

import os
import pickle
import time
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from typing_extensions import override

from reviewgauge.core.errors import MissingExtra, UserError, one_line
from reviewgauge.core.results import Failure, FailureKind
from reviewgauge.core.specs import Plugin
from reviewgauge.core.version import __version__
from reviewgauge.engine.run.executors import Executor, Interruption, Serial, Threads, attempt

A = TypeVar("A")
B = TypeVar("B")
_IN_FLIGHT = 2  # tasks a processor: one at work and the next one waiting beside it
_TASK_SECONDS = 1.0  # how long a task of several items should take: it is lost with its node, and reported as a whole
_MOST_ITEMS = 100
_TRIES = 3  # of an item whose worker or node dies: an item that kills its worker would kill all of them


@dataclass(frozen=True)
class RayCluster(Executor):
    """Runs on every processor of a cluster; `address` as in `ray.init`.

    Without one it is $RAY_ADDRESS, the cluster that this machine belongs to, or a new one on this machine alone. A task
    whose node dies is done again elsewhere. Items are read, and tasks handed out, as others come back.
    """

    least: ClassVar[int] = 100

    address: str = ""

    def connect(self) -> None:
        """Raises MissingExtra, and UserError where the cluster does not answer."""
        _connected(self.address)

    @property
    @override
    def workers(self) -> int:
        return processors(_connected(self.address))

    @override
    def map(
        self, fn: Callable[[A], B], items: Sequence[A], stop: Interruption | None = None
    ) -> Generator[tuple[int, B | Failure], None, None]:
        work: _Work[A, B] = _Work(_connected(self.address), fn, items, stop)
        try:
            yield from work.run()
        finally:
            work.cancel()


class _Task(NamedTuple):
    """The positions of some items, and how often they were tried before."""

    places: Sequence[int]
    tries: int = 0


class _Work(Generic[A, B]):
    """One call of `map`: what is in flight, and what comes next."""

    def __init__(self, ray: Any, fn: Callable[[A], B], items: Sequence[A], stop: Interruption | None) -> None:
        """Raises UserError for a function that cannot be sent."""
        self._ray, self._items, self._stop = ray, items, stop
        self._next, self._again = 0, deque[_Task]()
        self._pending: dict[Any, _Task] = {}
        self._done, self._seconds = 0, 0.0
        self._submit = ray.remote(num_cpus=1, max_retries=0)(_run)
        try:
            self._fn = [uuid.uuid4().hex, ray.put(fn), __version__]
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise UserError(f"this cannot be sent to the nodes of a cluster: {error}", remedy="use threads") from None

    def run(self) -> Iterator[tuple[int, B | Failure]]:
        """The values as they come."""
        while True:
            most = _IN_FLIGHT * processors(self._ray)
            while len(self._pending) < most and (task := self._take(most)) is not None:
                items = [self._items[at] for at in task.places]
                with _connection():
                    self._pending[self._submit.remote(self._fn, items)] = task
            if not self._pending:
                return
            with _connection():
                ready, _ = self._ray.wait(list(self._pending), num_returns=1, timeout=1.0)
            for one in ready:
                yield from self._finished(one, self._pending.pop(one))

    def cancel(self) -> None:
        """Give up what is in flight."""
        for one in self._pending:
            with suppress(self._ray.exceptions.RayError):
                self._ray.cancel(one)
        self._pending.clear()

    def _take(self, most: int) -> _Task | None:
        """The next task; None where there is none, or no more may begin."""
        if self._stop is not None and self._stop.is_set():
            return None
        if self._again:
            return self._again.popleft()
        left = len(self._items) - self._next
        if left == 0:
            return None
        each = self._seconds / self._done if self._done else _TASK_SECONDS
        size = max(1, min(_MOST_ITEMS, int(_TASK_SECONDS / max(each, 1e-6)), left // most))
        self._next += size
        return _Task(range(self._next - size, self._next))

    def _finished(self, one: Any, task: _Task) -> Iterator[tuple[int, B | Failure]]:
        """The values of a task; one whose worker died is done again, item by item."""
        errors = self._ray.exceptions
        try:
            seconds, values = self._ray.get(one)
        except errors.RayTaskError as error:  # what an item raises is a value: this is the worker itself
            cause = str(error.cause or error)
            raise UserError(
                f"a node of the Ray cluster cannot do the work: {one_line(cause, 250)}",
                remedy="every node needs this ReviewGauge, with the same extras and plug-ins",
            ) from None
        except errors.RayError as error:
            if task.tries + 1 < _TRIES:
                self._again += [_Task([at], task.tries + 1) for at in task.places]
                return
            why = f"the worker died {_TRIES} times ({type(error).__name__})"
            yield from ((at, Failure(kind=FailureKind.CRASH, message=why)) for at in task.places)
            return
        self._done += len(task.places)
        self._seconds += seconds
        yield from zip(task.places, values, strict=True)


@contextmanager
def _connection() -> Iterator[None]:
    """Raise UserError where the node that this process is connected to is gone."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"the connection to the Ray cluster is lost: {error}",
            remedy="start the cluster and run the same command again: what is finished is kept",
        ) from None


_FUNCTIONS: dict[str, Any] = {}  # of a worker: a reviewer is sent to it once, with what it learnt


def _run(fn: list[Any], items: Sequence[Any]) -> tuple[float, list[Any]]:
    """In a worker: the seconds that it took, and the value or Failure of each item."""
    import ray

    key, held, version = fn
    if version != __version__:
        raise RuntimeError(f"ReviewGauge is {__version__} there, and {version} here")
    if key not in _FUNCTIONS:
        _FUNCTIONS.clear()
        _FUNCTIONS[key] = ray.get(held)
    began = time.perf_counter()
    values = [attempt(_FUNCTIONS[key], item) for item in items]
    return time.perf_counter() - began, values


def processors(ray: Any) -> int:
    """The processors of the nodes that are up now."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _connected(address: str) -> Any:
    """Ray, connected to the cluster. Raises MissingExtra, and UserError where the cluster does not answer."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # a warning about GPUs that nobody asks for
    if (Path.home() / ".ray" / "auth_token").exists():  # then a cluster of this user asks for it; Ray does not offer it
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    try:
        import ray
    except ImportError:
        raise MissingExtra("Ray", "ray") from None
    if not ray.is_initialized():
        try:
            ray.init(address=address or None, log_to_driver=False, logging_level="error")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise UserError(
                f"Ray cannot be reached at {address or os.environ.get('RAY_ADDRESS') or 'this machine'}: "
                f"{one_line(str(error), 200)}",
                remedy="ray status --address ADDRESS says whether it runs",
            ) from None
    return ray


Workers = int | str | None
RAY = "ray"


def checked_workers(workers: Workers) -> Workers:
    """A number from 1 on, or `ray`, or `ray:ADDRESS`. Raises UserError."""
    word = str(workers).strip()
    if workers is None or word == RAY or (word.startswith(f"{RAY}:") and word != f"{RAY}:"):
        return workers if workers is None else word
    if not word.isdecimal() or not int(word):
        raise UserError(f"workers={word} is neither a number of threads nor ray", remedy="ray, or ray:HOST:PORT")
    return int(word)


def check_workers(workers: Workers, *, connect: bool = True) -> None:
    """Raise UserError, before anything is paid for, where they are no workers or their cluster cannot be reached."""
    word = checked_workers(workers)
    if isinstance(word, str) and connect:
        _cluster(word).connect()


def _cluster(word: str) -> RayCluster:
    return RayCluster(word.removeprefix(RAY).removeprefix(":"))


def executor_for(plugin: Plugin, workers: Workers, in_flight: int, otherwise: int) -> Executor:
    """`workers` threads; by default as many as calls may be in flight where `plugin` asks a model, else `otherwise`.

    On a cluster, what asks a model stays in this process, whose limits and budget hold for all calls.
    """
    workers = checked_workers(workers)
    if isinstance(workers, str):
        if not plugin.models:
            return _cluster(workers)
        workers = None
    count = workers or (in_flight if plugin.models else otherwise)
    return Threads(count) if count > 1 or plugin.models else Serial()
