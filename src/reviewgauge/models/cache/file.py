"""The file that answers are kept in: opening it, its table, and what a user is told when it cannot be used.

All trouble with it is a Failed that stops the run: the next answer would be paid for and not be kept either.
"""

from __future__ import annotations

import sqlite3
import time
import zlib
from pathlib import Path

from reviewgauge.core.errors import BadInput
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.request.messages import Call

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


def _stop(problem: str, remedy: str) -> Failed:
    return Failed(FailureKind.CRASH, problem, remedy=remedy, stops=True)


def open_file(file: Path, wait: float = WAIT) -> sqlite3.Connection:
    """A connection to the cache, made where it is not there. Raises Failed that says what to do."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _stop(f"no cache of answers can be kept in {file.parent}: {error.strerror or error}", ELSEWHERE) from None
    connection: sqlite3.Connection | None = None
    try:
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
            raise trouble(file, error) from None
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
            f"the cache {file} is of a newer ReviewGauge (schema {found}; this one reads {SCHEMA})",
            "pip install --upgrade reviewgauge, or " + ELSEWHERE,
        )
    if connection.execute("SELECT count(*) FROM sqlite_master WHERE tbl_name <> 'calls'").fetchone()[0]:
        raise _stop(f"{file} is a database of something else", ELSEWHERE)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_TABLE)
    if connection.execute("SELECT count(*) FROM pragma_table_info('calls') WHERE name = 'payer'").fetchone()[0] == 0:
        connection.execute(_WITH_PAYER)
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    connection.execute("COMMIT")


def trouble(file: Path, error: sqlite3.Error) -> Failed:
    """What a user is told when the cache cannot be used."""
    said = str(error)
    if "locked" in said or "busy" in said:
        return _stop(
            f"the cache of answers {file} is locked by another process, and stays so",
            "end that process and run the same command again, or ask without a cache (--no-cache)",
        )
    if "full" in said:
        return _stop(f"{file}: no room left to keep an answer", "free some space and run the same command again")
    if isinstance(error, sqlite3.OperationalError):  # read-only, no permission, an input/output error
        return _stop(f"the cache of answers {file} cannot be used: {said}", ELSEWHERE)
    return _stop(
        f"the cache of answers {file} is broken: {said}",
        f"what it holds would be paid for again: restore it, or move it away, or {ELSEWHERE}",
    )


def unpack(packed: bytes, file: Path) -> Call:
    """A call as the cache keeps it. Raises Failed for one that is broken."""
    try:
        return parse_record(Call, zlib.decompress(packed), str(file))
    except (zlib.error, BadInput) as error:
        raise _stop(
            f"the cache of answers {file} holds a call that cannot be read: {error}",
            f"reviewgauge cache clear, or {ELSEWHERE}",
        ) from None
