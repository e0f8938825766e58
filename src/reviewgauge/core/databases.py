"""SQLite files that may be somebody else's: opened without links, and with no table, view or trigger but ours.

A database decides more than its rows. Views and triggers compute without end, and a journal left beside it may name
another file, which SQLite deletes once the journal is played back (https://www.sqlite.org/fileformat.html#rollbackjournal).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Sequence
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import REMEDY, open_within

_LARGEST = 1 << 28  # bytes of one value
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")  # at a journal's end: the name of a super-journal stands before it


def open_database(path: Path, tables: Sequence[str] = (), *, timeout: float = 5.0) -> sqlite3.Connection:
    """A connection for several threads, in autocommit mode.

    `tables` are the statements that create the tables, which are run; any other table, index, view or trigger is then
    refused. Without `tables` only views and triggers are. Raises UserError, OSError and sqlite3.Error.
    """
    for side in ("", "-wal", "-shm"):
        _check_plain(path.with_name(path.name + side))
    check_journal(path)
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=timeout)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)
        found = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        ours = {table.replace("IF NOT EXISTS ", "") for table in tables}
        for kind, name, sql in found:
            if (ours and sql not in ours) or kind in ("view", "trigger"):
                raise UserError(f"{path} holds the {kind} {name!r}, which is not ours", remedy=REMEDY)
        for table in tables:
            connection.execute(table)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_plain(path: Path) -> None:
    """Raise UserError for a link and for what is not a plain file.

    Nothing is opened: whoever closes any descriptor of a file ends all locks that its process holds on it
    (https://www.sqlite.org/howtocorrupt.html#posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
    """
    with contextlib.suppress(FileNotFoundError):
        kind = path.lstat().st_mode
        if stat.S_ISLNK(kind):
            raise UserError(f"{path} is a link, which could lead out of the folder", remedy=REMEDY)
        if not stat.S_ISREG(kind):
            raise UserError(f"{path} is not a plain file", remedy=REMEDY)


def check_journal(path: Path) -> None:
    """Raise UserError where the journal beside a database names another file. Raises OSError for one that is locked."""
    journal = path.with_name(f"{path.name}-journal")
    try:
        found = open_within(journal, os.O_RDONLY)
    except FileNotFoundError:
        return
    with os.fdopen(found, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - len(_JOURNAL_MAGIC)))
        if stream.read() == _JOURNAL_MAGIC:
            raise UserError(f"{journal} names another file, which would be deleted", remedy=REMEDY)
