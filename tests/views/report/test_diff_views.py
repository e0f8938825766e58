from __future__ import annotations

from reviewgauge.core.records import Change, ChangedFile, FileStatus, Side, Span
from reviewgauge.views.report.diff_views import FileView, Remark, show_files

PATCH = "@@ -1,3 +1,4 @@ def f():\n one\n-two\n+2\n+2b\n three\n@@ -50,2 +51,2 @@\n fifty\n-x\n+y\n"
LONG = "@@ -1,40 +1,41 @@\n" + "".join(f" line {n}\n" for n in range(1, 41)) + "+last\n"


def remark(start: int | None, end: int | None = None, side: Side = Side.NEW, path: str = "a.py") -> Remark:
    return Remark("x", "false", (Span(path=path, start=start, end=end or start, side=side),))


def show(*remarks: Remark, patch: str | None = PATCH) -> tuple[list[FileView], int, list[Remark]]:
    file = ChangedFile(path="a.py", old_path="was.py", patch=patch, status=FileStatus.RENAMED)
    return show_files(Change(repo="r", files=(file,)), remarks)


def test_a_remark_stands_after_the_last_line_it_is_about() -> None:
    (file,), hidden, _ = show(remark(2, 3))
    assert [line.text for line in file.lines if line.remarks] == ["2b"]
    assert hidden == 1


def test_the_old_side_counts_old_lines() -> None:
    (file,), *_ = show(remark(2, side=Side.OLD))
    assert [line.text for line in file.lines if line.remarks] == ["two"]


def test_an_old_side_remark_finds_a_renamed_file() -> None:
    (file,), *_ = show(remark(2, side=Side.OLD, path="was.py"))
    assert [line.text for line in file.lines if line.remarks] == ["two"]


def test_far_lines_are_left_out_and_counted() -> None:
    (file,), *_ = show(remark(41), patch=LONG)
    assert file.lines[1].kind == "gap"
    assert file.lines[1].text == "36 lines"
    assert sum(line.kind != "gap" for line in file.lines) == 1 + 5


def test_a_remark_over_two_hunks_stands_once_at_its_last_line() -> None:
    (file,), hidden, _ = show(remark(3, 52))
    assert ([line.text for line in file.lines if line.remarks], hidden) == (["y"], 1)


def test_a_remark_off_the_diff_shows_nothing() -> None:
    assert show(remark(500)) == ([], 2, [remark(500)])
    assert show(remark(1), patch=None) == ([], 0, [remark(1)])


def test_a_remark_on_a_whole_file_needs_no_line() -> None:
    (file,), hidden, _ = show(remark(None))
    assert (len(file.remarks), file.lines, hidden) == (1, [], 2)
