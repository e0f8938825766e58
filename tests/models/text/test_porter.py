"""The stems are NLTK's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.models.text.porter import stem

ENDINGS = (
    "", "s", "es", "ies", "sses", "ed", "ied", "eed", "ing", "y", "yy", "e", "ll", "ion", "tion", "logi", "logy", "li",
    "alli", "ally", "fully", "fulli", "ational", "ization", "iveness", "ement", "ance", "er", "ness", "biliti", "ss",
    "at", "bl", "iz", "tt", "ou", "ate", "ful", "icate", "eli", "bli",
)  # fmt: skip


@pytest.mark.parametrize(("word", "expected"), [
    ("caresses", "caress"), ("ponies", "poni"), ("ties", "tie"), ("agreed", "agre"), ("hopping", "hop"),
    ("filing", "file"), ("happy", "happi"), ("enjoy", "enjoy"), ("relational", "relat"), ("Dying", "die"), ("as", "as"),
    ("", ""), ("n't", "n't"), ("修复", "修复"),
])  # fmt: skip
def test_examples_of_the_paper_and_of_nltk(word: str, expected: str) -> None:
    assert stem(word) == expected


@given(st.text("aeiouybcdgilmnrstvzA'1é", max_size=8), st.sampled_from(ENDINGS), st.sampled_from(ENDINGS))
def test_the_stem_is_nltks(start: str, middle: str, end: str) -> None:
    from nltk.stem.porter import PorterStemmer

    assert stem(start + middle + end) == PorterStemmer().stem(start + middle + end)


def test_a_huge_token_is_stemmed_in_linear_time() -> None:
    assert stem("y" * 1_000_000 + "ing") == "y" * 999_999 + "i"
