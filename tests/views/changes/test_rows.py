"""What a page makes of diffs: large ones in parts, binary files, lines that are odd, and colours that lose nothing."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile, FileStatus, Side, Span
from reviewgauge.datasets.sample import Sample
from reviewgauge.views.changes.code import ShownText, fits, texts_of
from reviewgauge.views.changes.colours import coloured, shown_order
from reviewgauge.views.changes.rows import MOST_LINES, Gap, Note, Shown, context_rows, show_change
from reviewgauge.views.pages import templates

LINES = 100_000


def huge_file(path: str = "huge.py") -> ChangedFile:
    body = "".join(f"+x{n} = {n}\n" for n in range(1, LINES + 1))
    return ChangedFile(path=path, patch=f"@@ -0,0 +1,{LINES} @@\n{body}")


@pytest.mark.drill
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


@pytest.mark.parametrize(("markup", "inside"), [
    (None, '<p class="label">Comment</p><p class="words">Why &lt;b&gt;?</p><pre>a &amp; b</pre>'),
    (Markup("<p>Missed</p>"), "<p>Missed</p>"),
    (Markup(""), ""),
])  # fmt: skip
def test_a_note_shows_its_words_or_its_markup(markup: Markup | None, inside: str) -> None:
    note = Note(3, "Comment", "said", ShownText(body="Why <b>?", quote="a & b"), markup=markup)
    page = templates(shown_order, "reviewgauge.views").get_template("diff.html.j2")
    shown = str(getattr(page.module, "note")(note)).strip()  # noqa: B009
    assert shown == f'<div class="note said" id="note-3" tabindex="-1">{inside}</div>'


def test_long_lines_are_cut() -> None:
    long = "".join(f"+{'x' * 50_000}\n" for _ in range(10))
    shown = show_change([ChangedFile(path="min.js", patch=f"@@ -0,0 +1,10 @@\n{long}")], [], split=False)
    assert sum(len(row.left) for row in shown.files[0].rows) < 20_000


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


OLD = [f"line {n}" for n in range(1, 61)]
AROUND = ChangedFile(
    path="a.py",
    patch="@@ -20,3 +20,4 @@\n line 20\n-line 21\n+line 21 now\n+more\n line 22\n"
    "@@ -60 +61 @@\n-line 60\n\\ No newline at end of file\n+line 60 \r\n\\ No newline at end of file",
)
TEXT = "\n".join([*OLD[:20], "line 21 now", "more", *OLD[21:59], "line 60 \r"])


def about(line: int, side: Side = Side.NEW) -> Note:
    return Note(1, "Comment", "said", ShownText(body="Why?", span=Span(path="a.py", start=line, side=side)))


def numbers(shown: Shown) -> list[tuple[int | None, int | None]]:
    return [(row.old, row.new) for row in shown.files[0].rows if row.kind != "head"]


@pytest.mark.parametrize("split", [False, True])
def test_the_lines_between_hunks_can_be_shown(split: bool) -> None:
    assert fits(AROUND, TEXT)
    shown = show_change([AROUND], [], split=split, texts={"a.py": TEXT})
    gaps = [row.gap for row in shown.files[0].rows if row.kind == "head"]
    assert gaps == [Gap(1, 1, 19), Gap(23, 24, 37)]
    rows = list(context_rows("a.py", TEXT, gaps[1] or Gap(1, 1, 1)))
    assert [(row.old, row.new) for row in rows] == [(at, at + 1) for at in range(23, 60)]
    assert "line 23" in re.sub(r"<[^>]*>", "", rows[0].left)
    assert list(context_rows("a.py", TEXT, Gap(60, 61, 10**9)))[-1].new == 61  # no further than the file


def test_a_comment_between_hunks_is_shown_at_its_line_on_either_side() -> None:
    for note in (about(40), about(39, Side.OLD)):
        shown = show_change([AROUND], [note], split=False, texts={"a.py": TEXT})
        (row,) = [row for row in shown.files[0].rows if row.notes]
        assert (row.old, row.new, note.placed, shown.files[0].notes) == (39, 40, True, [])
        gaps = [row.gap for row in shown.files[0].rows if row.kind == "head"]
        assert gaps == [Gap(1, 1, 19), Gap(23, 24, 13), Gap(43, 44, 17)]
        assert {(at, at + 1) for at in range(36, 43)} <= set(numbers(shown))
    assert show_change([AROUND], [about(40)], split=False).files[0].notes  # without the repository


def test_a_text_that_is_not_the_file_of_the_diff_is_not_used() -> None:
    for other in ("", TEXT.replace("more", "less"), TEXT[: TEXT.index("line 50")], "x\n" + TEXT):
        assert not fits(AROUND, other)
    assert not fits(ChangedFile(path="a.py", patch="@@ -1,9 +1,9 @@\n a"), "a\n" * 9)  # a hunk that is cut short


def test_ends_of_lines_and_of_the_file_are_visible() -> None:
    shown = show_change([AROUND], [], split=True).files[0]
    changed = [row for row in shown.rows if row.kind == "±"]
    assert "no newline at the end" in changed[-1].left and "no newline at the end" in changed[-1].right
    assert '<span class="odd cr">CR</span>' in changed[-1].right
    assert not shown.same_ends
    windows = ChangedFile(path="a.txt", patch="@@ -1 +1,2 @@\n a\r\n+b\r\n")
    found = show_change([windows], [], split=False).files[0]
    assert found.same_ends
    moved = ChangedFile(path="b.txt", old_path="a.txt", status=FileStatus.RENAMED, patch="")
    assert show_change([moved], [], split=False).files[0].remarks == ["Renamed.", "No line changed."]


def test_the_code_around_hunks_comes_from_the_repository() -> None:
    case = next(Sample().cases())
    texts = texts_of({case.id: case.change})[case.id]
    assert set(texts) == {file.path for file in case.change.files if file.patch}
    bare = case.change.model_copy(update={"git": None})
    assert texts_of({case.id: bare}) == {}
    assert texts_of({case.id: bare}, case.change.git) == {case.id: texts}
    with pytest.raises(UserError, match="holds none of the changes"):
        texts_of({case.id: bare.model_copy(update={"head": "0" * 40})}, case.change.git)
