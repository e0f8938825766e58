"""The folder of a build as its stages see it: code, memory, progress, sections of the card."""

from __future__ import annotations

import errno
import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from reviewgauge.core.building import CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.journal import CallLog, Lock, write_error
from reviewgauge.models.request.messages import Call

MEMORY, CODE, LOCK = "memory.sqlite", "repos", "build.lock"
ProgressListener = Callable[[str, int, int | None], None]


class Stopped(Exception):
    """The build was asked to stop; finished work is remembered."""


class BuildFolder:
    """The `BuildContext` of a build. Safe to use from several threads; a lock admits one process at a time.

    It also keeps the calls of chat models that the build pays for, so that it can be replayed.
    """

    def __init__(
        self, folder: Path, source: str = "", listener: ProgressListener | None = None, stop: Interruption | None = None
    ) -> None:
        self.source, self.folder, self.code = source, folder.absolute(), folder.absolute() / CODE
        self.sections: list[CardSection] = []
        self._listener, self._stop = listener, stop
        self._lock = threading.Lock()
        try:
            self.code.mkdir(parents=True, exist_ok=True)
            self._memory = sqlite3.connect(folder / MEMORY, check_same_thread=False, isolation_level=None)
            self._memory.execute("PRAGMA journal_mode=WAL")
            self._memory.execute("CREATE TABLE IF NOT EXISTS memory (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        except OSError as error:
            reason = error.strerror or error
            raise UserError(f"cannot write into {folder}: {reason}", remedy="name another folder with -o") from None
        except sqlite3.Error as error:
            remedy = "name another folder with -o"
            raise UserError(f"cannot write {folder / MEMORY}: {error}", remedy=remedy) from None
        self._writer = Lock(folder / LOCK)
        self._calls = CallLog(folder)

    def recall(self, key: Sequence[str]) -> bytes | None:
        """The value remembered under `key`. Raises UserError for a damaged memory."""
        with self._lock, self._explaining():
            row = self._memory.execute("SELECT value FROM memory WHERE key = ?", (_digest(key),)).fetchone()
        return None if row is None else bytes(row[0])

    def remember(self, key: Sequence[str], value: bytes) -> None:
        """Keep `value` under `key`, committed before this returns. Raises UserError where the disk takes no more."""
        with self._lock, self._explaining():
            self._memory.execute("INSERT OR REPLACE INTO memory VALUES (?, ?)", (_digest(key), value))

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn errors of the memory's database into errors with a remedy."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                raise write_error(self.folder / MEMORY, OSError(errno.ENOSPC, str(error))) from None
            raise UserError(f"cannot use {self.folder / MEMORY}: {error}") from None
        except sqlite3.DatabaseError as error:
            remedy = "remove it: remembered work is then done, and paid for, again"
            raise UserError(f"{self.folder / MEMORY} is damaged: {error}", remedy=remedy) from None

    def progress(self, label: str, done: int, total: int | None = None) -> None:
        """Report progress. Raises Stopped once the build is asked to stop."""
        if self._stop is not None and self._stop.is_set():
            raise Stopped
        if self._listener is not None:
            self._listener(label, done, total)

    def listen(self, listener: ProgressListener | None) -> None:
        """Replace the listener for progress."""
        self._listener = listener

    def report(self, section: CardSection) -> None:
        """Put a section on the card; one of the same stage and title is replaced."""
        with self._lock:
            self.sections = [s for s in self.sections if (s.by, s.title) != (section.by, section.title)] + [section]

    def close(self) -> None:
        """Close the memory and release the folder."""
        self._calls.close()
        with self._lock:  # a thread that a second Ctrl-C left at work may be writing
            self._memory.close()
        self._writer.release()

    # --- the bill ---

    @property
    def payer(self) -> str:
        """The name under which this folder pays for calls."""
        return hashlib.sha256(str(self.folder).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def append_call(self, call: Call, *, ours: bool = False) -> None:
        """Record one call of a chat model; see `CallLog.append`."""
        self._calls.append(call, ours=ours)

    def spent(self) -> float:
        """Dollars that the recorded calls of this folder cost, as far as their prices were known."""
        return self._calls.spent()

    def sync(self) -> None:
        """Put the calls on the disk."""
        self._calls.sync()


def _digest(key: Sequence[str]) -> bytes:
    joined = "".join(f"{len(part)}:{part}" for part in key)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()
