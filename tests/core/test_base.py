from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.base import escape_cell, unescape_cell

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
