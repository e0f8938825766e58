"""Indexes on disk: arrays of numbers in files of the cache, by what they were made from. Losing one costs time alone.

They lie in `contexts` of the folder of caches (see `models/cache/vector_cache.py`), and the oldest ones make room.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import read_within, write_whole
from reviewgauge.models.cache.vector_cache import cache_home

Arrays = Mapping[str, npt.NDArray[Any]]
FOLDER = "contexts"
_LARGEST = 1 << 30  # bytes of one file
_MOST = 2 << 30  # bytes of all
_NAME = re.compile(r"[0-9a-z-]+")
_SUM = 32  # bytes before the arrays: the SHA-256 of name and content, so that nothing else is read


def read_arrays(name: str) -> Arrays | None:
    """The arrays kept under `name`; None where there are none, or the file is not as it was written."""
    file = _file(name)
    if file is None:
        return None
    with suppress(UserError, OSError):
        raw = read_within(file, _LARGEST)
        if raw[:_SUM] == _sum(name, raw[_SUM:]):
            with np.load(io.BytesIO(raw[_SUM:]), allow_pickle=False) as found:
                return {key: found[key] for key in found.files}
    return None


def _sum(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + content).digest()


def keep_arrays(name: str, arrays: Arrays) -> None:
    """Keep arrays under `name`, if there is a cache and it can be written to."""
    file = _file(name)
    if file is None:
        return
    written = io.BytesIO()
    np.savez(written, allow_pickle=False, **arrays)
    with suppress(UserError, OSError):
        write_whole(file, _sum(name, written.getvalue()) + written.getvalue())
        _make_room(file)


def kept_indexes() -> tuple[Path, list[Path]] | None:
    """(the folder of indexes, the files in it); None where caches are turned off."""
    home = cache_home()
    if home is None:
        return None
    return home / FOLDER, [one for one in sorted((home / FOLDER).glob("*.npz")) if not one.is_symlink()]


def _file(name: str) -> Path | None:
    assert _NAME.fullmatch(name)
    home = cache_home()
    return None if home is None else home / FOLDER / f"{name}.npz"


def _make_room(newest: Path) -> None:
    files = [(one.stat(), one) for one in newest.parent.glob("*.npz") if one != newest and not one.is_symlink()]
    total = newest.stat().st_size + sum(about.st_size for about, _ in files)
    for about, one in sorted(files, key=lambda pair: pair[0].st_mtime):
        if total <= _MOST:
            return
        one.unlink(missing_ok=True)
        total -= about.st_size


def as_bytes(texts: Iterable[str]) -> npt.NDArray[np.uint8]:
    """Texts as an array of bytes."""
    return np.frombuffer(json.dumps(list(texts)).encode(), dtype=np.uint8)


def as_texts(raw: npt.NDArray[np.uint8]) -> list[str]:
    """The texts of `as_bytes`."""
    found: list[str] = json.loads(raw.tobytes())
    return found
