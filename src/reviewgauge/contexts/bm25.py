"""The chunks of the repository, as it is after the change, that are nearest to the hunk by BM25.

Source: AACR-Bench (arXiv:2601.19494), 4.1: BM25 (Robertson and Zaragoza 2009, https://doi.org/10.1561/1500000019) over
the code of the reviewed version, three chunks. The paper does not print its chunks, words or parameters.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.contexts.code.nearest import nearest, query_of
from reviewgauge.contexts.code.readers import code_of
from reviewgauge.contexts.code.word_index import word_index
from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change


@dataclass(frozen=True)
class Bm25(Context):
    """`k` chunks: functions, methods and small classes, or up to 60 lines. Never one that the hunk is in."""

    needs_code: ClassVar[bool] = True

    k: int = 3

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError("k must be positive")

    def pins(self) -> Mapping[str, str]:
        """The version of bm25s."""
        return {"bm25s": importlib.metadata.version("bm25s")}

    def excerpts(self, change: Change, piece: Change) -> Iterator[Excerpt]:
        """The nearest chunks, the nearest first."""
        code = code_of(change, "bm25")
        index = word_index(code.git, code.head)
        yield from nearest(index.code, index.scores(query_of(piece)), piece, self.k)
