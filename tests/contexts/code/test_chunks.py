"""Chunks: by definitions, at most 60 lines, every line with text in one of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewgauge.contexts.bm25 import code_words
from reviewgauge.contexts.code.index import LONGEST, chunks

MODULE = (
    "import os\n\n# first\ndef first():\n    return 1\n\n\nclass Small:\n    x = 1\n    y = 2\n    z = 3\n\nLIMIT = 3\n"
)
LONG = "class Long:\n" + "".join(f"    def m{n}(self):\n" + "        pass\n" * 20 + "\n" for n in range(5))


def test_a_definition_is_a_chunk_and_a_short_beginning_belongs_to_the_next() -> None:
    assert chunks(MODULE.encode(), "a.py") == [(1, 5), (8, 11), (13, 13)]


def test_a_long_class_is_cut_at_its_methods_and_a_long_function_into_windows() -> None:
    methods = [(2 + 22 * n, 22 + 22 * n) for n in range(5)]
    assert chunks(LONG.encode(), "a.py") == [(1, 22), *methods[1:]]
    body = b"def f():\n" + b"    x = 1\n" * 149
    assert chunks(body, "a.py") == [(1, 60), (61, 120), (121, 150)]


def test_files_without_a_grammar_and_empty_ones() -> None:
    assert chunks(b"MOVE 1 TO X.\n" * 130, "a.cobol") == [(1, 60), (61, 120), (121, 130)]
    assert chunks(b"", "a.py") == chunks(b"\n \n", "a.py") == []
    assert chunks(b"x = 1", "a.py") == [(1, 1)]


LINES = st.sampled_from(["def f():", "    return 1", "class A:", "    def g(self):", "        pass", "", "x = 1", ")"])


@settings(max_examples=60, deadline=None)
@given(st.lists(LINES, max_size=200))
def test_every_line_with_text_is_in_one_chunk(lines: list[str]) -> None:
    found = chunks("\n".join(lines).encode(), "a.py")
    covered = [line for start, end in found for line in range(start, end + 1)]
    assert len(covered) == len(set(covered))
    assert {n for n, line in enumerate(lines, 1) if line.strip()} <= set(covered)
    assert all(0 <= end - start < LONGEST for start, end in found)


@pytest.mark.parametrize(("text", "words"), [
    ("getUserId(self)", ["getuserid", "get", "user", "id", "self"]),
    ("HTTPServer_v2 = 12", ["httpserver_v2", "http", "server", "v2"]),
    ("größe __init__", ["größe", "__init__", "init"]),
    ("x" * 101, []),
])  # fmt: skip
def test_words_of_code(text: str, words: list[str]) -> None:
    assert code_words(text) == words
