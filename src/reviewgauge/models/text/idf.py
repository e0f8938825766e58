"""TF-IDF: how rare n-grams are, and the cosine of texts by it.

Sources: Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988: term frequency, plain or
1 + ln(count), times inverse document frequency, vectors of length 1. Spärck Jones, "A statistical interpretation of
term specificity", Journal of Documentation 1972, smoothed as scikit-learn does: a weight is
ln((texts + 1) / (texts with the n-gram + 1)) + 1. Tables of weights are shipped, read from a file, or counted on given
texts; a table holds the commonest n-grams, and all others get one weight.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.parsing import parse_record
from reviewgauge.models.text import words as review_words
from reviewgauge.models.text.grams import Analyzer, Grams, Keys

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Weights = np.ndarray[Any, np.dtype[np.float64]]
SHIPPED: Mapping[Analyzer, str] = {"words": "idf.json", "chars": "idf_chars.json"}
_MERGED = 2_000_000  # distinct n-grams of several batches that are put up with before they are merged


class IdfFile(Record):
    """A table as it is stored: ln((texts + 1) / (texts with the n-gram + 1)) for each n-gram that it holds.

    `unseen` is the value of all others. The n-grams are stemmed words unless the file says otherwise.
    """

    about: str = ""
    texts: int = Field(ge=1)
    unseen: float = Field(allow_inf_nan=False, ge=0)
    analyzer: Analyzer = "words"
    low: int = Field(default=1, ge=1)
    high: int = Field(default=1, ge=1)
    stem: bool = True
    stop_words: bool = True
    idf: Mapping[str, float] = Field(min_length=1)

    @property
    def grams(self) -> Grams:
        """The n-grams that were counted."""
        return Grams(self.analyzer, self.low, self.high, self.stem, self.stop_words)


@dataclass(frozen=True, eq=False)
class Idf:
    """Weights by the column of the n-gram (`Grams.keys`), in ascending order of the columns."""

    keys: Keys
    weights: Weights
    unseen: float

    def of(self, keys: Keys) -> Weights:
        """The weight of each column."""
        places = np.minimum(np.searchsorted(self.keys, keys), max(len(self.keys) - 1, 0))
        if not len(self.keys):
            return np.full(len(keys), self.unseen)
        return np.where(self.keys[places] == keys, self.weights[places], self.unseen)


def load_idf(source: str, analyzer: Analyzer) -> tuple[IdfFile, str]:
    """(the table in a file, or the shipped one of the analyzer; the SHA-256 of the file). Raises UserError."""
    return _loaded(source, analyzer, _stamp(source))


@lru_cache(maxsize=8)
def _loaded(source: str, analyzer: Analyzer, stamp: tuple[int, int]) -> tuple[IdfFile, str]:
    if source == "shipped":
        name = SHIPPED[analyzer]
        raw = resources.files("reviewgauge.models.text").joinpath(name).read_bytes()
    else:
        name, raw = source, Path(source).read_bytes()
    return parse_record(IdfFile, raw, name), hashlib.sha256(raw).hexdigest()


def _stamp(source: str) -> tuple[int, int]:
    """The time of the last change and the size of a file, so that a changed file is read again."""
    if source == "shipped":
        return 0, 0
    try:
        found = Path(source).stat()
    except OSError as error:
        remedy = "idf is 'shipped', 'batch', 'none' or a file that reviewgauge.models.text.idf.count_idf made"
        raise UserError(f"cannot read {source}: {error.strerror}", remedy=remedy) from None
    return found.st_mtime_ns, found.st_size


def table_of(source: str, grams: Grams) -> Idf:
    """The weights that a file, or the shipped table, gives to these n-grams. Raises UserError if it counts others."""
    return _table(source, grams, _stamp(source))


@lru_cache(maxsize=8)
def _table(source: str, grams: Grams, stamp: tuple[int, int]) -> Idf:
    file, _ = load_idf(source, grams.analyzer)
    counted = file.grams
    if not (grams.analyzer == counted.analyzer and counted.low <= grams.low and grams.high <= counted.high):
        raise UserError(
            f"the idf table {source} counts {_in_words(counted)}, not {_in_words(grams)}",
            remedy="use idf='batch', idf='none', or a table of these n-grams",
        )
    if grams.analyzer == "words" and grams.stem != counted.stem:
        raise UserError(
            f"the idf table {source} counts words {'with' if counted.stem else 'without'} stemming",
            remedy=f"use stem={counted.stem}, or idf='batch'",
        )
    values = dict(file.idf)
    if grams.analyzer == "words" and counted.stop_words and not grams.stop_words:
        # The commonest words are not in a table that was counted without them, and are anything but rare.
        values = dict.fromkeys(map(review_words.stem, review_words.STOP_WORDS), review_words.STOP_WEIGHT) | values
    keys = grams.keys(list(values))
    order = np.argsort(keys)
    return Idf(keys[order], np.array(list(values.values()))[order] + 1, file.unseen + 1)


def _in_words(grams: Grams) -> str:
    return f"{grams.low} to {grams.high} {grams.analyzer}"


def fitted(batches: Iterable[Iterable[csr_matrix]]) -> Idf:
    """The weights of all n-grams in `batches` of texts, each the matrices of `Grams.counts`.

    Memory grows with the number of distinct n-grams, about 16 bytes each (twice that while they are merged).
    """
    texts, parts, waiting = 0, [(np.empty(0, np.uint64), np.empty(0, np.int64))], 0
    for matrices in batches:
        rows = 0
        for matrix in matrices:
            rows = matrix.shape[0]
            keys, counts = np.unique(matrix.indices.astype(np.uint64), return_counts=True)
            parts.append((keys, counts))
            waiting += len(keys)
        texts += rows
        if waiting > _MERGED:
            parts, waiting = [_merged(parts)], 0
    keys, counts = _merged(parts)
    return Idf(keys, np.log((1 + texts) / (1 + counts)) + 1, math.log(1 + texts) + 1)


def _merged(
    parts: Sequence[tuple[Keys, np.ndarray[Any, np.dtype[np.int64]]]],
) -> tuple[Keys, np.ndarray[Any, np.dtype[np.int64]]]:
    keys, inverse = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
    counts = np.bincount(inverse, weights=np.concatenate([counts for _, counts in parts]), minlength=len(keys))
    return keys, counts.astype(np.int64)


def count_idf(texts: Iterable[str], grams: Grams, *, most: int, about: str) -> IdfFile:
    """A table of the `most` commonest n-grams of `texts`, for a file. A text that occurs twice counts once.

    The value of all others is that of an n-gram half as common as the rarest that is kept.
    """
    distinct = {text for text in texts if text.strip()}
    if not distinct:
        raise UserError("no text to count n-grams in")
    found = Counter(gram for text in distinct for gram in set(grams.strings(text)))
    kept = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:most]
    rarest = kept[-1][1] if len(found) > most else 0
    total = len(distinct) + 1
    return IdfFile(
        about=about,
        texts=len(distinct),
        unseen=round(math.log(total / (rarest / 2 + 1)), 2),
        analyzer=grams.analyzer,
        low=grams.low,
        high=grams.high,
        stem=grams.stem,
        stop_words=grams.stop_words,
        idf={gram: round(math.log(total / (count + 1)), 2) for gram, count in sorted(kept)},
    )


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


def cosines(hypotheses: Sequence[str], references: Sequence[str], weighting: Weighting) -> Numbers:
    """The cosine of each pair; 0 where a text has no n-gram. Equal texts have exactly 1."""
    found, start, weight = [np.empty(0)], 0, 0
    for end, (mine, theirs) in enumerate(zip(hypotheses, references, strict=True)):
        if weight and weight + len(mine) + len(theirs) > WINDOW:
            found.append(_window(hypotheses[start:end], references[start:end], weighting))
            start, weight = end, 0
        weight += len(mine) + len(theirs)
    if hypotheses:
        found.append(_window(hypotheses[start:], references[start:], weighting))
    return np.concatenate(found)


def _window(hypotheses: Sequence[str], references: Sequence[str], weighting: Weighting) -> Numbers:
    rows: dict[str, int] = {}
    mine = np.array([rows.setdefault(text, len(rows)) for text in hypotheses])
    theirs = np.array([rows.setdefault(text, len(rows)) for text in references])
    products, squares = np.zeros(len(hypotheses)), np.zeros(len(rows))
    for matrix in weighting.vectors(list(rows)):
        products += _row_sums(matrix[mine].multiply(matrix[theirs]).tocsr())
        squares += _row_sums(matrix.multiply(matrix).tocsr())
    below = np.sqrt(squares[mine] * squares[theirs])
    values: Numbers = np.divide(products, below, out=np.zeros(len(hypotheses)), where=below > 0)
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
