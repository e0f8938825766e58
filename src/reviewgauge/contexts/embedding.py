"""The chunks of the repository, as it is after the change, whose vectors are nearest to the hunk's.

Source: AACR-Bench (arXiv:2601.19494), 4.1: vectors of Qwen3-Embedding-8B over the code of the reviewed version, three
chunks. The paper does not print its chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reviewgauge.contexts.code.index import CodeIndex, code_index, nearest, query_of
from reviewgauge.contexts.code.readers import code_of
from reviewgauge.core.parameters import Positive
from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import ModelName
from reviewgauge.models.embeddings.embedder import DEFAULT, pins
from reviewgauge.models.embeddings.load import embedder
from reviewgauge.repo.processes import RecentlyUsed

_LONGEST = 8_000  # characters of a text that are embedded; most models read fewer


@dataclass(frozen=True)
class Embedding(Context):
    """`k` chunks, as `bm25` cuts them, by the cosine of the vectors of an embedding model. Never one of the hunk.

    Each vector is computed once and kept in the cache of vectors, so the next commit costs what changed.
    """

    needs_code: ClassVar[bool] = True

    k: Positive = 3
    model: ModelName = DEFAULT

    def pins(self) -> Mapping[str, str]:
        """The fingerprint of the model's weights."""
        return pins([embedder(self.model)])

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Nothing to leave out. Raises UserError for a model that is not there, MissingExtra."""
        embedder(self.model)
        return ()

    def excerpts(self, change: Change, piece: Change) -> Iterator[Excerpt]:
        """The nearest chunks, the nearest first."""
        code = code_of(change, "embedding")
        index = code_index(code.git, code.head)
        query = query_of(piece)[:_LONGEST]
        if not query.strip() or not len(index.chunk_rows):
            return
        vectors = _VECTORS.of((index.key, self.model), lambda: self._vectors(index))
        yield from nearest(index, vectors @ embedder(self.model).vectors([query])[0], piece, self.k)

    def _vectors(self, index: CodeIndex) -> npt.NDArray[np.float32]:
        return embedder(self.model).vectors([text[:_LONGEST] for text in index.chunk_texts()])


_VECTORS: RecentlyUsed[tuple[str, str], npt.NDArray[np.float32]] = RecentlyUsed(4, at_once=1)
