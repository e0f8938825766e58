"""chrF and chrF++: F-score of the character sequences (and words) that review and reference share.

Source: Popović, "chrF: character n-gram F-score for automatic MT evaluation", WMT 2015, and "chrF++: words helping
character n-grams", WMT 2017. Equal to sacrebleu 2.6 with its defaults (no epsilon smoothing).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reviewgauge.core.parameters import AboveZero, Count, Positive
from reviewgauge.core.protocols import Aggregate
from reviewgauge.core.results import Parts
from reviewgauge.metrics.texts.text_metric import VALUE, TextMetric, TextPair, flatten

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers


Symbols = np.ndarray[Any, np.dtype[np.uint32]]
Counts = np.ndarray[Any, np.dtype[np.int64]]


POINTS = "points of 100"
MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True)
class Chrf(TextMetric):
    """Character n-grams up to `char_order`, words up to `word_order`: 0 is chrF, 2 is chrF++. In points of 100.

    Recall weighs `beta` times as much as precision. Blanks are left out of the characters and case is kept; every
    script is read character by character, an emoji code point by code point, so nothing needs a tokeniser. Of several
    references the one with the best F counts. `mean` averages the texts; `corpus` sums their counts first.
    """

    char_order: Positive = 6
    word_order: Count = 0
    beta: AboveZero = 2.0

    units: ClassVar[Mapping[str, str]] = {"mean": POINTS, "corpus": POINTS}

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """N-grams of the hypothesis, of the reference, and matched, by length; and the text's own F."""
        hypotheses, references, starts = flatten(pairs)
        counts = self._counts(hypotheses, references)
        scores = self._f(counts)
        names = (*self._names, VALUE)
        best = [start + int(np.argmax(own)) for start, own in zip(starts, np.split(scores, starts[1:]), strict=True)]
        rows = np.concatenate([*counts[:, :, best], scores[None, best]]).T.tolist()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """`mean` of the texts, and `corpus`: the F of the summed counts."""
        sums = np.array([aggregate.total(name) for name in self._names]).reshape(3, self._orders, -1)
        corpus = np.where(aggregate.count > 0, self._f(sums), np.nan)
        return {"mean": aggregate.ratio(aggregate.total(VALUE), aggregate.count), "corpus": corpus}

    @property
    def _orders(self) -> int:
        return self.char_order + self.word_order

    @property
    def _names(self) -> list[str]:
        grams = [f"char_{n}" for n in range(1, self.char_order + 1)]
        grams += [f"word_{n}" for n in range(1, self.word_order + 1)]
        return [f"{kind}_{gram}" for kind in ("said", "wanted", "matched") for gram in grams]

    def _counts(self, hypotheses: Sequence[str], references: Sequence[str]) -> Numbers:
        """Counts of shape (hypothesis, reference, matched) x orders x pairs."""
        tables = [_compare([_characters(t) for t in hypotheses], [_characters(t) for t in references], self.char_order)]
        if self.word_order:
            numbers: dict[str, int] = {}
            known = {text: _numbered(_words(text), numbers) for text in dict.fromkeys(chain(hypotheses, references))}
            tables.append(_compare([known[t] for t in hypotheses], [known[t] for t in references], self.word_order))
        return np.concatenate(tables, axis=1)

    def _f(self, counts: Numbers) -> Numbers:
        """F of mean precision and mean recall, over the orders that both sides have room for."""
        in_hypothesis, in_reference, matched = counts
        there = (in_hypothesis > 0) & (in_reference > 0)
        orders = np.maximum(there.sum(axis=0), 1)
        precision = np.where(there, matched / np.where(there, in_hypothesis, 1), 0.0).sum(axis=0) / orders
        recall = np.where(there, matched / np.where(there, in_reference, 1), 0.0).sum(axis=0) / orders
        weight = self.beta**2
        below = weight * precision + recall
        f: Numbers = 100 * (1 + weight) * precision * recall / np.where(below > 0, below, 1)
        return f


def _compare(hypotheses: Sequence[Symbols], references: Sequence[Symbols], orders: int) -> Numbers:
    """As `Chrf._counts`, of sequences of numbers. Where the reference is too short for an order, the counts are 0."""
    lengths = np.array([[len(one) for one in hypotheses], [len(one) for one in references]]).reshape(2, 1, -1)
    room = np.maximum(lengths - np.arange(orders)[:, None], 0)
    room[0][room[1] == 0] = 0
    matched = matches(hypotheses, references, orders)
    return np.stack([*room, matched]).astype(np.float64)


def _characters(text: str) -> Symbols:
    joined = "".join(text.split())
    return np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _numbered(tokens: Sequence[str], numbers: dict[str, int]) -> Symbols:
    return np.array([numbers.setdefault(token, len(numbers)) for token in tokens], dtype=np.uint32)


def _words(text: str) -> list[str]:
    """Words between blanks; one ASCII mark is split off, from the end, else from the start, as chrF++.py does."""
    words: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in MARKS:
            words += (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in MARKS:
            words += (word[0], word[1:])
        else:
            words.append(word)
    return words


BITS = 63  # of a packed n-gram

CHUNK = 300_000  # symbols that are sorted together: what memory grows with


def matches(hypotheses: Sequence[Symbols], references: Sequence[Symbols], orders: int) -> Counts:
    """Shared n-grams of each pair, clipped: sum of the smaller count. Shape orders x pairs, for n of 1 to `orders`."""
    parts, start, weight = [], 0, 0
    for end, (mine, theirs) in enumerate(zip(hypotheses, references, strict=True)):
        if weight and weight + len(mine) + len(theirs) > CHUNK:
            parts.append(_chunk(hypotheses[start:end], references[start:end], orders))
            start, weight = end, 0
        weight += len(mine) + len(theirs)
    parts.append(_chunk(hypotheses[start:], references[start:], orders))
    return np.concatenate(parts, axis=1)


def _chunk(hypotheses: Sequence[Symbols], references: Sequence[Symbols], orders: int) -> Counts:
    if not hypotheses:
        return np.zeros((orders, 0), dtype=np.int64)
    sequences = [one for pair in zip(hypotheses, references, strict=True) for one in pair]
    lengths = np.array([len(one) for one in sequences])
    symbols = _dense(np.concatenate(sequences))
    width = max(1, int(symbols.max(initial=0)).bit_length())
    if orders * width + len(hypotheses).bit_length() + 1 > BITS:
        if len(hypotheses) == 1:
            return _counted(hypotheses[0], references[0], orders)
        half = len(hypotheses) // 2
        return np.concatenate(
            [
                _chunk(hypotheses[:half], references[:half], orders),
                _chunk(hypotheses[half:], references[half:], orders),
            ],
            axis=1,
        )
    return _packed(symbols, lengths, orders, width)


def _dense(symbols: Symbols) -> Counts:
    """The symbols renumbered from 1 in order of size, so that they take few bits; 0 stands for the end of a text."""
    most = int(symbols.max(initial=0))
    if most > 1 << 21:
        return np.unique(symbols, return_inverse=True)[1] + 1
    seen = np.zeros(most + 1, dtype=np.int64)
    seen[symbols] = 1
    return np.cumsum(seen)[symbols]


def _packed(symbols: Counts, lengths: Counts, orders: int, width: int) -> Counts:
    """The matches by runs of equal n-grams. Even sequences are hypotheses, odd ones references."""
    owner = np.repeat(np.arange(len(lengths)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(symbols))  # symbols to the end, this one included
    padded = np.concatenate([symbols, np.zeros(orders, dtype=np.int64)])
    keys = owner >> 1
    for n in range(orders):
        keys = (keys << width) | np.where(left > n, padded[n : n + len(symbols)], 0)
    keys = np.sort((keys << 1) | (owner & 1))
    reference = np.concatenate([[0], np.cumsum(keys & 1)])
    keys >>= 1
    found = np.zeros((orders, len(lengths) // 2), dtype=np.int64)
    for n in range(orders, 0, -1):
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else keys
        runs = keys[first]
        ends = np.append(first[1:], len(keys))
        theirs = reference[ends] - reference[first]
        shared = np.minimum(theirs, ends - first - theirs)
        shared[(runs & ((1 << width) - 1)) == 0] = 0  # cut off by the end of the text
        found[n - 1] = np.bincount(runs >> (width * n), weights=shared, minlength=found.shape[1])
        keys >>= width
    return found


def _counted(hypotheses: Symbols, references: Symbols, orders: int) -> Counts:
    """The same for one pair with more distinct symbols than fit, one n at a time."""
    mine, theirs = hypotheses.tolist(), references.tolist()
    found = np.zeros((orders, 1), dtype=np.int64)
    for n in range(1, orders + 1):
        counts = Counter(zip(*(mine[i:] for i in range(n)), strict=False))
        other = Counter(zip(*(theirs[i:] for i in range(n)), strict=False))
        found[n - 1] = sum(min(count, other[gram]) for gram, count in counts.items() if gram in other)
    return found
