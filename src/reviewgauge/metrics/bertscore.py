"""How well does each token of the review find its like in the reference, and the reverse? BERTScore.

Source: Zhang et al. 2020, https://arxiv.org/abs/1904.09675. Values are those of the `bert-score` package with the
same weights and layer: greedy matching of token states by cosine, [CLS] and [SEP] may be matched and weigh nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_file, write_whole
from reviewgauge.core.results import Parts
from reviewgauge.core.trust import FilePath, ModelName, Word
from reviewgauge.metrics.texts.text_metric import TextMetric, TextPair
from reviewgauge.models.embeddings.embedder import DEFAULT, Embedder, Floats, TokenStates, check_fitted_for
from reviewgauge.models.embeddings.load import embedder

MODEL, TEXTS, COUNTS = "fingerprint", "texts", "counts"
WHOLE = 1_000_000  # tokens: as many as the network has room for


class TokenIdf:
    """The weights of a model's tokens. `digest` is the SHA-256 of the file."""

    def __init__(self, counts: dict[int, int], texts: int, fitted_for: str, digest: str) -> None:
        self.fitted_for, self.digest = fitted_for, digest
        self._unseen = math.log(texts + 1)
        self._known = {token: math.log((texts + 1) / (count + 1)) for token, count in counts.items()}

    def weights(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """The idf of each token."""
        return np.array([self._known.get(token, self._unseen) for token in ids.tolist()])


def write_idf(file: str | Path, references: Iterable[str], model: Embedder) -> int:
    """Count the references that hold each token, for `bertscore(idf=file)`; returns how many there are.

    Every reference counts, equal ones as often as they occur.
    """
    given = Counter(references)
    found: Counter[int] = Counter()
    distinct = list(given)
    for start in range(0, len(distinct), 256):
        some = distinct[start : start + 256]
        for text, states in zip(some, model.tokens(some, layer=0, longest=WHOLE), strict=True):
            for token in set(states.ids.tolist()):
                found[token] += given[text]
    counts = {str(token): count for token, count in sorted(found.items())}
    written = {MODEL: model.fingerprint, TEXTS: given.total(), COUNTS: counts}
    write_whole(Path(file), json.dumps(written, separators=(",", ":")).encode() + b"\n")
    return given.total()


def read_idf(file: str, model: Embedder) -> TokenIdf:
    """The weights in a file that `write_idf` wrote for this model. Raises UserError for another model's."""
    try:
        found = _read(file, Path(file).expanduser().stat().st_mtime_ns)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror or error}", remedy="write_idf makes one") from None
    check_fitted_for(model, found.fitted_for, f"idf={file!r}")
    return found


@lru_cache(maxsize=4)
def _read(file: str, _changed: int) -> TokenIdf:
    data = read_file(Path(file).expanduser())
    try:
        found = json.loads(data)
        counts = {int(token): int(count) for token, count in found[COUNTS].items()}
        texts, fitted_for = int(found[TEXTS]), str(found[MODEL])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadInput(file, "is not a file of token counts", remedy="write_idf makes one") from None
    if texts < 1 or any(not 0 <= count <= texts for count in counts.values()):
        raise BadInput(file, f"a count is not between 0 and the number of texts, {texts}", field=COUNTS)
    return TokenIdf(counts, texts, fitted_for, hashlib.sha256(data).hexdigest())


__all__ = ["Bertscore", "write_idf"]

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

    `model` is a local embedding model's word. `layer` counts from 0, the embeddings; None is the last. `idf` is a
    file of token counts, made by `write_idf` from the references, to weigh rare tokens more. `baseline` is what
    (P, R, F1) of unrelated texts come to, and rescales to (x - b) / (1 - b); it holds for one model and layer, which
    `baseline_of` must name. A blank review has 0 (before rescaling). The measure `cut` is the share of pairs with a
    text that the network has no room for.
    """

    model: ModelName = DEFAULT
    layer: int | None = None
    idf: FilePath = ""
    baseline: tuple[float, float, float] | None = None
    baseline_of: Word = ""

    headline: ClassVar[str] = F1
    batch: ClassVar[int] = 8192
    lower_is_better: ClassVar[frozenset[str]] = frozenset({CUT})

    def __post_init__(self) -> None:
        if self.layer is not None and self.layer < 0:
            raise ValueError("layer must be 0 (the embeddings) or more")
        if self.baseline is not None and max(self.baseline) >= 1:
            raise ValueError("baseline values must be below 1")
        if bool(self.baseline_of) != (self.baseline is not None):
            raise ValueError("baseline=(P, R, F1) and baseline_of='MODEL' go together")

    def _parts_of_it(self) -> tuple[Embedder, TokenIdf | None]:
        """The model and the idf weights. Raises UserError where a number belongs to another model."""
        model = embedder(self.model)
        if self.baseline is not None:
            check_fitted_for(model, self.baseline_of, f"baseline={self.baseline}")
        return model, read_idf(self.idf, model) if self.idf else None

    def pins(self) -> Mapping[str, str]:
        """The fingerprint of the model's weights, and the hash of the file of token counts."""
        model, idf = self._parts_of_it()
        return {model.name: model.fingerprint} | ({"idf": idf.digest} if idf else {})

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """`precision`, `recall`, `f1` and `cut` of each pair."""
        model, idf = self._parts_of_it()
        found: list[Parts] = [{}] * len(pairs)
        for rows in _groups(pairs):
            texts = {text: None for row in rows for text in (pairs[row].hypothesis, *pairs[row].references)}
            not_blank = [text for text in texts if text.strip()]
            states = model.tokens(not_blank, layer=self.layer, longest=WHOLE)
            known = {text: _text(one, idf) for text, one in zip(not_blank, states, strict=True)}
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
        if self.baseline is not None:
            best = [(value - base) / (1 - base) for value, base in zip(best, self.baseline, strict=True)]
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


def _text(one: TokenStates, idf: TokenIdf | None) -> _Text:
    lengths = np.linalg.norm(one.vectors, axis=1, keepdims=True)
    states = (one.vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    weights = np.ones(len(one.ids)) if idf is None else idf.weights(one.ids)
    weights = np.where(one.special, 0.0, weights)
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
