"""Where the sentences of a review end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.metrics.coverage.sentences import published_sentences, sentences


@pytest.mark.parametrize(("text", "wanted"), [
    ("The lock leaks. Is it closed?", ("The lock leaks.", "Is it closed?")),
    ("The lock leaks.Is it closed", ("The lock leaks.Is it closed",)),
    ("- Name it.\n- Test it!\n", ("Name it.", "Test it!")),
    ("1. First\n2) **Second**", ("First", "**Second**")),
    ("> # Why?", ("Why?",)),
    ("Use e.g. a set, i.e. no list. Or cf. J. Doe.", ("Use e.g. a set, i.e. no list.", "Or cf. J. Doe.")),
    ("Call `a. b` once. Good", ("Call `a. b` once.", "Good")),
    ("See (here.) Then go", ("See (here.)", "Then go")),
    ("锁没有释放。请关闭它。", ("锁没有释放。", "请关闭它。")),
    ("Try this:\n```py\nx = 1. \ny()\n```\nThanks.", ("Try this:", "Thanks.")),
    ("```py\nx = 1\ny()\n```", ("```py x = 1 y() ```",)),
    ("https://example.org/a.b?c=d.e\n- <http://example.org>", ()),
    ("See https://example.org/a.b now. Go", ("See https://example.org/a.b now.", "Go")),
    (" \n---\n👍 !!", ()), ("", ()),
])  # fmt: skip
def test_where_sentences_end(text: str, wanted: tuple[str, ...]) -> None:
    assert sentences(text) == wanted


@given(st.text())
def test_no_word_is_lost_but_those_of_code_blocks(text: str) -> None:
    found = sentences(text)
    assert all(sentence.strip() == sentence and sentence for sentence in found)
    if "`" not in text and "~" not in text:
        kept = "".join("".join(found).split())
        assert sum(map(str.isalpha, kept)) == sum(map(str.isalpha, text))


def test_the_published_code_cuts_at_blanks_only() -> None:
    assert published_sentences("Is e.g. it? No. \n\n `a. b`") == ("Is e.g", "it", "No", "", " `a", "b`")
    assert published_sentences(" \n") == ("",), "a blank review is one empty sentence"
