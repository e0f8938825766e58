"""chrF and chrF++: F-score of the character sequences (and words) that review and reference share.

Source: Popović, "chrF: character n-gram F-score for automatic MT evaluation", WMT 2015, and "chrF++: words helping
character n-grams", WMT 2017. Equal to sacrebleu 2.6 with its defaults (no epsilon smoothing).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reviewgauge.core.protocols import Aggregate
from reviewgauge.core.results import Parts
from reviewgauge.metrics.texts import ngrams
from reviewgauge.metrics.texts.text_metric import VALUE, TextMetric, TextPair

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

POINTS = "points of 100"
MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True)
class Chrf(TextMetric):
    """Character n-grams up to `char_order`, words up to `word_order`: 0 is chrF, 2 is chrF++. In points of 100.

    Recall weighs `beta` times as much as precision. Blanks are left out of the characters and case is kept; every
    script is read character by character, an emoji code point by code point, so nothing needs a tokeniser. Of several
    references the one with the best F counts. `mean` averages the texts; `corpus` sums their counts first.
    """

    char_order: int = 6
    word_order: int = 0
    beta: float = 2.0

    units: ClassVar[Mapping[str, str]] = {"mean": POINTS, "corpus": POINTS}

    def __post_init__(self) -> None:
        if self.char_order < 1 or self.word_order < 0:
            raise ValueError("char_order must be at least 1 and word_order at least 0")
        if self.beta <= 0:
            raise ValueError("beta must be above 0")

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """N-grams of the hypothesis, of the reference, and matched, by length; and the text's own F."""
        counts = self._counts(
            [pair.hypothesis for pair in pairs for _ in pair.references],
            [reference for pair in pairs for reference in pair.references],
        )
        scores = self._f(counts)
        names, best, start = (*self._names, VALUE), [], 0
        for pair in pairs:
            end = start + len(pair.references)
            best.append(start + int(np.argmax(scores[start:end])))
            start = end
        rows = np.concatenate([*counts[:, :, best], scores[None, best]]).T.tolist()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def combine(self, bag: Aggregate) -> Mapping[str, Numbers]:
        """`mean` of the texts, and `corpus`: the F of the summed counts."""
        sums = np.array([bag.total(name) for name in self._names]).reshape(3, self._orders, -1)
        corpus = np.where(bag.count > 0, self._f(sums), np.nan)
        return {"mean": bag.ratio(bag.total(VALUE), bag.count), "corpus": corpus}

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


def _compare(hypotheses: Sequence[ngrams.Symbols], references: Sequence[ngrams.Symbols], orders: int) -> Numbers:
    """As `Chrf._counts`, of sequences of numbers. Where the reference is too short for an order, the counts are 0."""
    lengths = np.array([[len(one) for one in hypotheses], [len(one) for one in references]]).reshape(2, 1, -1)
    room = np.maximum(lengths - np.arange(orders)[:, None], 0)
    room[0][room[1] == 0] = 0
    matched = ngrams.matches(hypotheses, references, orders)
    return np.stack([*room, matched]).astype(np.float64)


def _characters(text: str) -> ngrams.Symbols:
    joined = "".join(text.split())
    return np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _numbered(tokens: Sequence[str], numbers: dict[str, int]) -> ngrams.Symbols:
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
