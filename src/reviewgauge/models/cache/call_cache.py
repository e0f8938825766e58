"""The cache of calls: one SQLite file, `chat.sqlite`, beside that of the vectors.

Any number of threads and processes may use it. It holds whole calls: requests with the code under review in them, and
answers. An answer costs money, so a cache that cannot be used stops the run with an error that says what to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.databases import check_journal
from reviewgauge.core.errors import BadInput
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.cache.vector_cache import cache_home
from reviewgauge.models.request.messages import Call

NAME = "chat.sqlite"
_INSERT = "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
SCHEMA = 2
ELSEWHERE = "set REVIEWGAUGE_CACHE to another folder, or ask without a cache (--no-cache)"
WAIT = 30.0  # seconds for another process to finish writing
_TABLE = """
CREATE TABLE IF NOT EXISTS calls (
    key BLOB PRIMARY KEY, model TEXT NOT NULL, made REAL NOT NULL, tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL, dollars REAL, call BLOB NOT NULL, payer TEXT NOT NULL DEFAULT ''
)
"""
_WITH_PAYER = "ALTER TABLE calls ADD COLUMN payer TEXT NOT NULL DEFAULT ''"  # what schema 1 lacks


class _Put(NamedTuple):
    row: Call
    payer: str
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[None]


class _Forget(NamedTuple):
    keys: tuple[str, ...]


class CallCache:
    """The calls in one file. Reading never waits for writers; one thread writes, many answers in one transaction.

    Nothing is opened before the first use. Raises Failed for a file that is broken, locked, full or not to be written.
    """

    def __init__(self, file: Path, wait: float = WAIT) -> None:
        self.file, self._wait = file, wait
        self.payer = ""
        self._ours: set[str] = set()
        self._trouble: Failed | None = None  # why the last answer could not be kept
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._begin()

    def _begin(self) -> None:
        self._reading: sqlite3.Connection | None = None
        self._writer: threading.Thread | None = None
        self._jobs: queue.SimpleQueue[_Put | _Forget | None] = queue.SimpleQueue()
        self._gone: set[str] = set()  # forgotten, and perhaps not yet deleted

    def get(self, key: str) -> Call | None:
        """The call under a key. While answers cannot be kept it raises, so that no more of them are paid for."""
        if self._trouble is not None:
            raise self._trouble
        with self._lock:
            if os.getpid() != self._process:  # a fork must not use its parent's connections
                self._process = os.getpid()
                self._begin()
            if key in self._gone:
                return None
            try:
                if self._reading is None:
                    self._reading = open_file(self.file, self._wait)
                row = self._reading.execute("SELECT call, payer FROM calls WHERE key = ?", (_key(key),)).fetchone()
            except sqlite3.Error as error:
                raise cache_error(self.file, error) from None
        if row is None:
            return None
        call = unpack(row[0], self.file)
        if row[1] and row[1] == self.payer:
            self._ours.add(key)
        return call

    def ours(self, key: str) -> bool:
        """See `CallStore.ours`."""
        return key in self._ours

    async def put(self, call: Call) -> None:
        """See `CallStore.put`."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._hand_over(_Put(call, self.payer, loop, done))
        try:
            await done
        except Failed as error:
            self._trouble = error if error.stops else self._trouble
            raise
        self._trouble = None
        self._gone.discard(call.key)

    def forget(self, keys: Sequence[str]) -> None:
        """See `CallStore.forget`."""
        self._gone.update(keys)
        self._hand_over(_Forget(tuple(keys)))

    def close(self) -> None:
        """See `CallStore.close`. What was handed over is written first."""
        with self._lock:
            writer, reading = self._writer, self._reading
            self._writer = self._reading = None
        if writer is not None and self._process == os.getpid():
            self._jobs.put(None)
            writer.join()
        if reading is not None:
            reading.close()

    def _hand_over(self, job: _Put | _Forget) -> None:
        with self._lock:
            if self._writer is None:
                self._writer = threading.Thread(target=_write, args=(self.file, self._wait, self._jobs), daemon=True)
                self._writer.start()
        self._jobs.put(job)


def cache_file() -> Path | None:
    """The file of the cache; None where it is turned off."""
    home = cache_home()
    return None if home is None else home / NAME


# --- the file ------------------------------------------------------------------------------------------------------


def _stop(problem: str, remedy: str) -> Failed:
    return Failed(FailureKind.CRASH, problem, remedy=remedy, stops=True)


def open_file(file: Path, wait: float = WAIT) -> sqlite3.Connection:
    """A connection to the cache, which is created where there is none. Raises Failed."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _stop(
            f"the cache of answers cannot be written to {file.parent}: {error.strerror or error}", ELSEWHERE
        ) from None
    connection: sqlite3.Connection | None = None
    try:
        check_journal(file)
        connection = sqlite3.connect(file, timeout=wait, isolation_level=None, check_same_thread=False)
        _write_ahead(connection, wait)
        connection.execute("PRAGMA synchronous = NORMAL")
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found != SCHEMA:
            _make(connection, file, found)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise cache_error(file, error) from None
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, wait: float) -> None:
    """Turn the write-ahead log on. SQLite does not wait for others here as it does elsewhere."""
    until = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _make(connection: sqlite3.Connection, file: Path, found: int) -> None:
    """The table of an empty or an older file. Raises Failed for a file of a newer version, or of something else."""
    if found > SCHEMA:
        raise _stop(
            f"the cache {file} was written by a newer ReviewGauge (schema {found}; this one reads {SCHEMA})",
            "pip install --upgrade reviewgauge, or " + ELSEWHERE,
        )
    if connection.execute("SELECT count(*) FROM sqlite_master WHERE tbl_name <> 'calls'").fetchone()[0]:
        raise _stop(f"{file} is another program's database", ELSEWHERE)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_TABLE)
    if connection.execute("SELECT count(*) FROM pragma_table_info('calls') WHERE name = 'payer'").fetchone()[0] == 0:
        connection.execute(_WITH_PAYER)
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    connection.execute("COMMIT")


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
        raise _stop(
            f"the cache of answers {file} holds a call that cannot be read: {error}",
            f"reviewgauge cache clear, or {ELSEWHERE}",
        ) from None


# --- the writer ----------------------------------------------------------------------------------------------------


def _write(file: Path, wait: float, jobs: queue.SimpleQueue[_Put | _Forget | None]) -> None:
    """The writer's thread: write what is queued in one transaction, and wake its callers after the commit."""
    connection: sqlite3.Connection | None = None
    last = False
    while not last:
        batch = [jobs.get()]
        while not jobs.empty():
            batch.append(jobs.get())
        last = None in batch
        work = [job for job in batch if job is not None]
        if not work:
            continue
        problem: BaseException | None = None
        try:
            if connection is None:
                connection = open_file(file, wait)
            rows, refused = _rows(work)
            _commit(connection, rows)
        except sqlite3.Error as error:
            problem, refused = cache_error(file, error), {}
        except Exception as error:  # the thread must go on, and its callers must get the error
            problem, refused = error, {}
        _notify(work, problem, refused)
    if connection is not None:
        connection.close()


def _rows(work: Sequence[_Put | _Forget]) -> tuple[list[tuple[object, ...] | _Forget], dict[int, Failed]]:
    """The rows to write, in order, and by position the calls that cannot be stored."""
    rows: list[tuple[object, ...] | _Forget] = []
    refused: dict[int, Failed] = {}
    for at, job in enumerate(work):
        if isinstance(job, _Forget):
            rows.append(job)
            continue
        try:
            rows.append(_row(job.row, job.payer))
        except ValueError as error:  # pydantic's serialisation errors are ValueErrors
            refused[at] = Failed(
                FailureKind.UNREADABLE,
                f"{job.row.model} answered with characters that cannot be stored ({error})",
                raw=job.row.answer.text.encode("utf-8", "replace").decode(),
            )
    return rows, refused


def _row(call: Call, payer: str) -> tuple[object, ...]:
    usage = call.answer.usage
    packed = zlib.compress(call.to_line(), 1)
    return (_key(call.key), call.model, time.time(), usage.tokens_in, usage.tokens_out, usage.dollars, packed, payer)


def _commit(connection: sqlite3.Connection, rows: Sequence[tuple[object, ...] | _Forget]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for row in rows:
            if isinstance(row, _Forget):
                connection.executemany("DELETE FROM calls WHERE key = ?", [(_key(key),) for key in row.keys])
            else:
                connection.execute(_INSERT, row)
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _notify(work: Sequence[_Put | _Forget], problem: BaseException | None, refused: Mapping[int, Failed]) -> None:
    """Wake the waiting callers, all of one loop at once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[None], BaseException | None]]] = {}
    for at, job in enumerate(work):
        if isinstance(job, _Put):
            by_loop.setdefault(job.loop, []).append((job.done, problem or refused.get(at)))
    for loop, outcomes in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop was closed
            loop.call_soon_threadsafe(_wake, outcomes)


def _wake(outcomes: Iterable[tuple[asyncio.Future[None], BaseException | None]]) -> None:
    for future, problem in outcomes:
        if not future.done():
            future.set_exception(problem) if problem else future.set_result(None)


def _key(key: str) -> bytes:
    return bytes.fromhex(key)
