from __future__ import annotations

from reviewgauge.core.records import ChangedFile, Side, Span
from reviewgauge.views.report.diff_views import FileView, Mark, show_files

PATCH = "@@ -1,3 +1,4 @@ def f():\n one\n-two\n+2\n+2b\n three\n@@ -50,2 +51,2 @@\n fifty\n-x\n+y\n"
LONG = "@@ -1,40 +1,41 @@\n" + "".join(f" line {n}\n" for n in range(1, 41)) + "+last\n"


def mark(start: int | None, end: int | None = None, side: Side = Side.NEW, path: str = "a.py") -> Mark:
    return Mark(Span(path=path, start=start, end=end or start, side=side), "false", "x", "system", "")


def show(*marks: Mark, patch: str = PATCH, old_path: str | None = None) -> tuple[list[FileView], int]:
    return show_files([ChangedFile(path="a.py", old_path=old_path, patch=patch)], marks)


def test_a_mark_stands_after_the_last_line_it_is_about() -> None:
    (file,), hidden = show(mark(2, 3))
    assert [line.text for line in file.lines if line.marks] == ["2b"]
    assert hidden == 1


def test_the_old_side_counts_old_lines() -> None:
    (file,), _ = show(mark(2, side=Side.OLD))
    assert [line.text for line in file.lines if line.marks] == ["two"]


def test_an_old_side_mark_finds_a_renamed_file() -> None:
    (file,), _ = show(mark(2, side=Side.OLD, path="was.py"), old_path="was.py")
    assert [line.text for line in file.lines if line.marks] == ["two"]


def test_far_lines_are_left_out_and_counted() -> None:
    (file,), _ = show(mark(41), patch=LONG)
    assert file.lines[1].kind == "gap"
    assert file.lines[1].text == "36 lines"
    assert sum(line.kind != "gap" for line in file.lines) == 1 + 5


def test_a_mark_off_the_diff_shows_nothing() -> None:
    assert show(mark(500)) == ([], 2)


def test_a_mark_on_a_whole_file_needs_no_line() -> None:
    (file,), hidden = show(mark(None))
    assert (len(file.marks), file.lines, hidden) == (1, [], 2)
