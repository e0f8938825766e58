"""Treebank tokens as NLTK has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graded_pairs
from reviewgauge.metrics.texts.tokens import treebank

PIECES = (
    *"abZs019.,:;'\"`()[]{}<>-–—?!*@#$%& \n\t«»“”‘’„_/\\é修👍",
    "cannot", "'ll", "n't", "'RE", "gimme", "wanna ", "more'n", " 'tis", " 'Twas", "d'ye", "```", "''", "...", "--",
    "gotta", "lemme", "gonna", "'ve", ". ", ".)", ".\n",
)  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [
    ("Don't do that.", "do n't do that ."),
    ('Use "final", please...', "use `` final '' , please ..."),
    ("We cannot (yet) merge 3.5 at 10:30!", "we can not ( yet ) merge 3.5 at 10:30 !"),
    ("```java\nint x = a.b;\n```", "`` ` java int x = a.b ; `` `"),
    ("", ""), (" \n\t", ""), ("修复这个问题。", "修复这个问题。"),
])  # fmt: skip
def test_examples(text: str, expected: str) -> None:
    assert " ".join(treebank(text)) == expected


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_the_tokens_are_nltks(text: str) -> None:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    assert list(treebank(text)) == NLTKWordTokenizer().tokenize(text.lower())


def test_on_graded_reviews_too(shared_data: Path) -> None:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenize = NLTKWordTokenizer().tokenize
    texts = {pair.hypothesis for pair in graded_pairs.pairs(shared_data)[::3]}
    assert all(list(treebank(text)) == tokenize(text.lower()) for text in texts)


@pytest.mark.parametrize("piece", ["a. ", ".", "'", '"', "`", "*", ".)", "\n", "修", "👍", "don't "])
@pytest.mark.slow
def test_a_megabyte_of_one_thing_is_read(piece: str) -> None:
    assert len(treebank(piece * (1_000_000 // len(piece)))) <= 1_000_000
