"""Where answers are kept: the cache on disk, the record that is replayed, or nothing.

The cache is one SQLite file, `chat.sqlite`, beside that of the vectors (see `_vector_cache.cache_home`). Any number of
threads and processes may use it. It holds whole calls: requests with the code under review in them, and answers. An
answer costs money, so trouble with it is an error that says what to do, and never a second call in silence."""

from __future__ import annotations

from pathlib import Path

from reviewgauge.models.cache.call_cache import CallCache, Rehearsed, cache_file
from reviewgauge.models.cache.call_store import CallStore, Memory


def open_call_cache(cache: bool, replay: Path | None, rehearsal: bool) -> CallStore:
    """The store that the settings of a door ask for."""
    if replay is not None:
        from reviewgauge.models.cache.recorded_calls import Replay

        return Replay(replay)
    file = cache_file() if cache else None
    if file is None:
        return Memory()
    found = CallCache(file)
    return Rehearsed(found) if rehearsal else found
