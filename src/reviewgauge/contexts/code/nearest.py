"""The chunks that are nearest to a piece of a change, without those that the piece itself is in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from reviewgauge.contexts.code.index import CodeIndex
from reviewgauge.contexts.code.places import hunks_of, lines_on, place_name
from reviewgauge.core.protocols import Excerpt
from reviewgauge.core.records import Change, Side


def query_of(piece: Change) -> str:
    """The lines of the hunks of a piece, without their signs."""
    return "\n".join(line.text for _, hunk in hunks_of(piece) for line in hunk.lines)


def shown_chunks(index: CodeIndex, piece: Change) -> npt.NDArray[np.bool_]:
    """Which chunks hold a line that the hunks of `piece` show."""
    found = np.zeros(len(index.chunk_rows), dtype=np.bool_)
    for path, shown in lines_on(piece, Side.NEW).items():
        number = index.numbers.get(path)
        if number is not None and shown:
            begin, end = np.searchsorted(index.chunk_rows[:, 0], [number, number + 1])
            rows = index.chunk_rows[begin:end]
            at = np.array(shown)
            inside = (rows[:, 1, None] <= at) & (at <= rows[:, 2, None])
            found[begin:end] = inside.any(axis=1)
    return found


def nearest(index: CodeIndex, scores: npt.NDArray[np.float32], piece: Change, k: int) -> Iterator[Excerpt]:
    """The `k` chunks with the highest scores above 0, the highest first, as excerpts."""
    scores = np.where(shown_chunks(index, piece), 0, scores)
    best = np.argsort(-scores, kind="stable")[:k] if len(scores) <= 10 * k else _top(scores, k)
    best = best[scores[best] > 0]
    for number, text in zip(best.tolist(), index.texts(index.chunk_rows[best]), strict=True):
        chunk = index.chunk(number)
        if text:
            yield Excerpt(name=place_name(chunk.path, chunk.start, chunk.end), text=text)


def _top(scores: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.intp]:
    """The numbers of the `k` highest scores, the highest first, and of equal ones the first."""
    least = np.partition(scores, -k)[-k]
    some = np.flatnonzero(scores >= least)
    return some[np.argsort(-scores[some], kind="stable")][:k]
