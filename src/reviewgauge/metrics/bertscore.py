"""How well does each token of the review find its like in the reference, and the reverse? BERTScore.

Source: Zhang et al. 2020, https://arxiv.org/abs/1904.09675. Values are those of the `bert-score` package with the
same weights and layer: greedy matching of token states by cosine, [CLS] and [SEP] may be matched and weigh nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from reviewgauge.core.parameters import Count
from reviewgauge.core.results import Parts
from reviewgauge.core.trust import ModelName
from reviewgauge.metrics.texts.text_metric import TextMetric, TextPair
from reviewgauge.models.embeddings.embedder import DEFAULT, Floats, TokenStates, pins
from reviewgauge.models.embeddings.load import embedder

WHOLE = 1_000_000  # tokens: as many as the network has room for


PRECISION, RECALL, F1, CUT = "precision", "recall", "f1", "cut"
_CHARACTERS_AT_ONCE = 100_000  # of texts whose states are held: about 70 MB with MiniLM


class _Text(NamedTuple):
    """One text: its tokens' states at length 1, and their weights, which add up to 1 (or all are 0)."""

    states: Floats
    weights: Floats
    cut: bool


@dataclass(frozen=True)
class Bertscore(TextMetric):
    """Precision, recall and F1 of greedily matched tokens; of several references the best value of each counts.

    `model` is a local embedding model's word. `layer` counts from 0, the embeddings; None is the last. A blank review
    has 0. The measure `cut` is the share of pairs with a text that the network has no room for.
    """

    model: ModelName = DEFAULT
    layer: Count | None = None

    headline: ClassVar[str] = F1
    batch: ClassVar[int] = 8192
    lower_is_better: ClassVar[frozenset[str]] = frozenset({CUT})

    def pins(self) -> Mapping[str, str]:
        """The fingerprint of the model's weights."""
        return pins([embedder(self.model)])

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """`precision`, `recall`, `f1` and `cut` of each pair."""
        model = embedder(self.model)
        found: list[Parts] = [{}] * len(pairs)
        for rows in _groups(pairs):
            texts = {text: None for row in rows for text in (pairs[row].hypothesis, *pairs[row].references)}
            not_blank = [text for text in texts if text.strip()]
            states = model.tokens(not_blank, layer=self.layer, longest=WHOLE)
            known = {text: _text(one) for text, one in zip(not_blank, states, strict=True)}
            for row in rows:
                found[row] = self._pair(pairs[row], known)
        return found

    def _pair(self, pair: TextPair, known: Mapping[str, _Text]) -> Parts:
        hypothesis = known.get(pair.hypothesis)
        references = [known[text] for text in pair.references]
        if hypothesis is None:
            best = [0.0, 0.0, 0.0]
        else:
            best = [max(column) for column in zip(*(_match(hypothesis, one) for one in references), strict=True)]
        cut = hypothesis is not None and (hypothesis.cut or any(one.cut for one in references))
        return dict(zip((PRECISION, RECALL, F1, CUT), (*best, float(cut)), strict=True))


def _groups(pairs: Sequence[TextPair]) -> Iterator[list[int]]:
    """The rows of the pairs, those with the same references together, in runs whose texts fit in memory."""
    rows: list[int] = []
    seen: set[str] = set()
    characters = 0
    for row in sorted(range(len(pairs)), key=lambda row: (len(pairs[row].references[0]), pairs[row].references)):
        new = {pairs[row].hypothesis, *pairs[row].references} - seen
        rows.append(row)
        seen |= new
        characters += sum(map(len, new))
        if characters > _CHARACTERS_AT_ONCE:
            yield rows
            rows, seen, characters = [], set(), 0
    if rows:
        yield rows


def _text(one: TokenStates) -> _Text:
    lengths = np.linalg.norm(one.vectors, axis=1, keepdims=True)
    states = (one.vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    weights = np.where(one.special, 0.0, 1.0)
    total = weights.sum()
    scaled = (weights / total if total > 0 else weights).astype(np.float32)
    return _Text(states, scaled, one.cut)


def _match(hypothesis: _Text, reference: _Text) -> tuple[float, float, float]:
    """(precision, recall, F1): the mean over tokens of the cosine with the closest token of the other side.

    A token whose every cosine is negative has no like there, and counts 0: F1 would have no bounds otherwise.
    """
    # einsum: for matrices this small a BLAS spends its time on waking threads, a hundred times what the sums take
    close = np.maximum(np.einsum("sd,rd->sr", hypothesis.states, reference.states), 0)
    precision = float((close.max(axis=1) * hypothesis.weights).sum())
    recall = float((close.max(axis=0) * reference.weights).sum())
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both > 0 else 0.0
