"""BLEU: how many of the review's word sequences, one to four words long, stand in the reference too.

Source: Papineni et al., "BLEU: a method for automatic evaluation of machine translation", ACL 2002; smoothing of
single sentences by Chen and Cherry, WMT 2014. Equal to sacrebleu 2.6, NLTK 3.10 and the BLEU of GradedReviews.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import or_
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from reviewbench.core.protocols import Bag
from reviewbench.core.results import Parts
from reviewbench.metrics import _tokens
from reviewbench.metrics._texts import VALUE, TextMetric, TextPair

if TYPE_CHECKING:
    from reviewbench.core.protocols import Numbers

ORDERS = 4
MATCHED = tuple(f"matched_{n}" for n in range(1, ORDERS + 1))
SAID = tuple(f"said_{n}" for n in range(1, ORDERS + 1))
TINY = sys.float_info.min  # what the script behind GradedReviews adds before every logarithm
POINTS = "points of 100"

Variant = Literal["sacrebleu", "graded_reviews", "nltk1", "nltk4"]
TOKENISERS: Mapping[Variant, Callable[[str], _tokens.Tokens]] = {
    "sacrebleu": _tokens.mteval_13a,
    "graded_reviews": _tokens.graded_reviews,
    "nltk1": _tokens.words_and_marks,
    "nltk4": _tokens.words_and_marks,
}


@dataclass(frozen=True)
class Bleu(TextMetric):
    """BLEU with up to four words, in points of 100. `mean` averages the sentences, `corpus` sums counts first.

    Variants: "sacrebleu" (13a tokens with their case, exponential smoothing; sentences stop at the longest n-gram
    that they have room for); "graded_reviews" (the paper's script: lower case, punctuation off, one added to matches
    and totals from two words on, the shortest reference); "nltk1" and "nltk4" (NLTK's smoothing methods 1 and 4 on
    `_tokens.words_and_marks`). `stop_words` takes stop words out of both texts first. The tokens of "sacrebleu" and
    "graded_reviews" leave Chinese and Japanese runs whole, so that one other character makes a whole run differ.
    A blank review gets 0. The published script gives it 100 exp(-words of the reference), 37 for a reference of one
    word. NLTK gives texts under four words less than 100 for saying the reference itself.
    """

    variant: Variant = "sacrebleu"
    stop_words: bool = False

    units: ClassVar[Mapping[str, str]] = {"mean": POINTS, "corpus": POINTS}

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """Matched and said n-grams by length, the two lengths in tokens, and the sentence's own BLEU."""
        counts = np.array([self._counts(pair) for pair in pairs], dtype=np.float64).reshape(len(pairs), 2 * ORDERS + 2)
        values = self._bleu(counts.T, sentence=True)
        names = (*MATCHED, *SAID, "length", "reference_length", VALUE)
        rows = np.column_stack([counts, values]).tolist()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def combine(self, bag: Bag) -> Mapping[str, Numbers]:
        """`mean` of the sentences, and `corpus`: BLEU of the summed counts."""
        sums = np.array([bag.total(name) for name in (*MATCHED, *SAID, "length", "reference_length")])
        corpus = np.where(bag.count > 0, self._bleu(sums, sentence=False), np.nan)
        return {"mean": bag.ratio(bag.total(VALUE), bag.count), "corpus": corpus}

    def _counts(self, pair: TextPair) -> list[int]:
        said, *references = (self._tokens(text) for text in (pair.hypothesis, *pair.references))
        totals = [max(0, len(said) - n) for n in range(ORDERS)]
        if self.variant.startswith("nltk"):
            totals = [max(1, total) for total in totals]
        lengths = [len(reference) for reference in references]
        if self.variant == "graded_reviews":
            length = min(lengths)
        else:
            length = min(lengths, key=lambda words: (abs(words - len(said)), words))
        return [*matches(said, references), *totals, len(said), length]

    def _tokens(self, text: str) -> _tokens.Tokens:
        tokens = TOKENISERS[self.variant](text)
        return _tokens.without_stop_words(tokens) if self.stop_words else tokens

    def _bleu(self, sums: Numbers, *, sentence: bool) -> Numbers:
        """BLEU of each column of `sums` (matched by length, said by length, the two lengths in tokens)."""
        matched, said, length, reference = sums[:ORDERS], sums[ORDERS : 2 * ORDERS], sums[-2], sums[-1]
        if self.variant == "graded_reviews":
            return _graded_reviews(matched, said, length, reference)
        brevity = np.minimum(0.0, 1 - reference / np.maximum(length, 1))
        if self.variant == "sacrebleu":
            logs = _sacrebleu(matched, said, sentence=sentence)
        else:
            logs = _nltk(matched, said, length, method=int(self.variant[-1]))
        values: Numbers = np.where(matched[0] > 0, 100 * np.exp(logs + brevity), 0.0)
        return values


def matches(said: _tokens.Tokens, references: Sequence[_tokens.Tokens]) -> list[int]:
    """How many n-grams of `said` are matched, for n of 1 to 4; each counts as often as in the best reference.

    A longer n-gram can only match where its words do, so counting ends at the first length without a match.
    """
    found = [0] * ORDERS
    for n in range(1, ORDERS + 1):
        mine = set(_ngrams(said, n))
        shared = set().union(*(mine.intersection(_ngrams(reference, n)) for reference in references))
        if not shared:
            break
        if len(mine) == len(said) - n + 1:  # nothing is said twice, so each counts once
            found[n - 1] = len(shared)
            continue
        wanted = [Counter(filter(shared.__contains__, _ngrams(reference, n))) for reference in references]
        most = wanted[0] if len(wanted) == 1 else reduce(or_, wanted)
        often = Counter(filter(shared.__contains__, _ngrams(said, n)))
        found[n - 1] = sum(map(min, often.values(), map(most.__getitem__, often)))
    return found


def _ngrams(tokens: _tokens.Tokens, n: int) -> Iterable[object]:
    return tokens if n == 1 else zip(*(islice(tokens, i, None) for i in range(n)), strict=False)


def _sacrebleu(matched: Numbers, said: Numbers, *, sentence: bool) -> Numbers:
    """Mean log precision: the k-th length without a match counts 1 / 2^k matches; sentences leave out empty lengths."""
    missed = np.cumsum((matched == 0) & (said > 0), axis=0)
    smoothed = np.where(matched == 0, 0.5**missed, matched)
    there = said > 0
    logs = np.where(there, np.log(smoothed / np.where(there, said, 1)), 0.0 if sentence else -np.inf)
    lengths = np.maximum(there.sum(axis=0), 1) if sentence else ORDERS
    mean: Numbers = logs.sum(axis=0) / lengths
    return mean


def _nltk(matched: Numbers, said: Numbers, length: Numbers, *, method: int) -> Numbers:
    """Mean log precision. NLTK leaves a precision of 0 out of the sum, which method 4 has for a single word."""
    if method == 1:
        smoothed = np.where(matched == 0, 0.1, matched)
    else:
        missed = np.cumsum(matched == 0, axis=0)
        smoothed = np.where(matched == 0, np.log(np.maximum(length, 1)) / 5 * 0.5**missed, matched)
    logs = np.where(smoothed > 0, np.log(np.where(smoothed > 0, smoothed, 1) / np.maximum(said, 1)), 0.0)
    mean: Numbers = logs.sum(axis=0) / ORDERS
    return mean


def _graded_reviews(matched: Numbers, said: Numbers, length: Numbers, reference: Numbers) -> Numbers:
    """The paper's own formula; without a single match it ends near 1e-77, not at 0."""
    more = np.array([[0.0], [1.0], [1.0], [1.0]])
    logs = np.log(matched + more + TINY) - np.log(said + more + TINY)
    brevity = np.minimum(0.0, 1 - (reference + 1) / (length + 1))
    values: Numbers = np.where(length > 0, 100 * np.exp(logs.sum(axis=0) / ORDERS + brevity), 0.0)
    return values
