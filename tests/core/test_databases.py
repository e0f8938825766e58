"""SQLite files that may be somebody else's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from reviewgauge.core.databases import open_database

TABLE = "CREATE TABLE IF NOT EXISTS t (x)"
OTHER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT * FROM t").fetchall()
connection.close()
"""


def test_another_connection_of_this_process_leaves_the_locks_of_the_first(tmp_path: Path) -> None:
    """Else another process thinks that it is the last one and removes the log: `disk I/O error` here."""
    file = tmp_path / "t.sqlite"
    first = open_database(file, [TABLE])
    first.execute("PRAGMA journal_mode = WAL")
    first.execute("INSERT INTO t VALUES (1)")
    second = open_database(file, [TABLE])
    subprocess.run([sys.executable, "-c", OTHER, str(file)], check=True)
    assert file.with_name("t.sqlite-wal").exists()
    first.execute("INSERT INTO t VALUES (2)")
    assert second.execute("SELECT count(*) FROM t").fetchone() == (2,)
    first.close()
    second.close()
