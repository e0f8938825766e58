"""Texts as bags of n-grams of characters or words, many texts at once: sparse counts with one row a text.

Source: the analyzers `char_wb` and `word` of scikit-learn's text vectorizers. A column is the n-gram's 62-bit hash, so
there is no vocabulary to keep; two of a million n-grams meet in one column with a probability of about 1e-7.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

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
    return np.array([hash(word) & 0xFFFF_FFFF_FFFF_FFFF for word in words], dtype=np.uint64)


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
