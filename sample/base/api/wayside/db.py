"""The SQLite database: connections, transactions and the schema."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

MIGRATIONS = (
    """
    CREATE TABLE lockers (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        street TEXT NOT NULL,
        note TEXT NOT NULL DEFAULT '',
        opens TEXT,
        closes TEXT
    );
    CREATE TABLE parcels (
        id TEXT PRIMARY KEY,
        locker TEXT NOT NULL REFERENCES lockers (id),
        recipient TEXT NOT NULL,
        size TEXT NOT NULL CHECK (size IN ('small', 'medium', 'large')),
        status TEXT NOT NULL,
        stored_at TEXT,
        code_digest TEXT
    );
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        parcel TEXT NOT NULL REFERENCES parcels (id),
        status TEXT NOT NULL,
        at TEXT NOT NULL
    );
    CREATE INDEX events_parcel ON events (parcel);
    CREATE TABLE outbox (
        id INTEGER PRIMARY KEY,
        recipient TEXT NOT NULL,
        template TEXT NOT NULL,
        fields TEXT NOT NULL,
        created_at TEXT NOT NULL,
        sent_at TEXT
    )
    """,
)


def connect(path: str) -> sqlite3.Connection:
    """A connection in autocommit mode: writes that belong together go into `transaction`."""
    conn = sqlite3.connect(path, timeout=10, isolation_level=None)
    conn.row_factory = sqlite3.Row
    conn.execute("PRAGMA foreign_keys = ON")
    return conn


@contextmanager
def transaction(conn: sqlite3.Connection) -> Iterator[None]:
    """All or nothing. Takes the write lock at once, so that what is read inside stays true until the end."""
    conn.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        conn.execute("ROLLBACK")
        raise
    conn.execute("COMMIT")


def migrate(conn: sqlite3.Connection) -> int:
    """Bring the schema up to date; returns the number of migrations that were run."""
    version = conn.execute("PRAGMA user_version").fetchone()[0]
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        with transaction(conn):
            for statement in script.split(";"):
                conn.execute(statement)
            conn.execute(f"PRAGMA user_version = {number}")
    return len(MIGRATIONS) - version
