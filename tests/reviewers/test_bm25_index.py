from __future__ import annotations

import math

import numpy as np
import pytest

from reviewgauge.reviewers.bm25_knn import Bm25Index

TEXTS = [["if", "x", "is", "none"], ["return", "x", "x", "y"], ["none"], []]


def lucene(query: list[str], text: list[str], k1: float, b: float) -> float:
    """The formula, term by term."""
    mean = sum(map(len, TEXTS)) / len(TEXTS)
    score = 0.0
    for word in query:
        holders = sum(word in other for other in TEXTS)
        idf = math.log(1 + (len(TEXTS) - holders + 0.5) / (holders + 0.5))
        count = text.count(word)
        score += idf * count / (count + k1 * (1 - b + b * len(text) / mean))
    return score


@pytest.mark.parametrize("query", [["x"], ["none", "x"], ["x", "x", "unknown"], ["unknown"], []])
@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.5, 0.75)])
def test_scores_are_those_of_the_formula(query: list[str], k1: float, b: float) -> None:
    found = Bm25Index(TEXTS, k1, b).scores(query)
    np.testing.assert_allclose(found, [lucene(query, text, k1, b) for text in TEXTS], rtol=1e-5)


@pytest.mark.parametrize("texts", [[], [[], []]])
def test_an_index_without_words(texts: list[list[str]]) -> None:
    index = Bm25Index(texts)
    assert index.scores(["x"]).tolist() == [0.0] * len(texts)
