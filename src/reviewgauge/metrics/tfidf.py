"""TF-IDF cosine: how alike review and reference are by the rare words, or bits of words, that both use.

Source: Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988; character n-grams within
words as scikit-learn's `char_wb` analyzer has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Failure, Parts
from reviewgauge.metrics.texts.text_metric import VALUE, TextMetric, TextPair, flatten, text_pair
from reviewgauge.models.text.idf import Grams, Idf, Weighting, cosines, fitted_idf, load_idf, table_of


@dataclass(frozen=True)
class Tfidf(TextMetric):
    """The cosine of TF-IDF vectors over n-grams of characters within words (`chars`: shortest, longest) or of words.

    `idf` says how rare an n-gram is: "shipped" takes a table counted on the comments of AACR-Bench (for words also on
    CRScore's texts), "batch" counts on the texts that are measured together, so that every score depends on all of
    them and memory grows with their n-grams, "none" takes all as equally rare. `sublinear` takes 1 + ln(count) for the
    count. `stem` and `stop_words` are for words: cut endings, leave the commonest out (kept where nothing else is
    left). Characters of any script; a Han, kana or Hangul character is a word. Of several references the closest
    counts.
    """

    analyzer: Literal["chars", "words"] = "chars"
    chars: tuple[int, int] = (3, 5)
    words: tuple[int, int] = (1, 1)
    idf: Literal["shipped", "batch", "none"] = "shipped"
    sublinear: bool = True
    stem: bool = True
    stop_words: bool = True

    def __post_init__(self) -> None:
        for name, (low, high) in (("chars", self.chars), ("words", self.words)):
            if not 1 <= low <= high <= 20:
                raise ValueError(f"{name}=({low}, {high}) must be a range of lengths from 1 to 20")

    @property
    def joint_over_all(self) -> bool:
        """Whether the idf is counted on the reviews that are measured together."""
        return self.idf == "batch"

    def pins(self) -> Mapping[str, str]:
        """Where the idf is from, with the hash of its table."""
        if self.idf in ("batch", "none"):
            return {"idf": self.idf}
        return {"idf": f"sha256 {load_idf(self.analyzer)[1][:16]}"}

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """The cosine of each pair; with `idf="batch"` the idf is that of these pairs."""
        return self._measure(pairs, self._idf(pairs))

    def parts_many(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        """In batches, as every text metric; with `idf="batch"` the idf is that of all items."""
        if not self.joint:
            yield from super().parts_many(items)
            return
        idf = self._idf([pair for pair in (text_pair(*item) for item in items) if isinstance(pair, TextPair)])
        for start in range(0, len(items), self.batch):
            found = [text_pair(*item) for item in items[start : start + self.batch]]
            measured = iter(self._measure([pair for pair in found if isinstance(pair, TextPair)], idf))
            for pair in found:
                yield pair if isinstance(pair, str) else Measured(parts=next(measured))

    @property
    def _grams(self) -> Grams:
        low, high = self.chars if self.analyzer == "chars" else self.words
        return Grams(self.analyzer, low, high, self.stem, self.stop_words)

    def _idf(self, pairs: Sequence[TextPair]) -> Idf | None:
        if self.idf == "none":
            return None
        if self.idf == "batch":
            return fitted_idf([text for pair in pairs for text in (pair.hypothesis, *pair.references)], self._grams)
        return table_of(self._grams)

    def _measure(self, pairs: Sequence[TextPair], idf: Idf | None) -> Sequence[Parts]:
        hypotheses, references, starts = flatten(pairs)
        values = cosines(hypotheses, references, Weighting(self._grams, idf, self.sublinear))
        return [{VALUE: value} for value in np.maximum.reduceat(values, starts).tolist()] if pairs else []
