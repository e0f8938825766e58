"""TF-IDF: how rare n-grams are, and the cosine of texts by it.

Sources: Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988: term frequency, plain or
1 + ln(count), times inverse document frequency, vectors of length 1. Spärck Jones, "A statistical interpretation of
term specificity", Journal of Documentation 1972, smoothed as scikit-learn does: a weight is
ln((texts + 1) / (texts with the n-gram + 1)) + 1. Tables of weights are shipped, or
counted on given texts; a table holds the commonest n-grams, and all others get one weight.

Texts are bags of n-grams: sparse counts with one row a text, as the analyzers `char_wb` and `word` of scikit-learn have
them. A column is the n-gram's 62-bit hash, so there is no vocabulary to keep; two of a million n-grams meet in one
column with a probability of about 1e-7.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.parsing import parse_record
from reviewgauge.models.text import words as review_words

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Analyzer = Literal["chars", "words"]
Keys = np.ndarray[Any, np.dtype[np.uint64]]
Places = np.ndarray[Any, np.dtype[np.int64]]

COLUMNS = 1 << 62
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads neighbouring numbers (Knuth, TAOCP 6.4)
_MARK = re.compile(r"\S")


@dataclass(frozen=True)
class Grams:
    """Which n-grams a text is made of: `low` to `high` characters or words long.

    Characters are taken within the runs between blanks, lower-cased, with a blank at either end of a run; a run
    shorter than `low` counts once, whole. Words are those of models/words.py, stemmed with `stem`; `stop_words` takes
    the commonest out. A text of nothing else keeps them, and one without any word is taken by its marks.
    """

    analyzer: Analyzer
    low: int
    high: int
    stem: bool = True
    stop_words: bool = True

    def counts(self, texts: Sequence[str]) -> Iterator[csr_matrix]:
        """One texts x COLUMNS matrix of counts for each n; no two of them share a column."""
        symbols, segments, owners = self._characters(texts) if self.analyzer == "chars" else self._words(texts)
        sizes = np.bincount(segments, minlength=1)
        first = np.cumsum(sizes) - sizes
        shortest = int(sizes[sizes > 0].min(initial=self.low)) if self.analyzer == "chars" else self.low
        for n in range(min(shortest, self.low), self.high + 1):
            if n < self.low:  # whole runs only
                starts = first[sizes == n]
            else:
                starts = np.flatnonzero(segments[n - 1 :] == segments[: max(0, len(segments) - n + 1)])
            yield _counted(_hashed(symbols, starts, n), owners[starts], len(texts))

    def keys(self, grams: Sequence[str]) -> Keys:
        """The column of each n-gram, words parted by one blank."""
        found = np.zeros(len(grams), dtype=np.uint64)
        split = [list(gram) if self.analyzer == "chars" else gram.split() for gram in grams]
        by_length: dict[int, list[int]] = {}
        for i, gram in enumerate(split):
            by_length.setdefault(len(gram), []).append(i)
        for n, chosen in by_length.items():
            symbols = [symbol for i in chosen for symbol in split[i]]
            codes = _codes("".join(symbols)) if self.analyzer == "chars" else _word_codes(symbols)
            found[chosen] = _hashed(codes, np.arange(len(chosen)) * n, n)
        return found

    def strings(self, text: str) -> Iterator[str]:
        """The n-grams of one text, spelled out: what a table of them is made from."""
        if self.analyzer == "words":
            words = self._content(text)
            for n in range(self.low, self.high + 1):
                yield from (" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
            return
        for run in text.lower().split():
            padded = f" {run} "
            if len(padded) < self.low:
                yield padded
            for n in range(self.low, self.high + 1):
                yield from (padded[i : i + n] for i in range(len(padded) - n + 1))

    def _characters(self, texts: Sequence[str]) -> tuple[Keys, Places, Places]:
        runs = [text.lower().split() for text in texts]
        sizes = np.array([len(run) + 2 for found in runs for run in found], dtype=np.int64)
        symbols = _codes("".join(f" {run} " for found in runs for run in found))
        owners = np.repeat(np.arange(len(texts)), [sum(map(len, found)) + 2 * len(found) for found in runs])
        return symbols, np.repeat(np.arange(len(sizes)), sizes), owners

    def _words(self, texts: Sequence[str]) -> tuple[Keys, Places, Places]:
        found = [self._content(text) for text in texts]
        owners = np.repeat(np.arange(len(texts)), [len(words) for words in found])
        return _word_codes([word for words in found for word in words]), owners, owners

    def _content(self, text: str) -> list[str]:
        stemmed: Callable[[str], str] = review_words.stem if self.stem else str
        words = [stemmed(word) for word in review_words.raw_words(text)] or _MARK.findall(text)
        if not self.stop_words:
            return words
        stopped = _stop_words(self.stem)
        return [word for word in words if word not in stopped] or words


@cache
def _stop_words(stemmed: bool) -> frozenset[str]:
    return frozenset(map(review_words.stem, review_words.STOP_WORDS)) if stemmed else review_words.STOP_WORDS


def _codes(text: str) -> Keys:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)


def _word_codes(words: Sequence[str]) -> Keys:
    """The same in every process: weights are added up in the order of the columns."""
    known = {
        word: hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in set(words)
    }
    return np.frombuffer(b"".join(map(known.__getitem__, words)), dtype="<u8").astype(np.uint64)


def _hashed(symbols: Keys, starts: Places, n: int) -> Keys:
    """The hash of the n symbols from each start on, below COLUMNS."""
    found = np.full(len(starts), n, dtype=np.uint64)
    for i in range(n):
        found ^= symbols[starts + i]
        found *= _FACTOR
        found ^= found >> np.uint64(32)
    return found >> np.uint64(2)


def _counted(keys: Keys, owners: Places, rows: int) -> csr_matrix:
    from scipy.sparse import csr_matrix

    limits = np.searchsorted(owners, np.arange(rows + 1))
    matrix = csr_matrix((np.ones(len(keys)), keys.astype(np.int64), limits), shape=(rows, COLUMNS))
    matrix.sum_duplicates()
    return matrix


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


@cache
def load_idf(analyzer: Analyzer) -> tuple[IdfFile, str]:
    """(the shipped table of an analyzer, the SHA-256 of its file)."""
    raw = resources.files("reviewgauge.models.text").joinpath(SHIPPED[analyzer]).read_bytes()
    return parse_record(IdfFile, raw, SHIPPED[analyzer]), hashlib.sha256(raw).hexdigest()


@lru_cache(maxsize=8)
def table_of(grams: Grams) -> Idf:
    """The weights that the shipped table gives to these n-grams. Raises UserError if it counts others."""
    file, _ = load_idf(grams.analyzer)
    counted = file.grams
    remedy = "use idf='batch' or idf='none'"
    if not (counted.low <= grams.low and grams.high <= counted.high):
        raise UserError(f"the shipped idf counts {_in_words(counted)}, not {_in_words(grams)}", remedy=remedy)
    if grams.analyzer == "words" and not grams.stem:
        raise UserError("the shipped idf counts stemmed words", remedy=remedy)
    values = dict(file.idf)
    if grams.analyzer == "words" and not grams.stop_words:
        # The commonest words are not in a table that was counted without them, and are anything but rare.
        values = dict.fromkeys(map(review_words.stem, review_words.STOP_WORDS), review_words.STOP_WEIGHT) | values
    keys = grams.keys(list(values))
    order = np.argsort(keys)
    return Idf(keys[order], np.array(list(values.values()))[order] + 1, file.unseen + 1)


def _in_words(grams: Grams) -> str:
    return f"{grams.low} to {grams.high} {grams.analyzer}"


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
    sizes = [len(mine) + len(theirs) for mine, theirs in zip(hypotheses, references, strict=True)]
    found = [_window(hypotheses[part], references[part], weighting) for part in _windows(sizes)]
    return np.concatenate([np.empty(0), *found])


def _windows(sizes: Sequence[int]) -> Iterator[slice]:
    """Runs of texts of these sizes with at most WINDOW characters together, or one text."""
    start, weight = 0, 0
    for end, size in enumerate(sizes):
        if weight and weight + size > WINDOW:
            yield slice(start, end)
            start, weight = end, 0
        weight += size
    if sizes:
        yield slice(start, len(sizes))


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


def unit_vectors(texts: Sequence[str], weighting: Weighting) -> csr_matrix:
    """One weighted vector of length 1 per text (texts x n-grams that occur); zeros for a text without any n-gram."""
    from scipy.sparse import csr_matrix, diags, hstack

    found = [csr_matrix((len(texts), 0))]
    for matrix in weighting.vectors(texts):
        keys, columns = np.unique(matrix.indices, return_inverse=True)
        found.append(csr_matrix((matrix.data, columns, matrix.indptr), shape=(len(texts), len(keys))))
    vectors = hstack(found, format="csr")
    lengths = np.sqrt(_row_sums(vectors.multiply(vectors).tocsr()))
    return diags(np.divide(1.0, lengths, out=np.zeros(len(texts)), where=lengths > 0)) @ vectors


def _row_sums(matrix: csr_matrix) -> Numbers:
    """Added up in the order of the columns, so that equal rows have equal sums."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.bincount(rows, weights=matrix.data, minlength=matrix.shape[0]).astype(np.float64)


def fitted_idf(texts: Sequence[str], grams: Grams) -> Idf:
    """The idf of `texts` themselves, window by window; a text that occurs twice counts once.

    Memory grows with the number of distinct n-grams, about 16 bytes each (twice that while they are merged).
    """
    distinct = list(dict.fromkeys(texts))
    parts, waiting = [(np.empty(0, np.uint64), np.empty(0, np.int64))], 0
    for part in _windows([len(text) for text in distinct]):
        for matrix in grams.counts(distinct[part]):
            parts.append(np.unique(matrix.indices.astype(np.uint64), return_counts=True))
            waiting += len(parts[-1][0])
        if waiting > _MERGED:
            parts, waiting = [_merged(parts)], 0
    keys, counts = _merged(parts)
    return Idf(keys, np.log((1 + len(distinct)) / (1 + counts)) + 1, math.log(1 + len(distinct)) + 1)


def _merged(parts: Sequence[tuple[Keys, Places]]) -> tuple[Keys, Places]:
    keys, inverse = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
    counts = np.bincount(inverse, weights=np.concatenate([counts for _, counts in parts]), minlength=len(keys))
    return keys, counts.astype(np.int64)
