"""Cosines of claims and sentences: scikit-learn is the oracle for texts, the plain mean of token vectors for models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Case, Change, Claim, Comment, Review
from reviewgauge.metrics import crscore
from reviewgauge.metrics.coverage.vectors import (
    LEXICAL,
    STOP_TOKENS,
    Lexical,
    Texts,
    TextVectors,
    cosines,
    published_cosines,
)
from reviewgauge.models.cache.vector_cache import Floats, VectorCache
from reviewgauge.models.embeddings.embedder import Embedder, TokenStates
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
    weighting = Weighting(grams, table_of(grams))
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


class Counting(Embedder):
    """A model with two token vectors a text, that remembers what it was asked."""

    fingerprint = "12" * 32
    dimensions = 2

    def __init__(self, cache: VectorCache | None = None) -> None:
        super().__init__("counting", cache)
        self.asked: list[str] = []

    def _encode(self, texts: Sequence[str]) -> Floats:
        raise AssertionError("no vector of a whole text is taken")

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, longest: int | None = None
    ) -> list[TokenStates]:
        self.asked += texts
        none = np.zeros(2, dtype=np.int64), ("x", "y"), np.zeros((2, 2), dtype=np.int64), np.zeros(2, dtype=bool), False
        return [TokenStates(*none, np.array([[len(text), 1], [1, 2]], dtype=np.float32)) for text in texts]


def test_no_text_is_embedded_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = Change(repo="o/r")
    items = [
        (
            Case(id=str(at), change=change, claims=(Claim(id="1", body="A lock."), Claim(id="2", body=f"Claim {at}"))),
            Review(case=str(at), system=system, comments=(Comment(id="k", body=f"Why? {system} asks. A lock."),)),
        )
        for system in ("a", "b")
        for at in range(3)
    ]
    cache = VectorCache(tmp_path / "vectors.sqlite")
    counting = Counting(cache)
    monkeypatch.setattr(crscore, "embedder", lambda _: counting)
    monkeypatch.setattr(crscore.Crscore, "batch", 2)
    found = list(crscore.Crscore(model="counting").parts_many(items))
    assert len(found) == 6 and all(isinstance(one, Measured) for one in found)
    said = ["A lock.", "Claim 0", "Claim 1", "Claim 2", "Why?", "a asks.", "b asks."]
    assert sorted(counting.asked) == said, "not in one batch, nor in the next"
    counting.asked.clear()
    assert list(crscore.Crscore(model="counting").parts_many(items)) == found
    assert counting.asked == [], "nor in the next run"
    monkeypatch.setattr(counting, "cache", None)
    monkeypatch.setattr(crscore.Crscore, "batch", 100)
    assert list(crscore.Crscore(model="counting").parts_many(items)) == found
    assert sorted(counting.asked) == said


@pytest.mark.parametrize("model", ["chars", "words", "all-MiniLM-L6-v2"])
def test_pairs_are_the_diagonal_of_the_cosines(model: str) -> None:
    texts = [*ITEM.claims, *ITEM.sentences]
    vectors = TextVectors(texts, LEXICAL.get(model) or embedder(model))
    np.testing.assert_allclose(vectors.pairs(texts, texts[::-1]), vectors.cosines(texts, texts[::-1]).diagonal())
