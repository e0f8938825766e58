"""The cache of calls: one SQLite file, `chat.sqlite`, beside that of the vectors.

Any number of threads and processes may use it. It holds whole calls: requests with the code under review in them, and
answers. An answer costs money, so a cache that cannot be used stops the run with an error that says what to do.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from typing_extensions import override

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.cache.stores import CallStore, Memory, Replay
from reviewgauge.models.cache.vector_cache import WAIT, cache_home, open_file
from reviewgauge.models.request.budget import kind_of
from reviewgauge.models.request.messages import Call

T = TypeVar("T")
NAME = "chat.sqlite"
_SAMPLE = 5_000  # calls of a model to estimate the length of its answers from
ELSEWHERE = "set REVIEWGAUGE_CACHE to another folder, or ask without a cache (--no-cache)"
TABLE = (
    "CREATE TABLE IF NOT EXISTS calls (key BLOB PRIMARY KEY, model TEXT NOT NULL, made REAL NOT NULL, "
    "tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, dollars REAL, call BLOB NOT NULL, payer TEXT NOT NULL)"
)


class CallCache(CallStore):
    """The calls in one file. Reading never waits for writers of other processes.

    Nothing is opened before the first use. Raises Failed for a file that is broken, locked, full or not to be written.
    """

    def __init__(self, file: Path, wait: float = WAIT) -> None:
        self.file, self._wait = file, wait
        self._ours: set[str] = set()
        self._trouble: Failed | None = None  # why the last answer could not be kept
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()

    @override
    def get(self, key: str) -> Call | None:
        """See `CallStore.get`. While answers cannot be kept it raises, so that no more of them are paid for."""
        if self._trouble is not None:
            raise self._trouble
        query = "SELECT call, payer FROM calls WHERE key = ?"
        row = self._use(lambda connection: connection.execute(query, (_key(key),)).fetchone())
        if row is None:
            return None
        if row[1] and row[1] == self.payer:
            self._ours.add(key)
        return unpack(row[0], self.file)

    @override
    def ours(self, key: str) -> bool:
        return key in self._ours

    @override
    async def put(self, call: Call) -> None:
        """See `CallStore.put`. Takes a tenth of a millisecond, so the loop may wait for it."""
        try:
            packed = zlib.compress(call.to_line(), 1)
        except ValueError as error:  # pydantic's serialisation errors are ValueErrors
            raise Failed(
                FailureKind.UNREADABLE,
                f"{call.model} answered with characters that cannot be stored ({error})",
                raw=call.answer.text.encode("utf-8", "replace").decode(),
            ) from None
        usage = call.answer.usage
        numbers = (time.time(), usage.tokens_in, usage.tokens_out, usage.dollars)
        row = (_key(call.key), call.model, *numbers, packed, self.payer)
        try:
            self._use(lambda connection: connection.execute(f"INSERT OR REPLACE INTO calls VALUES ({_MARKS})", row))
        except Failed as error:
            self._trouble = error
            raise
        self._trouble = None

    @override
    def forget(self, keys: Sequence[str]) -> None:
        rows = [(_key(key),) for key in keys]
        self._use(lambda connection: connection.executemany("DELETE FROM calls WHERE key = ?", rows))

    @override
    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _use(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            if os.getpid() != self._process:  # a fork must not use its parent's connection
                self._process, self._connection = os.getpid(), None
            try:
                if self._connection is None:
                    self._connection = open_calls(self.file, self._wait)
                return work(self._connection)
            except sqlite3.Error as error:
                raise cache_error(self.file, error) from None


_MARKS = ", ".join("?" * 8)


class DryRun(Memory):
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


def open_store(cache: bool, replay: Path | None, dry_run: bool) -> CallStore:
    """The store that the settings of a client ask for."""
    if replay is not None:
        return Replay(replay)
    file = cache_file() if cache else None
    if file is None:
        return Memory()
    found = CallCache(file)
    return DryRun(found) if dry_run else found


def cache_file() -> Path | None:
    """The file of the cache; None where it is turned off."""
    home = cache_home()
    return None if home is None else home / NAME


def open_calls(file: Path, wait: float = WAIT) -> sqlite3.Connection:
    """A connection to a cache of calls, which is created where there is none. Raises Failed."""
    try:
        return open_file(file, TABLE, wait)
    except sqlite3.Error as error:
        raise cache_error(file, error) from None
    except UserError as error:
        raise _stop(error.problem, ELSEWHERE) from None
    except OSError as error:
        problem = f"the cache of answers cannot be written to {file.parent}: {error.strerror or error}"
        raise _stop(problem, ELSEWHERE) from None


def cache_error(file: Path, error: sqlite3.Error) -> Failed:
    """The error for a cache that cannot be used."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return _stop(
            f"the cache of answers {file} is locked by another process",
            "end that process and run the same command again, or ask without a cache (--no-cache)",
        )
    if "full" in text:
        return _stop(f"{file}: the disk is full", "free some space and run the same command again")
    if isinstance(error, sqlite3.OperationalError):  # read-only, no permission, an input/output error
        return _stop(f"the cache of answers {file} cannot be used: {text}", ELSEWHERE)
    return _stop(
        f"the cache of answers {file} is broken: {text}",
        f"its answers would be paid for again: restore it, or move it away, or {ELSEWHERE}",
    )


def unpack(packed: bytes, file: Path) -> Call:
    """A call from its stored form. Raises Failed for one that is broken."""
    try:
        return parse_record(Call, zlib.decompress(packed), str(file))
    except (zlib.error, BadInput) as error:
        problem = f"the cache of answers {file} holds a call that cannot be read: {error}"
        raise _stop(problem, f"reviewgauge cache clear, or {ELSEWHERE}") from None


def _stop(problem: str, remedy: str) -> Failed:
    return Failed(FailureKind.CRASH, problem, remedy=remedy, stops=True)


def _key(key: str) -> bytes:
    return bytes.fromhex(key)


# --- listing and clearing ------------------------------------------------------------------------------------------


class CachedModel(Record):
    """The answers of one model. `dollars` is what those cost whose price was known; `unpriced` counts the others."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float
    unpriced: int
    oldest: datetime
    newest: datetime


def calls_by_model(file: Path) -> list[CachedModel]:
    """What a cache of calls holds, the model with the most calls first. Raises UserError."""
    query = (
        "SELECT model, count(*), sum(tokens_in), sum(tokens_out), total(dollars), sum(dollars IS NULL), "
        "CAST(min(made) AS INTEGER), CAST(max(made) AS INTEGER) FROM calls GROUP BY model ORDER BY 2 DESC, 1"
    )
    rows = _with_file(file, lambda connection: connection.execute(query).fetchall())
    return [CachedModel.model_validate(dict(zip(CachedModel.model_fields, row, strict=True))) for row in rows]


def usual_answers(file: Path, model: str) -> dict[str, tuple[int, float]]:
    """By kind of prompt: how many of a sample of a model's calls had it, and the mean of their tokens out.

    `model` is its whole spec. Raises UserError.
    """
    query = "SELECT tokens_out, call FROM calls WHERE model = ? ORDER BY key LIMIT ?"  # a hash: a fair sample
    found: dict[str, list[int]] = {}
    for tokens, packed in _with_file(file, lambda opened: opened.execute(query, (model, _SAMPLE)).fetchall()):
        messages = unpack(packed, file).request.messages
        found.setdefault(kind_of(message.text for message in messages), []).append(tokens)
    return {kind: (len(tokens), sum(tokens) / len(tokens)) for kind, tokens in found.items()}


def stored_calls(file: Path, model: str | None = None) -> Iterator[Call]:
    """The calls of a cache, those of one model where it is named, in the order in which they were made."""
    with closing(open_calls(file)) as connection:
        try:
            for stored, packed in connection.execute("SELECT model, call FROM calls ORDER BY made, key"):
                if model is None or is_of(stored, model):
                    yield unpack(packed, file)
        except sqlite3.Error as error:
            raise cache_error(file, error) from None


def delete_calls(file: Path, model: str | None = None, before: datetime | None = None) -> int:
    """Delete calls, all or those of one model or before a time; returns how many."""
    until = before.timestamp() if before is not None else float("inf")

    def delete(connection: sqlite3.Connection) -> int:
        connection.create_function("chosen", 1, lambda stored: model is None or is_of(stored, model))
        gone = connection.execute("DELETE FROM calls WHERE made < ? AND chosen(model)", (until,)).rowcount
        connection.execute("VACUUM")
        return gone

    return _with_file(file, delete)


def is_of(stored: str, model: str) -> bool:
    """Whether a stored spec is the model that a user means: the spec, the spec without parameters, or its name."""
    head = stored.partition("?")[0]
    return model in (stored, head, head.partition(":")[2], head.partition(":")[2].partition("@")[0])


def _with_file(file: Path, work: Callable[[sqlite3.Connection], T]) -> T:
    try:
        with closing(open_calls(file)) as connection:
            return work(connection)
    except sqlite3.Error as error:
        raise cache_error(file, error) from None
