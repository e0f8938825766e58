"""Overlap: the rarest words of review and reference that the other one says too, and all that they share.

Source: own metric over the lexical features of models/lexical.py (cosines of TF-IDF vectors, Salton and Buckley 1988;
idf-weighted coverage; shared identifiers, numbers and concepts). docs/explanation/trust.md says where it stands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.results import Parts
from reviewgauge.metrics.texts.text_metric import TextMetric, TextPair
from reviewgauge.models.text.idf import load_idf
from reviewgauge.models.text.lexical import FEATURES, features, profile
from reviewgauge.models.text.words import prose, raw_words

KEYWORDS = "keywords"
_LOGARITHMS = (
    *("shared_words", "shared_identifiers", "shared_numbers", "shared_concepts", "negation_difference"),
    *("log_length_of_reference", "log_length_of_comment", "log_length_ratio", "words_in_comment", "words_in_reference"),
)


@dataclass(frozen=True)
class Overlap(TextMetric):
    """`keywords` is the harmonic mean of two shares: of the reference's five rarest words, and of the review's.

    The other measures are the 24 lexical features that the offline judge uses, and what lies on the surface of the
    texts (first words, questions, lengths, code): for `validate --fit`. How rare a word is comes from the shipped idf
    table. Words are stemmed, lower-cased, split at camelCase; stop words are never rare. English only: words of other
    languages count as rare each. Of several references the one with the most keywords counts. Only
    the first 20,000 characters of a text are read.
    """

    headline: ClassVar[str] = KEYWORDS
    units: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(_LOGARITHMS, "ln(1 + n)"),
        "largest_shared_idf": "nats",
        "sides_with_identifiers": "sides",
    }

    def pins(self) -> Mapping[str, str]:
        """The hash of the idf table."""
        return {"idf": f"sha256 {load_idf('words')[1][:16]}"}

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """All measures of each pair."""
        return [max((_pair(p.hypothesis, r) for r in p.references), key=lambda found: found[KEYWORDS]) for p in pairs]


def _pair(hypothesis: str, reference: str) -> dict[str, float]:
    found = dict(zip(FEATURES, features(profile(hypothesis), profile(reference)), strict=True))
    one, other = found["top_of_reference"], found["top_of_comment"]
    hypothesis_words, reference_words = raw_words(prose(hypothesis)), raw_words(prose(reference))
    same = hypothesis.split() == reference.split()  # also where there is no rare word: "is it?", emoji
    return {
        KEYWORDS: 1.0 if same else 2 * one * other / (one + other) if one + other else 0.0,
        **found,
        "same_first_word": float(bool(hypothesis_words) and hypothesis_words[:1] == reference_words[:1]),
        "question_in_comment": float("?" in hypothesis),
        "question_in_reference": float("?" in reference),
        "same_words": float(bool(hypothesis_words) and hypothesis_words == reference_words),
        "words_in_comment": math.log1p(len(hypothesis_words)),
        "words_in_reference": math.log1p(len(reference_words)),
        "code_in_reference": float("`" in reference or "(" in reference),
    }
