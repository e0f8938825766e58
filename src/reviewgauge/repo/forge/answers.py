"""The raw answers of a forge, kept on disk: what is complete is not asked again, what changed is asked with its ETag.

One SQLite file in the folder of a build. Each answer is committed before it is used, so a crawl can be killed at any
request. E-mail addresses are taken out before anything is written; tokens are in no answer.
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

FILE = "answers.sqlite"
_FORMAT = 1
_ADDRESS = re.compile(r"<[^<>\s@]{1,100}@[^<>\s@]{1,200}>")
_DROPPED = {"email", "verification"}  # the payload of a signature repeats the addresses


class Kept(NamedTuple):
    """One answer. `version` is the state of the thing that it is complete for; `next` is the following page."""

    body: JsonValue
    version: str
    etag: str
    next: str


class Answers:
    """Kept answers by request. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(folder / FILE, check_same_thread=False, isolation_level=None, timeout=30)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=NORMAL")
            (found,) = self._file.execute("PRAGMA user_version").fetchone()
            if found not in (0, _FORMAT):
                raise UserError(f"{folder / FILE} was written by another version", remedy="delete it, and ask again")
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS answers"
                "(request TEXT PRIMARY KEY, version TEXT, etag TEXT, next TEXT, body BLOB) WITHOUT ROWID"
            )
            self._file.execute("CREATE TABLE IF NOT EXISTS marks(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
            self._file.execute(f"PRAGMA user_version={_FORMAT}")
        except (OSError, sqlite3.Error) as error:
            raise UserError(f"cannot keep answers in {folder}: {error}", remedy="name another folder with -o") from None

    def get(self, request: str) -> Kept | None:
        """What was answered to `request`."""
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
        """Keep an answer, on disk before this returns."""
        body = zlib.compress(
            json.dumps(kept.body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        )
        with self._lock:
            self._file.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)",
                (request, kept.version, kept.etag, kept.next, body),
            )

    def renew(self, request: str, version: str) -> None:
        """The kept answer holds for `version` too."""
        with self._lock:
            self._file.execute("UPDATE answers SET version = ? WHERE request = ?", (version, request))

    def mark(self, name: str, value: str) -> None:
        """Remember a word about the crawl."""
        with self._lock:
            self._file.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (name, value))

    def marked(self, name: str) -> str:
        """The word that was remembered; empty where none was."""
        with self._lock:
            row = self._file.execute("SELECT value FROM marks WHERE name = ?", (name,)).fetchone()
        return "" if row is None else str(row[0])

    def close(self) -> None:
        """Let go of the file."""
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
    """A commit message whose `Signed-off-by: Name <address>` and the like keep the name alone."""
    return re.sub(r"[ \t]?" + _ADDRESS.pattern, "", message)
