from __future__ import annotations

import pytest

from reviewgauge.core.records import Comment
from reviewgauge.views.report.reasons import first_words, in_words

KNOWN = {"a": "The total is wrong", "fix-1": "A race", "c9": "Rename it"}


@pytest.mark.parametrize(("reason", "read"), [
    ("a, probability 0.90, shares a, total", "“The total is wrong”, probability 0.90, shares a, total"),
    ("nearest finding: fix-1, another file", "nearest finding: “A race”, another file"),
    ("may raise fix-1, probability 0.40", "may raise “A race”, probability 0.40"),
    ("what the benchmark calls wrong: a", "what the benchmark calls wrong: “The total is wrong”"),
    ("closest comment c9: a, probability 0.10", "closest comment “Rename it”: “The total is wrong”, probability 0.10"),
    ("a; also credited for fix-1", "“The total is wrong”; also credited for “A race”"),
    ("the review has no comments", "the review has no comments"),
])  # fmt: skip
def test_ids_become_words(reason: str, read: str) -> None:
    assert in_words(reason, KNOWN) == read
    assert in_words(reason, {}) == reason


def test_ids_without_words_are_left_out() -> None:
    reason = "closest comment c9: fix-1, probability 0.10"
    assert in_words(reason, KNOWN | {"fix-1": ""}) == "closest comment “Rename it”: probability 0.10"
    assert in_words(reason, {"c9": "", "fix-1": ""}) == "probability 0.10"
    assert in_words("closest comment c9: fix-1", {"c9": "Rename it", "fix-1": ""}) == "closest comment “Rename it”"


def test_long_texts_end_after_a_word_and_stay_on_one_line() -> None:
    words = first_words([Comment(id="x", body="one two\nthree " * 20), Comment(id="y", body="short")])
    assert words["y"] == "short"
    assert words["x"].endswith(" …") and "\n" not in words["x"] and len(words["x"]) <= 72
