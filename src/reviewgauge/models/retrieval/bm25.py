"""BM25 over texts that are lists of words, by the library bm25s.

Source: Lù, "BM25S: Orders of magnitude faster lexical search via eager sparse scoring", arXiv:2407.03618, 2024. The
formula is Lucene's (Kamphuis et al., "Which BM25 Do You Mean?", 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reviewgauge.core.errors import MissingExtra

Scores = np.ndarray[Any, np.dtype[np.float32]]


class Bm25Index:
    """An index of texts. It never changes, so several threads may ask it."""

    def __init__(self, texts: Sequence[Sequence[str]], k1: float = 1.5, b: float = 0.75) -> None:
        """Index the texts, each a list of words. Raises MissingExtra."""
        try:
            import bm25s
        except ImportError:
            raise MissingExtra("bm25s", "build") from None
        self._size = len(texts)
        self._words = frozenset(word for text in texts for word in text)
        self._index = None
        if self._words:
            self._index = bm25s.BM25(k1=k1, b=b, method="lucene")
            self._index.index([list(text) for text in texts], show_progress=False)

    def __len__(self) -> int:
        return self._size

    def scores(self, query: Sequence[str]) -> Scores:
        """The score of each text, 0 where it shares no word with the query. A word that is repeated counts again."""
        known = [word for word in query if word in self._words]
        if self._index is None or not known:
            return np.zeros(self._size, dtype=np.float32)
        return np.asarray(self._index.get_scores(known), dtype=np.float32)
