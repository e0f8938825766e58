"""Jaccard: the words that review and reference share, of all the words that they use.

Source: Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 1912; on the sets of words of two
review comments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from reviewgauge.core.results import Parts
from reviewgauge.metrics.texts import tokens
from reviewgauge.metrics.texts.text_metric import VALUE, TextMetric, TextPair
from reviewgauge.models.text import porter
from reviewgauge.models.text import words as review_words

Stem = Literal["light", "porter", "none"]
_STEMMERS: Mapping[Stem, Callable[[str], str]] = {"light": review_words.stem, "porter": porter.stem, "none": str}


@dataclass(frozen=True)
class Jaccard(TextMetric):
    """Shared words / all words of both, each word once, lower-cased.

    `stem`: "light" cuts the commonest English endings (models/words.py), "porter" is Porter's algorithm, "none" keeps
    the words. `stop_words` takes stop words out, in any form that has their stem. `split` parts camelCase,
    snake_case, and letters from digits. With `nothing_left="keep"` a text of nothing but stop words keeps them, and
    one without any word (emoji, punctuation) is compared by its marks, so that a text always equals itself; with
    "zero" such a text scores 0. Kana, Han and Hangul characters are a word each; other scripts without blanks stay
    one word a run. The closest of several references counts.
    """

    stem: Stem = "light"
    stop_words: bool = True
    split: bool = True
    nothing_left: Literal["keep", "zero"] = "keep"

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """The share of each pair."""
        words = _word_sets(self.stem, self.stop_words, self.split, self.nothing_left)
        found = []
        for pair in pairs:
            hypothesis = words(pair.hypothesis)
            found.append({VALUE: max(_share(hypothesis, words(text)) for text in pair.references)})
        return found


def _share(hypothesis: frozenset[str], reference: frozenset[str]) -> float:
    shared = len(hypothesis & reference)
    return shared / (len(hypothesis) + len(reference) - shared) if shared else 0.0


@cache  # a handful of settings, each with its own bounded memory
def _word_sets(stem: Stem, stop_words: bool, split: bool, nothing_left: str) -> Callable[[str], frozenset[str]]:
    stemmed = _STEMMERS[stem]
    stopped = frozenset(stemmed(word) for word in tokens.STOP_WORDS) if stop_words else frozenset()

    @tokens.remembered
    def words(text: str) -> frozenset[str]:
        found = frozenset(map(stemmed, review_words.raw_words(text) if split else tokens.words(text)))
        if nothing_left == "zero":
            return found - stopped
        return (found - stopped) or found or frozenset(tokens.words_and_marks(text))

    return words
