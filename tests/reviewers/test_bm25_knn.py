from __future__ import annotations

from itertools import pairwise

import pytest

from reviewgauge.reviewers.bm25_knn import Bm25Knn
from training_cases import SUBJECTS, change, training

pytest.importorskip("bm25s")


def test_the_published_code_answers_with_the_next_review() -> None:
    published = Bm25Knn(variant="published").fit(training())
    order = list(SUBJECTS)
    for subject, following in pairwise(order):
        (comment,) = published.review(change(subject, "new", extra="  # new")).comments
        assert comment.body == f"Close the {following} afterwards."
    assert published.review(change(order[-1], "new", extra="  # new")).comments == ()
