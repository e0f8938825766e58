"""Edit similarity: how little must be inserted, deleted or replaced to turn the review into the reference.

Source: Levenshtein, "Binary codes capable of correcting deletions, insertions, and reversals", 1966; code review work
uses it as edit similarity (Svyatkovskiy et al., "IntelliCode Compose", ESEC/FSE 2020). Equal to NLTK's edit_distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from reviewgauge.core.results import Parts
from reviewgauge.metrics.texts.text_metric import TextMetric, TextPair, flatten, too_long

_MOST_TOGETHER = 10**7  # steps of one pair in a batch: all together take a second, in which nothing is heard of Ctrl-C


@dataclass(frozen=True)
class Edit(TextMetric):
    """`similarity` is 1 - edits / length of the longer text; `distance` is edits / length of the longer text.

    `unit="chars"` counts code points, blanks and case included; `unit="words"` counts what stands between blanks, so
    a Chinese or Japanese run is one word. Of several references the closest counts. A blank review has distance 1.
    Time grows with the product of the lengths: 1 MB against a usual comment takes milliseconds. Texts whose product is
    over 10 billion (two of 100,000 characters) are not measured.
    """

    unit: Literal["chars", "words"] = "chars"

    headline: ClassVar[str] = "similarity"
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"distance"})

    def refusal(self, pair: TextPair) -> str:
        """That the texts are too long, where they are."""
        if self.unit == "chars":
            return too_long(pair.hypothesis, pair.references, "characters")
        return too_long(pair.hypothesis.split(), [text.split() for text in pair.references], "words")

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """`similarity` and `distance`, which add up to 1."""
        hypotheses, references, starts = flatten(pairs)
        closest = np.minimum.reduceat(self._distances(hypotheses, references), starts).tolist() if pairs else []
        kept = [closest[i] if pair.hypothesis.strip() else 1.0 for i, pair in enumerate(pairs)]
        return [{"similarity": 1.0 - distance, "distance": distance} for distance in kept]

    def _distances(self, hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
        from rapidfuzz import process
        from rapidfuzz.distance import Levenshtein

        scorer = Levenshtein.normalized_distance
        longest = max((len(mine) * len(theirs) for mine, theirs in zip(hypotheses, references, strict=True)), default=0)
        if self.unit == "chars" and longest <= _MOST_TOGETHER:
            found: list[float] = process.cpdist(hypotheses, references, scorer=scorer, dtype=np.float64).tolist()
            return found
        split = str.split if self.unit == "words" else str
        return [scorer(split(mine), split(theirs)) for mine, theirs in zip(hypotheses, references, strict=True)]
