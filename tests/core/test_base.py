from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from reviewgauge.core.base import Id, escape_cell, unescape_cell, unsafe

ANY_ID = TypeAdapter[str](Id)
STARTS = "=+-@＝＋－＠\t\r\n"
texts = st.text(alphabet=st.sampled_from(f"{STARTS}' a1(\u00a0\u3000"), max_size=8) | st.text(max_size=20)


@pytest.mark.parametrize("text", ["", "a", "a=b", "1-2", "it's", "'quoted'", " plain", "#1"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert escape_cell(text) == text == unescape_cell(text)


@given(texts)
def test_escaping_can_be_undone_and_leaves_no_formula(text: str) -> None:
    cell = escape_cell(text)
    assert unescape_cell(cell) == text
    assert not cell.startswith(tuple(STARTS))
    assert not cell.lstrip().startswith(tuple("=+-@＝＋－＠"))


@given(st.text(alphabet=st.sampled_from("a:~/.\\ \n\x7fé"), max_size=6) | st.text(max_size=10))
@settings(max_examples=500)
def test_the_pattern_of_ids_takes_what_is_safe_and_nothing_else(text: str) -> None:
    try:
        ANY_ID.validate_python(text)
        taken = True
    except ValidationError:
        taken = False
    assert taken == (unsafe(text) == "")


@pytest.mark.parametrize("text", ["C:/x", "C:\\x", "/etc", "~", "a/../b", "..", "../a", "a/..", "", "a\nb", ".:/"])
def test_what_leads_out_of_a_folder_is_no_id(text: str) -> None:
    assert unsafe(text)


@pytest.mark.parametrize("text", ["a", "a:b", "C:", "..a", "...", ".", "a//b", "a/", ".git/x", "o/r#1", "a/..b/…"])
def test_what_stays_in_a_folder_is_an_id(text: str) -> None:
    assert unsafe(text) == ""
