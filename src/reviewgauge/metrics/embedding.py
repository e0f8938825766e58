"""How close is the review's meaning to the reference's? Cosine of sentence vectors, by one model or several.

Source: "embeddingSim" of GradedReviews (cosine of a deep model's vectors; the paper also combines models by mean,
median, maximum and minimum), and Reimers and Gurevych 2019, https://arxiv.org/abs/1908.10084.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from reviewgauge.core.results import Parts
from reviewgauge.core.trust import ModelName, Word
from reviewgauge.metrics.texts.text_metric import MEAN, VALUE, TextMetric, TextPair
from reviewgauge.models.embeddings.embedder import DEFAULT, Embedder, check_fitted_for, pins
from reviewgauge.models.embeddings.load import embedder

CUT = "cut"
_AT_ONCE = 512  # pairs whose vectors are held as 64-bit numbers
_COMBINE: Mapping[str, Callable[..., npt.NDArray[np.float64]]] = {
    "mean": np.mean,
    "median": np.median,
    "max": np.max,
    "min": np.min,
}


@dataclass(frozen=True)
class Embedding(TextMetric):
    """Cosine of two sentence vectors, from -1 to 1; of several references the closest counts.

    `model` is an embedding model's word, or a tuple of them whose cosines are combined by `combine`. A blank review
    has 0 by definition. With `floor` every value below it is 0: a floor was fitted on one model's vectors, so
    `floor_of` must name that model (its word, or the first 8 or more digits of its fingerprint), and any other is
    refused. The measure `cut` is the share of pairs with a text longer than the model reads.
    """

    model: ModelName | tuple[ModelName, ...] = DEFAULT
    combine_by: Literal["mean", "median", "max", "min"] = "mean"
    floor: float | None = None
    floor_of: Word = ""

    batch: ClassVar[int] = 8192
    lower_is_better: ClassVar[frozenset[str]] = frozenset({CUT})
    signed: ClassVar[frozenset[str]] = frozenset({MEAN})

    def __post_init__(self) -> None:
        if not self.model or not all(self._words):
            raise ValueError("a model is required")
        if self.floor_of and self.floor is None:
            raise ValueError("floor_of needs a floor")
        if self.floor is not None and not self.floor_of:
            raise ValueError("a floor needs the model that it was fitted for: floor_of='MODEL'")
        if self.floor is not None and len(self._words) > 1:
            raise ValueError("a floor applies to one model only, and several are combined here")

    @property
    def _words(self) -> tuple[str, ...]:
        return (self.model,) if isinstance(self.model, str) else self.model

    def _models(self) -> list[Embedder]:
        """The models. Raises UserError where the floor belongs to another one."""
        models = [embedder(word) for word in self._words]
        if self.floor is not None:
            check_fitted_for(models[0], self.floor_of, f"floor={self.floor}")
        return models

    def pins(self) -> Mapping[str, str]:
        """The fingerprint of each model's weights."""
        return pins(self._models())

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """`value` of each pair, and `cut`: 1 where a text is longer than a model reads (left out where none says)."""
        models = self._models()
        asked = [(row, text) for row, pair in enumerate(pairs) if pair.hypothesis.strip() for text in pair.references]
        rows = np.array([row for row, _ in asked], dtype=np.intp)
        hypotheses, references = [pairs[row].hypothesis for row in rows], [reference for _, reference in asked]
        values = np.zeros(len(pairs))
        if asked:
            by_model = [_cosines(model, hypotheses, references) for model in models]
            values[rows] = -np.inf
            np.maximum.at(values, rows, _COMBINE[self.combine_by](by_model, axis=0))
        if self.floor is not None:
            values[values < self.floor] = 0.0
        cut = np.zeros(len(pairs))
        for model in models:
            if asked and (ends := model.cut([*hypotheses, *references])) is not None:
                np.maximum.at(cut, rows, ends.reshape(2, -1).any(axis=0))
        if all(model.longest is None for model in models):
            return [{VALUE: value} for value in values.tolist()]
        return [{VALUE: value, CUT: share} for value, share in zip(values.tolist(), cut.tolist(), strict=True)]


def _cosines(model: Embedder, some: Sequence[str], others: Sequence[str]) -> npt.NDArray[np.float64]:
    """The cosine of each pair of texts, at most 1 to the last bit."""
    first, second = model.vectors(some), model.vectors(others)
    cosines = np.zeros(len(some))
    for start in range(0, len(some), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        one, other = first[part].astype(np.float64), second[part].astype(np.float64)
        lengths = np.sqrt(np.square(one).sum(axis=1)) * np.sqrt(np.square(other).sum(axis=1))
        cosines[part] = (one * other).sum(axis=1) / np.where(lengths > 0, lengths, 1)
    return np.minimum(1.0, cosines)
