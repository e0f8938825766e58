"""Vectors on disk, by model and text: no text is embedded twice.

One SQLite file, `vectors.sqlite`, in `$REVIEWGAUGE_CACHE`, else `$XDG_CACHE_HOME/reviewgauge`, else
`~/.cache/reviewgauge`; `REVIEWGAUGE_CACHE=off` keeps nothing. Several processes may use it at once. It holds hashes
of texts, never texts. Losing it costs time alone, so a cache that cannot be used is a warning, and
the vectors are computed.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt

from reviewgauge.core.databases import check_journal

Floats = npt.NDArray[np.float32]

OFF = ("off", "0", "no", "")
LARGEST = 2 * 1024**3  # bytes; then the oldest quarter goes
_KEYS_PER_QUERY = 500  # keys in one query
_WAIT = 30.0  # seconds for another process to finish writing
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY, model BLOB NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, UNIQUE (model, text)
)
"""


def cache_home() -> Path | None:
    """The folder of the caches; None where they are turned off, or where there is no home folder."""
    own = os.environ.get("REVIEWGAUGE_CACHE")
    if own is not None:
        return None if own.strip().lower() in OFF else Path(own).expanduser()
    # The XDG rule: a relative value is invalid and is ignored.
    if (shared := os.environ.get("XDG_CACHE_HOME")) and Path(shared).is_absolute():
        return Path(shared) / "reviewgauge"
    try:
        return Path.home() / ".cache" / "reviewgauge"
    except RuntimeError:
        return None


def open_cache() -> VectorCache | None:
    """The cache in its folder; None where it is turned off."""
    home = cache_home()
    return None if home is None else VectorCache(home / "vectors.sqlite")


class VectorCache:
    """The vectors in one file. Nothing stays open between calls, so it is safe in threads and forks."""

    def __init__(self, file: Path, largest: int = LARGEST) -> None:
        self.file, self.largest = file, largest
        self._usable = True

    def get(self, model: str, texts: Sequence[str]) -> dict[str, Floats]:
        """The vectors that it holds, by text."""
        found: dict[str, Floats] = {}
        if not self.file.exists():
            return found
        keys = {_key(text): text for text in texts}

        def read(connection: sqlite3.Connection) -> None:
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                some = list(keys)[start : start + _KEYS_PER_QUERY]
                marks = ",".join("?" * len(some))
                query = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})"
                rows = connection.execute(query, [_model(model), *some])
                found.update((keys[k], np.frombuffer(v, dtype="<f4")) for k, v in rows if v and len(v) % 4 == 0)

        self._use(read)
        return found

    def put(self, model: str, vectors: Mapping[str, Floats]) -> None:
        """Store these vectors, by text; those already there stay."""
        rows = [(_model(model), _key(text), vector.astype("<f4").tobytes()) for text, vector in vectors.items()]

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR IGNORE INTO vectors (model, text, vector) VALUES (?, ?, ?)", rows)
            self._shrink(connection)
            connection.execute("COMMIT")

        self._use(write)

    def _shrink(self, connection: sqlite3.Connection) -> None:
        sizes = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count")]
        page = connection.execute("PRAGMA page_size").fetchone()[0]
        if (sizes[0] - sizes[1]) * page > self.largest:
            quarter = "SELECT id FROM vectors ORDER BY id LIMIT (SELECT count(*) / 4 FROM vectors)"
            connection.execute(f"DELETE FROM vectors WHERE id IN ({quarter})")

    def _use(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do `work` on a connection, if there can be one; a broken file is renamed."""
        if not self._usable:
            return
        opened = None
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            check_journal(self.file)
            with closing(sqlite3.connect(self.file, timeout=_WAIT, isolation_level=None)) as connection:
                opened = _identity(self.file)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(_SCHEMA)
                work(connection)
        except sqlite3.OperationalError as error:  # locked, read-only, disk full, another program's table
            self._usable = "locked" in str(error)
            _warn(f"the cache of vectors at {self.file} is not used: {error}")
        except sqlite3.DatabaseError as error:
            self._set_aside(opened, error)
        except OSError as error:
            self._usable = False
            _warn(f"the cache of vectors cannot be written to {self.file.parent}: {error.strerror or error}")

    def _set_aside(self, opened: tuple[int, int] | None, error: sqlite3.Error) -> None:
        """Rename the broken file, unless another process has already put a new one in its place."""
        if opened is None or _identity(self.file) != opened:
            return
        names = (self.file.with_name(f"{self.file.name}.broken{n or ''}") for n in count())
        backup = next(name for name in names if not name.exists())
        try:
            self.file.replace(backup)
            for suffix in ("-wal", "-shm"):
                self.file.with_name(self.file.name + suffix).unlink(missing_ok=True)
        except OSError:
            self._usable = False
        _warn(f"the cache of vectors was broken ({error}): it was renamed to {backup.name}, and a new one was created")


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _model(fingerprint: str) -> bytes:
    return bytes.fromhex(fingerprint)[:16]


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
