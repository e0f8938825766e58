"""Stores the raw answers of a forge, so that an interrupted crawl resumes and a repeated one asks only for changes.

One SQLite file in the folder of a build. Each answer is committed before it is used, so a crawl can be killed at any
request. E-mail addresses are removed before anything is written.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import zlib
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import open_database

FILE = "answers.sqlite"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS answers"
    "(request TEXT PRIMARY KEY, version TEXT, etag TEXT, next TEXT, body BLOB) WITHOUT ROWID",
)
_ADDRESS = re.compile(r"<[^<>\s@]{1,100}@[^<>\s@]{1,200}>")
_DROPPED = {"email", "verification"}  # the payload of a signature repeats the addresses


class Kept(NamedTuple):
    """A stored answer. `version` is the state that it is complete for; `next` is the URL of the following page."""

    body: JsonValue
    version: str = ""
    etag: str = ""
    next: str = ""


class Answers:
    """Stored answers by request. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open_database(folder / FILE, _TABLES, timeout=30)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=NORMAL")
        except (OSError, sqlite3.Error) as error:
            raise UserError(f"cannot keep answers in {folder}: {error}", remedy="name another folder with -o") from None

    def get(self, request: str) -> Kept | None:
        """The stored answer to `request`, None where there is none."""
        with self._lock:
            row = self._file.execute(
                "SELECT body, version, etag, next FROM answers WHERE request = ?", (request,)
            ).fetchone()
        if row is None:
            return None
        try:
            return Kept(json.loads(zlib.decompress(row[0])), *row[1:])
        except (ValueError, zlib.error):
            return None  # a damaged row is asked for again

    def put(self, request: str, kept: Kept) -> None:
        """Store an answer; it is on disk before this returns."""
        body = zlib.compress(
            json.dumps(kept.body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        )
        with self._lock:
            self._file.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)",
                (request, kept.version, kept.etag, kept.next, body),
            )

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def without_addresses(value: JsonValue, key: str = "") -> JsonValue:
    """`value` without e-mail addresses: no `email` fields, none in the trailers of commit messages."""
    if isinstance(value, dict):
        return {name: without_addresses(item, name) for name, item in value.items() if name not in _DROPPED}
    if isinstance(value, list):
        return [without_addresses(item, key) for item in value]
    if isinstance(value, str) and key in ("message", "messageBody", "messageHeadline"):
        return without_trailer_addresses(value)
    return value


def without_trailer_addresses(message: str) -> str:
    """A commit message whose trailers (`Signed-off-by: Name <address>`) keep the name only."""
    return re.sub(r"[ \t]?" + _ADDRESS.pattern, "", message)
