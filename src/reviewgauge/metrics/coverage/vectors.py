"""How alike claims and sentences are: by rare bits of words, or by a model's token vectors without stop words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from reviewgauge.models.embeddings.embedder import Embedder, TokenStates, readable, to_length_one
from reviewgauge.models.text.idf import Grams, Weighting, table_of, unit_vectors

Matrix = npt.NDArray[np.float64]
Lexical = Literal["chars", "words"]
LEXICAL: Mapping[str, Lexical] = {"chars": "chars", "words": "words"}  # words for what needs no model
_AT_ONCE = 256  # texts whose token vectors are held at once

# NLTK's English list, and the marks that CRScore adds
STOP_TOKENS = frozenset(
    """
    i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself yourselves he him his
    himself she she's her hers herself it it's its itself they them their theirs themselves what which who whom this
    that that'll these those am is are was were be been being have has had having do does did doing a an the and but if
    or because as until while of at by for with about against between into through during before after above below to
    from up down in out on off over under again further then once here there when where why how all any both each few
    more most other some such no nor not only own same so than too very s t can will just don don't should should've
    now d ll m o re ve y ain aren aren't couldn couldn't didn didn't doesn doesn't hadn hadn't hasn hasn't haven haven't
    isn isn't ma mightn mightn't mustn mustn't needn needn't shan shan't shouldn shouldn't wasn wasn't weren weren't won
    won't wouldn wouldn't . ,
    """.split()  # noqa: SIM905
)


class Texts(NamedTuple):
    """The claims on one change and the sentences of one review."""

    claims: tuple[str, ...]
    sentences: tuple[str, ...]


class TextVectors:
    """The vectors of texts, of length 1 (or 0 for a text without any bit), each made once."""

    def __init__(self, texts: Iterable[str], model: Embedder | Lexical) -> None:
        self._rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        self._vectors: Any = _vectors(list(self._rows), model)

    def cosines(self, claims: Sequence[str], sentences: Sequence[str]) -> Matrix:
        """The cosine of each claim with each sentence (claims x sentences)."""
        found = self._of(claims) @ self._of(sentences).T
        return np.minimum(1.0, found if isinstance(found, np.ndarray) else found.toarray())

    def pairs(self, first: Sequence[str], second: Sequence[str]) -> Matrix:
        """The cosine of each text with the one at the same place of the other list (n)."""
        product = self._of(first)
        products = product * self._of(second) if isinstance(product, np.ndarray) else product.multiply(self._of(second))
        return np.minimum(1.0, np.asarray(products.sum(axis=1), dtype=np.float64).ravel())

    def _of(self, texts: Sequence[str]) -> Any:
        return self._vectors[[self._rows[text] for text in texts]]


def _vectors(texts: Sequence[str], model: Embedder | Lexical) -> Any:
    """One row a text: sparse TF-IDF of 3 to 5 characters within words or of stemmed words, or pooled token vectors."""
    if isinstance(model, Embedder):
        pooled = _pooled(texts, model)
        return np.stack([pooled[text] for text in texts]) if texts else np.zeros((0, model.dimensions))
    grams = Grams(model, 3, 5) if model == "chars" else Grams(model, 1, 1)
    return unit_vectors(texts, Weighting(grams, table_of(grams)))


def cosines(items: Sequence[Texts], model: Embedder | Lexical) -> Iterator[Matrix]:
    """The cosines (claims x sentences) of each item."""
    vectors = TextVectors((text for item in items for texts in item for text in texts), model)
    for item in items:
        yield vectors.cosines(item.claims, item.sentences)


def published_cosines(items: Sequence[Texts], model: Embedder) -> Iterator[Matrix]:
    """The same with the slip of CRScore's code.

    It takes the tokens of the first text of a list for those of every text in it, and reads no further than they go.
    """
    states = dict(_token_states((text for item in items for texts in item for text in texts), model))
    for item in items:
        claims, sentences = (_as_first(texts, states) for texts in item)
        yield np.minimum(1.0, claims @ sentences.T)


def _pooled(texts: Sequence[str], model: Embedder) -> Mapping[str, Matrix]:
    """The pooled vector of each text: read from the model's cache, else made and kept there."""
    pooling = hashlib.sha256(" ".join([model.fingerprint, *sorted(STOP_TOKENS)]).encode()).hexdigest()
    known = {text: readable(text) for text in texts}
    found = model.cache.get(pooling, list(known.values())) if model.cache else {}
    made: dict[str, npt.NDArray[np.float32]] = {}
    for text, states in _token_states([text for text in known.values() if text not in found], model):
        made[text] = _mean(states.vectors, states.tokens)
    if model.cache and made:
        model.cache.put(pooling, made)
    vectors = made | found
    return {text: vectors[read].astype(np.float64) for text, read in known.items()}


def _token_states(texts: Iterable[str], model: Embedder) -> Iterator[tuple[str, TokenStates]]:
    """Each distinct text with the vectors of its tokens, the shortest first."""
    ordered = sorted(dict.fromkeys(texts), key=len)
    for start in range(0, len(ordered), _AT_ONCE):
        chunk = ordered[start : start + _AT_ONCE]
        yield from zip(chunk, model.tokens(chunk), strict=True)


def _as_first(texts: Sequence[str], states: Mapping[str, TokenStates]) -> Matrix:
    tokens = states[texts[0]].tokens
    return np.stack([_mean(states[text].vectors, tokens) for text in texts]).astype(np.float64)


def _mean(vectors: npt.NDArray[np.float32], tokens: Sequence[str]) -> npt.NDArray[np.float32]:
    """The mean of the vectors whose token is no stop word, of length 1; of all where there is no other."""
    kept = [at for at, token in enumerate(tokens[: len(vectors)]) if token not in STOP_TOKENS]
    chosen = vectors[kept] if kept else vectors
    mean: npt.NDArray[np.float32] = to_length_one(chosen.mean(axis=0, keepdims=True))[0]
    return mean
