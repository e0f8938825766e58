"""Listing and clearing the caches on disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from reviewgauge.core.base import Record
from reviewgauge.models.cache.call_cache import cache_error, open_file, unpack
from reviewgauge.models.request.budget import kind_of
from reviewgauge.models.request.messages import Call

T = TypeVar("T")
_SAMPLE = 5_000  # calls of a model to estimate the length of its answers from


class CachedModel(Record):
    """The answers of one model. `dollars` is what those cost whose price was known; `unpriced` counts the others."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float
    unpriced: int
    oldest: datetime
    newest: datetime


def calls_by_model(file: Path) -> list[CachedModel]:
    """What a cache of calls holds, the model with the most calls first. Raises UserError."""
    query = (
        "SELECT model, count(*), sum(tokens_in), sum(tokens_out), total(dollars), sum(dollars IS NULL), min(made), "
        "max(made) FROM calls GROUP BY model ORDER BY 2 DESC, 1"
    )

    names = ("model", "calls", "tokens_in", "tokens_out", "dollars", "unpriced")

    def read(connection: sqlite3.Connection) -> list[CachedModel]:
        return [
            CachedModel(**dict(zip(names, row, strict=True)), oldest=_time(oldest), newest=_time(newest))
            for *row, oldest, newest in connection.execute(query)
        ]

    return _use(file, read)


def usual_answers(file: Path, model: str) -> dict[str, tuple[int, float]]:
    """By kind of prompt: how many of a sample of a model's calls had it, and the mean of their tokens out.

    `model` is its whole spec. Raises UserError.
    """
    query = "SELECT tokens_out, call FROM calls WHERE model = ? ORDER BY key LIMIT ?"  # a hash: a fair sample
    found: dict[str, list[int]] = {}
    for tokens, packed in _use(file, lambda connection: connection.execute(query, (model, _SAMPLE)).fetchall()):
        messages = unpack(packed, file).request.messages
        found.setdefault(kind_of(message.text for message in messages), []).append(tokens)
    return {kind: (len(tokens), sum(tokens) / len(tokens)) for kind, tokens in found.items()}


def stored_calls(file: Path, model: str | None = None) -> Iterator[Call]:
    """The calls of a cache, those of one model where it is named, in the order in which they were made."""
    with closing(open_file(file)) as connection:
        try:
            for stored, packed in connection.execute("SELECT model, call FROM calls ORDER BY made, key"):
                if model is None or is_of(stored, model):
                    yield unpack(packed, file)
        except sqlite3.Error as error:
            raise cache_error(file, error) from None


def delete_calls(file: Path, model: str | None = None, before: datetime | None = None) -> int:
    """Delete calls, all or those of one model or before a time; returns how many."""

    def delete(connection: sqlite3.Connection) -> int:
        specs = [row[0] for row in connection.execute("SELECT DISTINCT model FROM calls")]
        chosen = [spec for spec in specs if model is None or is_of(spec, model)]
        until = before.timestamp() if before is not None else float("inf")
        connection.execute("BEGIN IMMEDIATE")
        gone = sum(
            connection.execute("DELETE FROM calls WHERE model = ? AND made < ?", (spec, until)).rowcount
            for spec in chosen
        )
        connection.execute("COMMIT")
        connection.execute("VACUUM")
        return gone

    return _use(file, delete)


def count_vectors(file: Path) -> int:
    """How many vectors a cache of vectors holds. Raises UserError."""
    return _use(file, lambda connection: int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0]), False)


def delete_vectors(file: Path) -> int:
    """Delete all vectors; returns how many."""

    def delete(connection: sqlite3.Connection) -> int:
        gone = connection.execute("DELETE FROM vectors").rowcount
        connection.execute("VACUUM")
        return gone

    return _use(file, delete, False)


def is_of(stored: str, model: str) -> bool:
    """Whether a stored spec is the model that a user means: the spec, the spec without parameters, or its name."""
    head = stored.partition("?")[0]
    return model in (stored, head, head.partition(":")[2], head.partition(":")[2].partition("@")[0])


def size_of(file: Path) -> int:
    """Bytes on disk, the log that is not yet merged included."""
    files = [file, file.with_name(file.name + "-wal")]
    return sum(one.stat().st_size for one in files if one.exists())


def _use(file: Path, work: Callable[[sqlite3.Connection], T], of_calls: bool = True) -> T:
    try:
        opened = open_file(file) if of_calls else sqlite3.connect(file, isolation_level=None)
        with closing(opened) as connection:
            return work(connection)
    except sqlite3.Error as error:
        raise cache_error(file, error) from None


def _time(stamp: float) -> datetime:
    return datetime.fromtimestamp(stamp, UTC).replace(microsecond=0)
