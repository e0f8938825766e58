"""What a page makes of diffs: large ones in parts, binary files, lines that are odd, and colours that lose nothing."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.annotation.items import ShownText
from reviewgauge.annotation.pages.colours import coloured
from reviewgauge.annotation.pages.diffs import Note, show_change
from reviewgauge.annotation.pages.parts import MOST_LINES
from reviewgauge.core.records import ChangedFile, Span

LINES = 100_000


def huge_file(path: str = "huge.py") -> ChangedFile:
    body = "".join(f"+x{n} = {n}\n" for n in range(1, LINES + 1))
    return ChangedFile(path=path, patch=f"@@ -0,0 +1,{LINES} @@\n{body}")


def test_a_huge_diff_is_shown_in_parts_that_hold_every_line_once() -> None:
    small = ChangedFile(path="small.py", patch="@@ -1 +1 @@\n-a\n+b\n")
    files = [small, huge_file(), ChangedFile(path="logo.png", binary=True)]
    first = show_change(files, [], split=False)
    assert first.parts == pytest.approx(LINES / MOST_LINES, abs=2)
    pages = {n: show_change(files, [], split=False, part=n).files for n in (1, 2, 3, first.parts - 1, first.parts)}
    assert all(sum(len(file.rows) for file in page) <= MOST_LINES + 20 for page in pages.values())
    lines = {n: [row.new for file in page for row in file.rows if row.kind == "+"] for n, page in pages.items()}
    assert lines[1] + lines[2] + lines[3] == [1, *range(1, sum(map(len, list(lines.values())[:3])))]
    rest = lines[first.parts - 1] + lines[first.parts]
    assert rest == list(range(LINES - len(rest) + 1, LINES + 1))
    names = [[file.path for file in pages[n]] for n in (1, 2, first.parts)]
    assert names == [["small.py", "huge.py"], ["huge.py"], ["huge.py", "logo.png"]]
    assert show_change(files, [], split=False, part=10**9).part == first.parts
    assert show_change(files, [], split=True, part=0).part == 1


def test_a_comment_stands_at_its_line_in_the_part_that_has_it() -> None:
    note = Note(1, "Comment", "said", ShownText(body="Why?", span=Span(path="huge.py", start=MOST_LINES + 5)))
    rows = show_change([huge_file()], [note], split=False, part=2).files[0].rows
    assert [row.new for row in rows if row.notes] == [MOST_LINES + 5]
    assert rows[0].left == f"@@ -0,0 +{MOST_LINES + 1},{MOST_LINES // 4} @@"


def test_a_page_stays_small_whatever_the_lines() -> None:
    long = "".join(f"+{'x' * 50_000}\n" for _ in range(1000))
    shown = show_change([ChangedFile(path="min.js", patch=f"@@ -0,0 +1,1000 @@\n{long}")], [], split=False)
    assert shown.parts > 4
    assert sum(len(row.left) for row in shown.files[0].rows) < 400_000


def test_files_without_text_are_named() -> None:
    files = [ChangedFile(path="a.png", binary=True), ChangedFile(path="b.py")]
    found = [(file.path, file.remarks) for file in show_change(files, [], split=True).files]
    assert found == [
        ("a.png", ["A binary file: its contents are not shown."]),
        ("b.py", ["The diff of this file is not at hand."]),
    ]


CODE = st.lists(st.text(st.characters(exclude_characters="\n"), max_size=30), max_size=8)


@given(CODE, st.sampled_from(["a.py", "b.html", "c.zzz", "d"]))
def test_colours_lose_no_character(lines: list[str], path: str) -> None:
    for _ in range(2):  # the second time from memory
        for line, marked in zip(lines, coloured(path, lines), strict=True):
            codes = re.sub(r'<span class="odd">U\+([0-9A-F]+)</span>', lambda code: chr(int(code[1], 16)), marked)
            text = unescape(re.sub(r"<[^>]*>", "", codes.replace('<span class="odd cr">CR</span>', "\r")))
            assert text == line
