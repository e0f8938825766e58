"""Cosines of claims and sentences: scikit-learn is the oracle for texts, the plain mean of token vectors for models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.metrics.coverage.vectors import (
    LEXICAL,
    STOP_TOKENS,
    Lexical,
    Texts,
    TextVectors,
    cosines,
    published_cosines,
)
from reviewgauge.models.embeddings.load import embedder
from reviewgauge.models.text import idf
from reviewgauge.models.text.idf import Grams, Weighting, table_of

TEXTS = st.lists(
    st.lists(st.sampled_from(["the lock", "Locks", "is", "never", "釈放", "x()", "`a`"]), max_size=5).map(" ".join),
    min_size=1,
    max_size=4,
).map(tuple)
ITEM = Texts(("The lock is never released.", "A parameter is added."), ("Release the lock!", "Why a new parameter?"))


@pytest.mark.parametrize("analyzer", ["chars", "words"])
@given(items=st.lists(st.builds(Texts, TEXTS, TEXTS), max_size=4))
def test_each_cosine_is_that_of_the_pair_alone(analyzer: Lexical, items: list[Texts]) -> None:
    grams = Grams(analyzer, 3, 5) if analyzer == "chars" else Grams(analyzer, 1, 1)
    weighting = Weighting(grams, table_of("shipped", grams))
    for item, found in zip(items, cosines(items, analyzer), strict=True):
        pairs = [(claim, sentence) for claim in item.claims for sentence in item.sentences]
        alone = idf.cosines([claim for claim, _ in pairs], [sentence for _, sentence in pairs], weighting)
        np.testing.assert_allclose(found.ravel(), alone, atol=1e-12)


def test_token_vectors_are_pooled_without_stop_words() -> None:
    model = embedder("all-MiniLM-L6-v2")

    def mean(text: str, tokens_of: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        (states,), (mask,) = model.tokens([text]), model.tokens([tokens_of])
        pairs = zip(mask.tokens, states.vectors, strict=False)
        kept = np.mean([vector for token, vector in pairs if token not in STOP_TOKENS], axis=0)
        return np.asarray(kept / np.linalg.norm(kept), dtype=np.float64)

    (found,) = cosines([ITEM], model)
    wanted = [[mean(claim, claim) @ mean(said, said) for said in ITEM.sentences] for claim in ITEM.claims]
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    (slip,) = published_cosines([ITEM], model)
    first, spoken = ITEM.claims[0], ITEM.sentences[0]
    wanted = [[mean(claim, first) @ mean(said, spoken) for said in ITEM.sentences] for claim in ITEM.claims]
    np.testing.assert_allclose(slip, wanted, atol=1e-5)
    assert not np.allclose(slip, found, atol=1e-3), "the slip is seen"


def test_a_text_of_stop_words_alone_keeps_them() -> None:
    (found,) = cosines([Texts(("it is",), ("it is", ""))], embedder("all-MiniLM-L6-v2"))
    assert found[0, 0] == pytest.approx(1.0) and np.isfinite(found).all()


@pytest.mark.parametrize("model", ["chars", "words", "all-MiniLM-L6-v2"])
def test_pairs_are_the_diagonal_of_the_cosines(model: str) -> None:
    texts = [*ITEM.claims, *ITEM.sentences]
    vectors = TextVectors(texts, LEXICAL.get(model) or embedder(model))
    np.testing.assert_allclose(vectors.pairs(texts, texts[::-1]), vectors.cosines(texts, texts[::-1]).diagonal())
