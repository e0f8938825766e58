"""METEOR: words of the reference that the review says too, as they are, by stem or by synonym, in few chunks.

Source: Lavie and Agarwal, "METEOR: an automatic metric for MT evaluation with high levels of correlation with human
judgments", WMT 2007 (its weights are the defaults), with the alignment of NLTK's `meteor_score`: greedy from the last
word to the first, where METEOR's own program looks for the fewest crossings. Synonyms are WordNet's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from reviewgauge.core.protocols import Aggregate
from reviewgauge.core.results import Parts
from reviewgauge.metrics.texts.text_metric import VALUE, TextMetric, TextPair
from reviewgauge.metrics.texts.tokens import Tokens, treebank, treebank_unicode
from reviewgauge.models.text.porter import stem
from reviewgauge.models.text.wordnet import WordNet, find_wordnet

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

COUNTS = ("matches", "chunks", "length", "reference_length")  # all in words, but for the chunks
Synonyms = Callable[[str], frozenset[str]]


@dataclass(frozen=True)
class Meteor(TextMetric):
    """`mean` of the texts, and `corpus`: the same formula on their summed counts, as METEOR's own program reports.

    `wordnet` is "auto" (the first one found at a usual place, see models/wordnet.py; none is fine), "none", or a
    folder or zip file. The pins name its version and hash, so that scores made with and without never mix. Words are
    Treebank words, lower-cased, and kana, Han and Hangul characters each. The variant "nltk" is NLTK 3.10 to the last
    bit: it looks up synonyms of stems, which finds none for `happi`, and leaves Chinese and Japanese runs whole. Of
    several references the best counts. A blank review gets 0.
    """

    wordnet: str = "auto"
    variant: Literal["meteor", "nltk"] = "meteor"
    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5

    def __post_init__(self) -> None:
        if not (0 <= self.alpha <= 1 and 0 <= self.gamma <= 1 and self.beta >= 0):
            raise ValueError("alpha and gamma must be from 0 to 1, and beta at least 0")

    def pins(self) -> Mapping[str, str]:
        """Which WordNet was used: its version and the hash of its files, or none."""
        found = self._wordnet()
        return {"wordnet": f"{found.version} ({found.digest})" if found else "none"}

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """The value of each pair, and the counts behind it."""
        tokens = treebank if self.variant == "nltk" else treebank_unicode
        found = self._wordnet()
        synonyms = found.synonyms if found else None
        best = []
        for pair in pairs:
            hypothesis = tokens(pair.hypothesis)
            best.append(
                max((self._compare(hypothesis, tokens(text), synonyms) for text in pair.references), key=_value)
            )
        return best

    def combine(self, bag: Aggregate) -> Mapping[str, Numbers]:
        """`mean` and `corpus`."""
        matches, chunks, length, reference = (bag.total(name) for name in COUNTS)
        below = self.alpha * reference + (1 - self.alpha) * length
        fragmented = np.where(matches > 0, bag.ratio(chunks, matches), 0.0)
        corpus = bag.ratio(matches, below) * (1 - self.gamma * fragmented**self.beta)
        return {"mean": bag.ratio(bag.total(VALUE), bag.count), "corpus": corpus}

    def _wordnet(self) -> WordNet | None:
        return None if self.wordnet == "none" else find_wordnet(self.wordnet)

    def _compare(self, hypothesis: Tokens, reference: Tokens, synonyms: Synonyms | None) -> dict[str, float]:
        matches, chunks = align(hypothesis, reference, synonyms, of_stems=self.variant == "nltk")
        value = 0.0
        if matches:
            precision, recall = matches / len(hypothesis), matches / len(reference)
            mean = (precision * recall) / (self.alpha * precision + (1 - self.alpha) * recall)
            value = (1 - self.gamma * (chunks / matches) ** self.beta) * mean
        counts = (matches, chunks, len(hypothesis), len(reference))
        return {VALUE: value} | dict(zip(COUNTS, map(float, counts), strict=True))


def _value(parts: Mapping[str, float]) -> float:
    return parts[VALUE]


def align(hypothesis: Tokens, reference: Tokens, synonyms: Synonyms | None, *, of_stems: bool) -> tuple[int, int]:
    """(matched words, chunks of them that are adjacent in both texts).

    Three rounds: equal words, then equal stems, then synonyms (of the words, or of their stems). Each takes the words
    of the review from the last to the first and gives them the last free word of the reference. One look-up a word:
    linear in both lengths.
    """
    partner = [-1] * len(hypothesis)
    left: Sequence[int] = range(len(hypothesis) - 1, -1, -1)
    free = _places(reference, range(len(reference)))
    left = _match(hypothesis, left, free, partner)
    over = _left_over(free)
    if left and over:
        stems = {i: stem(hypothesis[i]) for i in left}
        reference_stems = {place: stem(reference[place]) for place in over}
        free = _places(reference_stems, over)
        left = _match(stems, left, free, partner)
        if synonyms is not None and of_stems:
            _match_synonyms(stems, left, free, partner, synonyms)
        elif synonyms is not None:
            _match_synonyms(hypothesis, left, _places(reference, _left_over(free)), partner, synonyms)
    return _count(partner)


def _left_over(free: Mapping[str, list[int]]) -> list[int]:
    return sorted(place for places in free.values() for place in places)


def _places(words: Sequence[str] | Mapping[int, str], places: Iterable[int]) -> dict[str, list[int]]:
    """The places of each word, in ascending order."""
    found: dict[str, list[int]] = {}
    for place in places:
        found.setdefault(words[place], []).append(place)
    return found


def _match(
    words: Sequence[str] | Mapping[int, str], left: Iterable[int], free: Mapping[str, list[int]], partner: list[int]
) -> Sequence[int]:
    """Pair each word of the review with its last free equal; returns the unpaired words, last first."""
    unmatched = []
    for i in left:
        places = free.get(words[i])
        if places:
            partner[i] = places.pop()
        else:
            unmatched.append(i)
    return unmatched


def _match_synonyms(
    words: Sequence[str] | Mapping[int, str],
    left: Iterable[int],
    free: Mapping[str, list[int]],
    partner: list[int],
    synonyms: Synonyms,
) -> None:
    remaining = sum(map(len, free.values()))
    for i in left:
        if not remaining:
            return
        best: list[int] = []
        for word in synonyms(words[i]):
            places = free.get(word)
            if places and (not best or places[-1] > best[-1]):
                best = places
        if best:
            partner[i] = best.pop()
            remaining -= 1


def _count(partner: Sequence[int]) -> tuple[int, int]:
    matches = chunks = 0
    last = -1  # the partner of the word before, which a chunk goes on from
    for place in partner:
        if place >= 0:
            matches += 1
            chunks += last < 0 or place != last + 1
        last = place
    return matches, chunks
