from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from reviewgauge.core.base import RelPath
from reviewgauge.repo.paths import decode_path, encode_path, unquote

VALID: TypeAdapter[str] = TypeAdapter(RelPath)


@given(st.binary(min_size=1, max_size=60))
def test_every_path_of_git_becomes_a_valid_path_and_comes_back(raw: bytes) -> None:
    text = decode_path(raw)
    assert encode_path(text) == raw
    assert VALID.validate_python(text) == text


@given(st.text("aé/ .b\\\n~:\uf041", min_size=1))
def test_odd_characters_come_back_too(text: str) -> None:
    assert encode_path(decode_path(text.encode())) == text.encode()


@pytest.mark.parametrize("name", ["src/app.py", "a b/c.txt", "naïve/文.py", "dir/...", "x..y", "a~b"])
def test_ordinary_names_stay_as_they_are(name: str) -> None:
    assert decode_path(name.encode()) == name


def test_two_odd_names_stay_two() -> None:
    assert decode_path(b"a\xff") != decode_path(b"a\xfe")


@pytest.mark.parametrize(("printed", "raw"), [
    ("plain name", b"plain name"),
    ('"a/na\\303\\257ve"', "a/naïve".encode()),
    ('"tab\\there\\nand \\"quote\\" \\\\ back"', b'tab\there\nand "quote" \\ back'),
    ('"\\377"', b"\xff"),
])  # fmt: skip
def test_quoted_names_are_read(printed: str, raw: bytes) -> None:
    assert unquote(printed) == raw
