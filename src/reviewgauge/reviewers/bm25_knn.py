"""The review of the training change that shares the most telling words with this one (BM25, one neighbour).

Source: CRScore (Naik et al., 2025), appendix D.3, its BM-25 retriever, with the k1 = .9 and b = .4 of its engine
(Pyserini), which also stems words. Its code (https://github.com/atharva-naik/CRScore, src/models/knn_review_gen.py)
counts documents from 1 and reviews from 0, so that it answers with the review of the *next* training change:
`variant="published"`. The index is bm25s (Lù, arXiv:2407.03618, 2024), by the formula of Lucene (Kamphuis
et al., "Which BM25 Do You Mean?", 2020).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field
from typing_extensions import override

from reviewgauge.core.base import Share
from reviewgauge.reviewers.reading.nearest import Hit, Mask, Nearest

_WORD = re.compile(r"\w+")

Scores = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Bm25Knn(Nearest):
    """Repeats the comment on the closest training hunk, on at most `most` hunks of a change; learns by `--train`."""

    k1: Annotated[float, Field(ge=0)] = 0.9
    b: Share = 0.4
    variant: Literal["own", "published"] = "own"

    @override
    def _index(self, texts: Sequence[str]) -> Bm25Index:
        return Bm25Index(texts, self.k1, self.b, self.variant == "published")


class Bm25Index:
    """Words of code and comments, lower-cased. It never changes, so several threads may ask it."""

    def __init__(self, texts: Sequence[str], k1: float, b: float, off_by_one: bool = False) -> None:
        import bm25s

        words = [_words(text) for text in texts]
        self._size, self._off_by_one = len(texts), off_by_one
        self._words = frozenset(word for text in words for word in text)
        self._index = None
        if self._words:
            self._index = bm25s.BM25(k1=k1, b=b, method="lucene")
            self._index.index(words, show_progress=False)

    def closest(self, text: str, allowed: Mask) -> Hit | None:
        """See `Index.closest`. The similarity is the score by word of the query, since scores add up over them."""
        query = _words(text)
        scores = np.where(allowed, self.scores(query), 0.0)
        best = int(scores.argmax())
        if scores[best] <= 0:
            return None
        similarity = float(scores[best]) / len(query)
        if not self._off_by_one:
            return Hit(best, similarity)
        following = np.flatnonzero(allowed[best + 1 :])
        return Hit(best + 1 + int(following[0]), similarity) if len(following) else None

    def scores(self, query: Sequence[str]) -> Scores:
        """The score of each text, 0 where it shares no word with the query. A word that is repeated counts again."""
        known = [word for word in query if word in self._words]
        if self._index is None or not known:
            return np.zeros(self._size, dtype=np.float32)
        return np.asarray(self._index.get_scores(known), dtype=np.float32)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
