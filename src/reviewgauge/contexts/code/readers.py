"""Readers of repositories that stay open from one hunk to the next, and the commits of a change."""

from __future__ import annotations

import atexit
import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.errors import NeedsCode
from reviewgauge.core.records import Change
from reviewgauge.repo.git.blobs import BlobReader
from reviewgauge.repo.git.repository import Repository

LARGEST = 1_000_000  # bytes of a file; a larger one is generated or data
_MOST = 4  # repositories that are open at once, each with two git processes


class Code(NamedTuple):
    """Where the code of a change lies: a git directory, and the commits before and after it."""

    git: str
    base: str
    head: str


def code_of(change: Change, who: str) -> Code:
    """The code of `change`. Raises NeedsCode."""
    if change.git is None or change.base is None or change.head is None:
        raise NeedsCode(f"the context {who}")
    return Code(change.git, change.base, change.head)


class _Readers:
    """The readers that were used last. One that is closed while it is used starts its processes again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[str, int], BlobReader] = OrderedDict()

    def of(self, git: str) -> BlobReader:
        key = git, os.getpid()  # after a fork the pipes belong to the other process
        with self._lock:
            reader = self._open.pop(key, None) or BlobReader(Repository(Path(git)), LARGEST)
            self._open[key] = reader
            while len(self._open) > _MOST:
                (_, process), oldest = self._open.popitem(last=False)
                if process == os.getpid():
                    oldest.close()
        return reader

    def close(self) -> None:
        with self._lock:
            for (_, process), reader in self._open.items():
                if process == os.getpid():
                    reader.close()
            self._open.clear()


_READERS = _Readers()
atexit.register(_READERS.close)


def reader_of(git: str) -> BlobReader:
    """The open reader of a git directory; files over LARGEST are not read."""
    return _READERS.of(git)
