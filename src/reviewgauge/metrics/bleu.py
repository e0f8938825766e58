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
from operator import or_
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from reviewgauge.core.protocols import Aggregate
from reviewgauge.core.results import Parts
from reviewgauge.metrics.texts import tokens
from reviewgauge.metrics.texts.text_metric import VALUE, TextMetric, TextPair

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

ORDERS = 4
COUNTS = (
    *(f"matched_{n}" for n in range(1, ORDERS + 1)),
    *(f"said_{n}" for n in range(1, ORDERS + 1)),
    *("length", "reference_length"),
)
TINY = sys.float_info.min  # what the script behind GradedReviews adds before every logarithm
POINTS = "points of 100"

Variant = Literal["sacrebleu", "graded_reviews", "nltk1", "nltk4"]
TOKENISERS: Mapping[Variant, Callable[[str], tokens.Tokens]] = {
    "sacrebleu": tokens.mteval_13a,
    "graded_reviews": tokens.graded_reviews,
    "nltk1": tokens.words_and_marks,
    "nltk4": tokens.words_and_marks,
}


@dataclass(frozen=True)
class Bleu(TextMetric):
    """BLEU with up to four words, in points of 100. `mean` averages the sentences, `corpus` sums counts first.

    Variants: "sacrebleu" (13a tokens with their case, exponential smoothing; sentences stop at the longest n-gram
    that they have room for); "graded_reviews" (the paper's script: lower case, punctuation off, one added to matches
    and totals from two words on, the shortest reference); "nltk1" and "nltk4" (NLTK's smoothing methods 1 and 4 on
    `tokens.words_and_marks`). `stop_words` takes stop words out of both texts first. The tokens of "sacrebleu" and
    "graded_reviews" leave Chinese and Japanese runs whole, so that one other character makes a whole run differ.
    A blank review gets 0. The published script gives it 100 exp(-words of the reference), 37 for a reference of one
    word. With NLTK, texts under four words can get less than 100 for saying the reference itself.
    """

    variant: Variant = "sacrebleu"
    stop_words: bool = False

    units: ClassVar[Mapping[str, str]] = {"mean": POINTS, "corpus": POINTS}

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """Matched and all n-grams by length, the two lengths in tokens, and the sentence's own BLEU."""
        counted = [self._counts(pair) for pair in pairs]
        matched = np.array([row[0] for row in counted], dtype=np.float64).reshape(-1, ORDERS)
        lengths = np.array([row[1:] for row in counted], dtype=np.float64).reshape(-1, 2)
        least = 1 if self.variant.startswith("nltk") else 0
        total = np.maximum(lengths[:, :1] - np.arange(ORDERS), least)
        sums = np.concatenate([matched, total, lengths], axis=1)
        rows = np.column_stack([sums, self._bleu(sums.T, sentence=True)]).tolist()
        return [dict(zip((*COUNTS, VALUE), row, strict=True)) for row in rows]

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """`mean` of the sentences, and `corpus`: BLEU of the summed counts."""
        sums = np.array([aggregate.total(name) for name in COUNTS])
        corpus = np.where(aggregate.count > 0, self._bleu(sums, sentence=False), np.nan)
        return {"mean": aggregate.ratio(aggregate.total(VALUE), aggregate.count), "corpus": corpus}

    def _counts(self, pair: TextPair) -> tuple[list[int], int, int]:
        """The matched n-grams, and the tokens of the review and of the reference whose length counts."""
        hypothesis = self._tokens(pair.hypothesis)
        references = [self._tokens(text) for text in pair.references]
        if self.variant == "graded_reviews":
            length = min(map(len, references))
        else:
            length = min((abs(len(tokens) - len(hypothesis)), len(tokens)) for tokens in references)[1]
        return matches(hypothesis, references), len(hypothesis), length

    def _tokens(self, text: str) -> tokens.Tokens:
        found = TOKENISERS[self.variant](text)
        return tokens.without_stop_words(found) if self.stop_words else found

    def _bleu(self, sums: Numbers, *, sentence: bool) -> Numbers:
        """BLEU of each column of `sums` (matched by length, all by length, the two lengths in tokens)."""
        matched, total, length, reference = sums[:ORDERS], sums[ORDERS : 2 * ORDERS], sums[-2], sums[-1]
        if self.variant == "graded_reviews":
            return _graded_reviews(matched, total, length, reference)
        brevity = np.minimum(0.0, 1 - reference / np.maximum(length, 1))
        if self.variant == "sacrebleu":
            logs = _sacrebleu(matched, total, sentence=sentence)
        else:
            logs = _nltk(matched, total, length, method=int(self.variant[-1]))
        values: Numbers = np.where(matched[0] > 0, 100 * np.exp(logs + brevity), 0.0)
        return values


def matches(hypothesis: tokens.Tokens, references: Sequence[tokens.Tokens]) -> list[int]:
    """How many n-grams of `hypothesis` are matched, for n of 1 to 4; each counts as often as in the best reference.

    A matched n-gram has two matched ones of n - 1 in it, so counting ends at the first length with fewer.
    """
    found = [0] * ORDERS
    for n in range(1, ORDERS + 1):
        mine = set(_ngrams(hypothesis, n))
        shared = mine.intersection(_ngrams(references[0], n))
        for reference in references[1:]:
            shared |= mine.intersection(_ngrams(reference, n))
        found[n - 1] = _clipped(shared, hypothesis, references, n) if shared else 0
        if found[n - 1] < 2:
            break
    return found


def _clipped(shared: set[object], hypothesis: tokens.Tokens, references: Sequence[tokens.Tokens], n: int) -> int:
    """The occurrences of the `shared` n-grams, each no more often than in the reference that has it most."""
    often = list(filter(shared.__contains__, _ngrams(hypothesis, n)))
    if len(often) == len(shared):  # no repeats, which saves counting
        return len(shared)
    shared_in = [list(filter(shared.__contains__, _ngrams(reference, n))) for reference in references]
    if len(shared_in) == 1 and len(shared_in[0]) == len(shared):
        return len(shared)
    most = reduce(or_, map(Counter, shared_in))
    return sum(min(count, most[gram]) for gram, count in Counter(often).items())


def _ngrams(tokens: tokens.Tokens, n: int) -> Iterable[object]:
    return tokens if n == 1 else zip(*[tokens[i:] for i in range(n)], strict=False)


def _sacrebleu(matched: Numbers, total: Numbers, *, sentence: bool) -> Numbers:
    """Mean log precision: the k-th length without a match counts 1 / 2^k matches; sentences leave out empty lengths."""
    missed = np.cumsum((matched == 0) & (total > 0), axis=0)
    smoothed = np.where(matched == 0, 0.5**missed, matched)
    there = total > 0
    logs = np.where(there, np.log(smoothed / np.where(there, total, 1)), 0.0 if sentence else -np.inf)
    lengths = np.maximum(there.sum(axis=0), 1) if sentence else ORDERS
    mean: Numbers = logs.sum(axis=0) / lengths
    return mean


def _nltk(matched: Numbers, total: Numbers, length: Numbers, *, method: int) -> Numbers:
    """Mean log precision. NLTK leaves a precision of 0 out of the sum, which method 4 has for a single word."""
    if method == 1:
        smoothed = np.where(matched == 0, 0.1, matched)
    else:
        missed = np.cumsum(matched == 0, axis=0)
        smoothed = np.where(matched == 0, np.log(np.maximum(length, 1)) / 5 * 0.5**missed, matched)
    logs = np.where(smoothed > 0, np.log(np.where(smoothed > 0, smoothed, 1) / np.maximum(total, 1)), 0.0)
    mean: Numbers = logs.sum(axis=0) / ORDERS
    return mean


def _graded_reviews(matched: Numbers, total: Numbers, length: Numbers, reference: Numbers) -> Numbers:
    """The paper's own formula; without a single match it ends near 1e-77, not at 0."""
    more = np.array([[0.0], [1.0], [1.0], [1.0]])
    logs = np.log(matched + more + TINY) - np.log(total + more + TINY)
    brevity = np.minimum(0.0, 1 - (reference + 1) / (length + 1))
    values: Numbers = np.where(length > 0, 100 * np.exp(logs.sum(axis=0) / ORDERS + brevity), 0.0)
    return values
