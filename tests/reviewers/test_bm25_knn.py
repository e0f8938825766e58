"""BM25 as Lucene has it, and the published code's slip."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from reviewgauge.reviewers.bm25_knn import Bm25Index, Bm25Knn
from training_cases import SUBJECTS, change, training

TEXTS = ["if x is none", "return x x y", "none", ""]


def lucene(query: list[str], text: str, k1: float, b: float) -> float:
    """The formula, term by term."""
    texts, words = [one.split() for one in TEXTS], text.split()
    mean = sum(map(len, texts)) / len(texts)
    score = 0.0
    for word in query:
        holders = sum(word in other for other in texts)
        idf = math.log(1 + (len(TEXTS) - holders + 0.5) / (holders + 0.5))
        count = words.count(word)
        score += idf * count / (count + k1 * (1 - b + b * len(words) / mean))
    return score


@pytest.mark.parametrize("query", [["x"], ["none", "x"], ["x", "x", "unknown"], ["unknown"], []])
@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.5, 0.75)])
def test_scores_are_those_of_the_formula(query: list[str], k1: float, b: float) -> None:
    found = Bm25Index(TEXTS, k1, b).scores(query)
    np.testing.assert_allclose(found, [lucene(query, text, k1, b) for text in TEXTS], rtol=1e-5)


@pytest.mark.parametrize("texts", [[], ["", ""]])
def test_an_index_without_words(texts: list[str]) -> None:
    index = Bm25Index(texts, 0.9, 0.4)
    assert index.scores(["x"]).tolist() == [0.0] * len(texts)


pytest.importorskip("bm25s")


def test_the_published_code_answers_with_the_next_review() -> None:
    published = Bm25Knn(variant="published").fit(training())
    order = list(SUBJECTS)
    for subject, following in pairwise(order):
        (comment,) = published.review(change(subject, "new", extra="  # new")).comments
        assert comment.body == f"Close the {following} afterwards."
    assert published.review(change(order[-1], "new", extra="  # new")).comments == ()
