"""`reviewgauge cache`: the stored answers of models."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reviewgauge.contexts.code.store import kept_indexes
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import replacing
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.models.cache.call_cache import (
    CachedModel,
    cache_file,
    calls_by_model,
    delete_calls,
    is_of,
    stored_calls,
)
from reviewgauge.models.cache.vector_cache import VECTORS, count_vectors, delete_vectors
from reviewgauge.models.request.messages import Call


class CacheInfo(Record):
    """What the caches hold. `path` is empty where the cache is turned off; sizes in bytes."""

    schema_version: int = 1
    path: str
    bytes: int = 0
    calls: int = 0
    models: tuple[CachedModel, ...] = ()
    vectors_path: str = ""
    vectors_bytes: int = 0
    vectors: int = 0
    indexes_path: str = ""
    indexes_bytes: int = 0
    indexes: int = 0


class CacheCleared(Record):
    """How many calls, vectors and indexes were deleted from the cache."""

    schema_version: int = 1
    path: str
    calls: int = 0
    vectors: int = 0
    indexes: int = 0


class CallsExported(Record):
    """The file of calls that was written."""

    schema_version: int = 1
    path: str
    calls: int
    bytes: int


def cache() -> CacheInfo:
    """What the caches of answers, of vectors and of code indexes hold."""
    file, kept = cache_file(), kept_indexes()
    if file is None or kept is None:
        return CacheInfo(path="")
    vectors = file.with_name(VECTORS)
    models = calls_by_model(file) if file.exists() else []
    return CacheInfo(
        path=str(file),
        bytes=_size_of(file),
        calls=sum(model.calls for model in models),
        models=tuple(models),
        vectors_path=str(vectors),
        vectors_bytes=_size_of(vectors),
        vectors=count_vectors(vectors) if vectors.exists() else 0,
        indexes_path=str(kept[0]),
        indexes_bytes=sum(one.stat().st_size for one in kept[1]),
        indexes=len(kept[1]),
    )


def clear(*, model: str | None = None, older_than: float | None = None, derived: bool = False) -> CacheCleared:
    """Delete answers from the cache: all, those of one model, or those older than so many days.

    `derived` deletes what is made again when needed instead: the vectors of texts and the indexes of code and runs.
    Raises UserError for a cache that is broken or locked.
    """
    file = _file()
    if not derived:
        before = None if older_than is None else datetime.now(UTC) - timedelta(days=older_than)
        return CacheCleared(path=str(file), calls=delete_calls(file, model, before) if file.exists() else 0)
    if model is not None or older_than is not None:
        raise UserError("what is derived is deleted all together", remedy="leave out --model and --older-than")
    vectors, kept = file.with_name(VECTORS), kept_indexes()
    indexes = kept[1] if kept is not None else []
    for one in indexes:
        one.unlink(missing_ok=True)
    gone = delete_vectors(vectors) if vectors.exists() else 0
    return CacheCleared(path=str(vectors.parent), vectors=gone, indexes=len(indexes))


def export(out: str | Path, *, model: str | None = None, run: str | Path | None = None) -> CallsExported:
    """Write the calls of the cache, or those that a run recorded, as JSON lines; `out` may end in .gz.

    Any --replay takes such a file. Calls of a run are written once each, as the run used them last.
    """
    if run is not None:
        last = {call.key: call for call in RunFolder.open(run).calls()}
        found: Iterable[Call] = (call for call in last.values() if model is None or is_of(call.model, model))
        source = str(run)
    else:
        file = _file()
        found = stored_calls(file, model) if file.exists() else ()
        source = str(file)
    path, count = Path(out), 0
    with replacing(path) as written:
        with (
            gzip.GzipFile("", "wb", fileobj=written, mtime=0) if path.suffix == ".gz" else nullcontext(written) as lines
        ):
            for call in found:
                lines.write(call.to_line())
                count += 1
        if not count:
            whose = f" of {model}" if model is not None else ""
            raise UserError(f"{source} holds no calls{whose}", remedy="reviewgauge cache info shows what there is")
    return CallsExported(path=str(path), calls=count, bytes=path.stat().st_size)


def _size_of(file: Path) -> int:
    """Bytes on disk, the log that is not yet merged included."""
    return sum(one.stat().st_size for one in (file, file.with_name(file.name + "-wal")) if one.exists())


def _file() -> Path:
    file = cache_file()
    if file is None:
        raise UserError("the cache is turned off", remedy="set REVIEWGAUGE_CACHE to its folder")
    return file
