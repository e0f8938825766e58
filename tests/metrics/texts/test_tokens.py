"""Tokenisers equal the originals; what is remembered is bounded."""

from __future__ import annotations

import re
from xml.sax.saxutils import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from reviewgauge.metrics.texts import tokens
from text_metrics import texts

SACREBLEU = Tokenizer13a()  # type: ignore[no-untyped-call]


@given(st.one_of(texts, st.text(alphabet="aB01.,-' \n\t&;<>_é中\xa0\x1c/[`²٣", max_size=12)))
def test_13a_is_sacrebleus(text: str) -> None:
    assert tokens.mteval_13a(text) == tuple(SACREBLEU(text.rstrip()).split())


@pytest.mark.parametrize(
    "text", ["a..5", "a.,.5", "5..a", "5..6", "5...6", "1--2", "x-\ny", "x-\n", "&amp;lt;", "1.5.", "1,5-3"]
)
def test_13a_where_points_and_dashes_meet_digits(text: str) -> None:
    assert tokens.mteval_13a(text) == tuple(SACREBLEU(text.rstrip()).split())


@given(texts)
def test_graded_reviews_is_two_published_steps(text: str) -> None:
    """Punctuation off and lower case, then mteval's rules with lower case, as the CodeXGLUE script has them."""
    line = " ".join(re.findall(r"\w+|[^\s\w]", text.strip().lower()))
    line = unescape(line, {"&quot;": '"'}).lower()
    for pattern, replacement in (
        (r"([\{-\~\[-\` -\&\(-\+\:-\@\/])", r" \1 "),
        (r"([^0-9])([\.,])", r"\1 \2 "),
        (r"([\.,])([^0-9])", r" \1 \2"),
        (r"([0-9])(-)", r"\1 \2 "),
    ):
        line = re.sub(pattern, replacement, f" {line} ")
    assert tokens.graded_reviews(text) == tuple(line.split())


@pytest.mark.parametrize(("text", "words", "marks"), [
    ("Don't use user_id!", ["don", "t", "use", "user_id"], ["don", "'", "t", "use", "user_id", "!"]),
    ("変数x1を", ["変", "数", "x1", "を"], ["変", "数", "x1", "を"]),
    ("👩‍💻 ok", ["ok"], ["👩", "\u200d", "💻", "ok"]),
    ("Это ну́жно", ["это", "ну", "жно"], ["это", "ну", "\u0301", "жно"]),
    ("한국어", ["한", "국", "어"], ["한", "국", "어"]),
    ("ตัว", ["ต", "ว"], ["ต", "ั", "ว"]),
    ("  ", [], []),
])  # fmt: skip
def test_what_words_and_marks_are(text: str, words: list[str], marks: list[str]) -> None:
    assert (list(tokens.words(text)), list(tokens.words_and_marks(text))) == (words, marks)


def test_stop_words_go_unless_nothing_else_is_left() -> None:
    assert tokens.without_stop_words(("The", "lock", "is", "not", "it")) == ("lock", "not")
    assert tokens.without_stop_words(("Is", "it")) == ("Is", "it")
    assert tokens.without_stop_words(()) == ()
    assert not tokens.STOP_WORDS & {"not", "no", "never", "don"}  # a negation turns a comment around
    assert all(word == word.lower() for word in tokens.STOP_WORDS)


def test_long_texts_are_not_remembered() -> None:
    calls: list[str] = []

    @tokens.remembered
    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    long = "x" * (tokens.LONGEST_KEPT + 1)
    assert [length("abc"), length("abc"), length(long), length(long)] == [3, 3, len(long), len(long)]
    assert calls == ["abc", long, long]
