"""ROUGE: the words of the reference that the review says too, in order (ROUGE-L) or as n-grams (ROUGE-1, ROUGE-2).

Source: Lin, "ROUGE: a package for automatic evaluation of summaries", ACL 2004 workshop, as the `rouge-score` package
(0.1.2) computes it: sentence-level ROUGE-L, F1, Porter stems of words longer than three letters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import ClassVar, Literal

from rapidfuzz.distance import LCSseq

from reviewgauge.core.results import Parts
from reviewgauge.metrics.texts.text_metric import TextMetric, TextPair, too_long
from reviewgauge.metrics.texts.tokens import EACH, Tokens, remembered
from reviewgauge.models.text.porter import stem

F, PRECISION, RECALL, UNREAD = "f", "precision", "recall", "unread"
SHORTEST_STEMMED = 4  # letters

Variant = Literal["unicode", "rouge-score"]
_LATIN = re.compile("[a-z0-9]+")
_WORD = re.compile(rf"[{EACH}]|[^\W_{EACH}]+")
_MARK = re.compile(r"\S")


@dataclass(frozen=True)
class Rouge(TextMetric):
    """`f` (F1), `precision` and `recall` of the longest common subsequence of words (`n="L"`), or of n-grams.

    Words are lower-cased runs of letters and digits; `stem` cuts their English endings. The variant "unicode" reads
    every script: a kana, Han or Hangul character is a word, and a text without any word (emoji, punctuation) is
    compared by its marks. The variant "rouge-score" is the package to the last bit: it reads a to z and 0 to 9 only,
    so that other scripts look like silence, and `unread` is the share of the words of both texts that it dropped. On
    English prose the two are the same. A text shorter than `n` words has no n-gram and gets 0. Of several references
    the one with the best `f` counts. ROUGE-L takes time that grows with the product of the lengths: where that is over
    10 billion (two texts of 100,000 words) it is not measured.
    """

    n: Literal["L", 1, 2, 3, 4] = "L"
    stem: bool = True
    variant: Variant = "unicode"

    headline: ClassVar[str] = F
    lower_is_better: ClassVar[frozenset[str]] = frozenset({UNREAD})

    def __post_init__(self) -> None:
        if not isinstance(self.n, int | str) or isinstance(self.n, bool):
            raise ValueError(f"n={self.n!r} must be one of 'L', 1, 2, 3, 4")

    def refusal(self, pair: TextPair) -> str:
        """That the texts are too long, where they are."""
        if self.n != "L" or not too_long(pair.hypothesis, pair.references, "characters"):
            return ""
        tokens = _tokeniser(self.variant, self.stem)
        return too_long(tokens(pair.hypothesis), [tokens(text) for text in pair.references], "words")

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """`f`, `precision` and `recall`; in the variant "rouge-score" also `unread`."""
        tokens = _tokeniser(self.variant, self.stem)
        found = []
        for pair in pairs:
            hypothesis = tokens(pair.hypothesis)
            best = max(
                (self._compare(hypothesis, tokens(text)) for text in pair.references), key=lambda parts: parts[F]
            )
            if self.variant == "rouge-score":
                best[UNREAD] = _unread(pair)
            found.append(best)
        return found

    def _compare(self, hypothesis: Tokens, reference: Tokens) -> dict[str, float]:
        if self.n == "L":
            shared, mine, theirs = LCSseq.similarity(hypothesis, reference), len(hypothesis), len(reference)
        else:
            shared = _shared(hypothesis, reference, self.n)
            mine, theirs = len(hypothesis) - self.n + 1, len(reference) - self.n + 1
        if not shared:
            return {F: 0.0, PRECISION: 0.0, RECALL: 0.0}
        precision, recall = shared / mine, shared / theirs
        return {F: 2 * precision * recall / (precision + recall), PRECISION: precision, RECALL: recall}


def _shared(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    """How many n-grams the two share, each as often as in the one that has it less often."""
    both = set(_ngrams(hypothesis, n)).intersection(_ngrams(reference, n))
    if not both:
        return 0
    mine, theirs = (Counter(filter(both.__contains__, _ngrams(tokens, n))) for tokens in (hypothesis, reference))
    return (mine & theirs).total()


def _ngrams(tokens: Tokens, n: int) -> Iterable[object]:
    return tokens if n == 1 else zip(*(islice(tokens, i, None) for i in range(n)), strict=False)


@cache  # four settings, each with its own bounded memory
def _tokeniser(variant: Variant, stemmed: bool) -> Callable[[str], Tokens]:
    @remembered
    def tokens(text: str) -> Tokens:
        text = text.lower()
        found = _words(text) if variant == "unicode" else _LATIN.findall(text)
        if stemmed:
            found = [stem(word) if len(word) >= SHORTEST_STEMMED and word.isascii() else word for word in found]
        return tuple(filter(None, found))

    return tokens


def _words(text: str) -> list[str]:
    found: list[str] = _LATIN.findall(text) if text.isascii() else _WORD.findall(text)
    return found or _MARK.findall(text)


def _unread(pair: TextPair) -> float:
    """The share of the words of review and references with a character that is not a to z or 0 to 9."""
    if all(text.isascii() for text in (pair.hypothesis, *pair.references)):
        return 0.0
    words = [word for text in (pair.hypothesis, *pair.references) for word in _WORD.findall(text.lower())]
    return sum(not word.isascii() for word in words) / len(words) if words else 0.0
