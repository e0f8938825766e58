"""The folder of the caches, and the cache of vectors: by model and text, so that no text is embedded twice.

The folder is `$REVIEWGAUGE_CACHE`, else `$XDG_CACHE_HOME/reviewgauge`, else `~/.cache/reviewgauge`;
`REVIEWGAUGE_CACHE=off` keeps nothing. Each cache is one SQLite file that several processes may use at once. That of the
vectors, `vectors.sqlite`, holds hashes of texts, never texts. Losing it costs time alone, so one that cannot be used is
a warning, and the vectors are computed.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import open_database

Floats = npt.NDArray[np.float32]

VECTORS = "vectors.sqlite"
WAIT = 30.0  # seconds for another process to finish writing
LARGEST = 2 * 1024**3  # bytes; then the oldest quarter goes
_OFF = ("off", "0", "no", "")
_KEYS_PER_QUERY = 500  # keys in one query
_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, model BLOB NOT NULL, text BLOB NOT NULL, "
    "vector BLOB NOT NULL, UNIQUE (model, text))"
)


def cache_home() -> Path | None:
    """The folder of the caches; None where they are turned off, or where there is no home folder."""
    own = os.environ.get("REVIEWGAUGE_CACHE")
    if own is not None:
        return None if own.strip().lower() in _OFF else Path(own).expanduser()
    # The XDG rule: a relative value is invalid and is ignored.
    if (shared := os.environ.get("XDG_CACHE_HOME")) and Path(shared).is_absolute():
        return Path(shared) / "reviewgauge"
    try:
        return Path.home() / ".cache" / "reviewgauge"
    except RuntimeError:
        return None


def open_file(file: Path, table: str = _TABLE, wait: float = WAIT) -> sqlite3.Connection:
    """A connection to a cache, which is created where there is none. Raises UserError, OSError and sqlite3.Error."""
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = open_database(file, [table], timeout=wait)
    until = time.monotonic() + wait
    while True:  # SQLite does not wait for others here as it does elsewhere
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            return connection
        except sqlite3.Error as error:
            if "locked" not in str(error) or time.monotonic() > until:
                connection.close()
                raise
            time.sleep(0.01)


def open_cache() -> VectorCache | None:
    """The cache in its folder; None where it is turned off."""
    home = cache_home()
    return None if home is None else VectorCache(home / VECTORS)


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
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        if (pages - free) * size > self.largest:
            quarter = "SELECT id FROM vectors ORDER BY id LIMIT (SELECT count(*) / 4 FROM vectors)"
            connection.execute(f"DELETE FROM vectors WHERE id IN ({quarter})")

    def _use(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do `work` on a connection, if there can be one."""
        if not self._usable:
            return
        try:
            with closing(open_file(self.file)) as connection:
                work(connection)
        except (sqlite3.Error, OSError, UserError) as error:
            self._usable = False
            warnings.warn(f"the cache of vectors at {self.file} is not used: {error}", RuntimeWarning, stacklevel=4)


def count_vectors(file: Path) -> int:
    """How many vectors a cache of vectors holds. Raises UserError."""
    try:
        with closing(open_file(file)) as connection:
            return int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])
    except (sqlite3.Error, OSError) as error:
        raise UserError(f"the cache of vectors {file} cannot be used: {error}", remedy="delete it") from None


def delete_vectors(file: Path) -> int:
    """Delete all vectors; returns how many. Raises UserError."""
    count = count_vectors(file)
    with closing(open_file(file)) as connection:
        connection.execute("DELETE FROM vectors")
        connection.execute("VACUUM")
    return count


def _model(fingerprint: str) -> bytes:
    return bytes.fromhex(fingerprint)[:16]


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
