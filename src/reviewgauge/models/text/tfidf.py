"""How alike texts are by their TF-IDF vectors: the cosine, for pairs of texts or of every text with every other.

Source: Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988: term frequency, plain or
1 + ln(count), times inverse document frequency, vectors of length 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reviewgauge.models.text.grams import Grams
from reviewgauge.models.text.idf import Idf, fitted

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Numbers = np.ndarray[Any, np.dtype[np.float64]]
WINDOW = 300_000  # characters that are taken apart at once: what memory grows with


@dataclass(frozen=True, eq=False)
class Weighting:
    """How an n-gram weighs: `idf` None leaves rarity out, `sublinear` takes 1 + ln(count) for the count."""

    grams: Grams
    idf: Idf | None = None
    sublinear: bool = True

    def vectors(self, texts: Sequence[str]) -> Iterator[csr_matrix]:
        """One weighted texts x columns matrix for each n; vectors are not yet of length 1."""
        for matrix in self.grams.counts(texts):
            if self.sublinear:
                matrix.data = 1 + np.log(matrix.data)
            if self.idf is not None:
                matrix.data *= self.idf.of(matrix.indices.astype(np.uint64))
            yield matrix


def cosines(said: Sequence[str], wanted: Sequence[str], weighting: Weighting) -> Numbers:
    """The cosine of each pair; 0 where a text has no n-gram. Equal texts have exactly 1."""
    found, start, weight = [np.empty(0)], 0, 0
    for end, (mine, theirs) in enumerate(zip(said, wanted, strict=True)):
        if weight and weight + len(mine) + len(theirs) > WINDOW:
            found.append(_window(said[start:end], wanted[start:end], weighting))
            start, weight = end, 0
        weight += len(mine) + len(theirs)
    if said:
        found.append(_window(said[start:], wanted[start:], weighting))
    return np.concatenate(found)


def _window(said: Sequence[str], wanted: Sequence[str], weighting: Weighting) -> Numbers:
    rows: dict[str, int] = {}
    mine = np.array([rows.setdefault(text, len(rows)) for text in said])
    theirs = np.array([rows.setdefault(text, len(rows)) for text in wanted])
    products, squares = np.zeros(len(said)), np.zeros(len(rows))
    for matrix in weighting.vectors(list(rows)):
        products += _row_sums(matrix[mine].multiply(matrix[theirs]).tocsr())
        squares += _row_sums(matrix.multiply(matrix).tocsr())
    below = np.sqrt(squares[mine] * squares[theirs])
    values: Numbers = np.divide(products, below, out=np.zeros(len(said)), where=below > 0)
    return np.minimum(values, 1.0)


def _row_sums(matrix: csr_matrix) -> Numbers:
    """Added up in the order of the columns, so that equal rows have equal sums."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.bincount(rows, weights=matrix.data, minlength=matrix.shape[0]).astype(np.float64)


def fitted_idf(texts: Sequence[str], grams: Grams) -> Idf:
    """The idf of `texts` themselves, window by window; a text that occurs twice counts once."""

    def batches() -> Iterator[Iterator[csr_matrix]]:
        window: list[str] = []
        weight = 0
        for text in dict.fromkeys(texts):
            if window and weight + len(text) > WINDOW:
                yield grams.counts(window)
                window, weight = [], 0
            window.append(text)
            weight += len(text)
        if window:
            yield grams.counts(window)

    return fitted(batches())
