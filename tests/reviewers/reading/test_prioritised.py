"""A change within a budget: the important files first, and everything that is left out by name."""

from __future__ import annotations

from reviewgauge.core.records import Change, ChangedFile, FileStatus
from reviewgauge.reviewers.pr_review import prioritised


def added(lines: int, at: int = 1) -> str:
    body = "\n".join(f"+line {n}" for n in range(lines))
    return f"@@ -{at},0 +{at},{lines} @@\n{body}"


def deleted(lines: int, at: int = 1) -> str:
    body = "\n".join(f"-line {n}" for n in range(lines))
    return f"@@ -{at},{lines} +{at},0 @@\n{body}"


FILES = (
    ChangedFile(path="logo.png", binary=True),
    ChangedFile(path="gone.py", patch=deleted(50), status=FileStatus.DELETED),
    ChangedFile(path="package-lock.json", patch=added(90)),
    ChangedFile(path="README.md", patch=added(8)),
    ChangedFile(path="data.csv", patch=added(7)),
    ChangedFile(path="tests/test_a.py", patch=added(60)),
    ChangedFile(path="small.py", patch=added(2)),
    ChangedFile(path="big.py", patch=added(9)),
)
CHANGE = Change(id="c", repo="o/r", files=FILES)
ORDER = ["big.py", "small.py", "tests/test_a.py", "data.csv", "README.md", "package-lock.json", "gone.py", "logo.png"]


def test_source_comes_first_and_what_only_deletes_last() -> None:
    (piece,), unread = prioritised(CHANGE, 100_000)
    assert [file.path for file in piece.change.files] == ORDER
    assert unread == ["logo.png: a binary file has no hunks"]


def test_what_does_not_fit_is_left_out_by_name_and_smaller_files_take_its_place() -> None:
    (piece,), unread = prioritised(CHANGE, 200)
    assert [file.path for file in piece.change.files] == ["big.py", "small.py", "data.csv", "README.md", "logo.png"]
    assert len(piece.text) <= 800
    left_out = [reason for reason in unread if "budget" in reason]
    assert left_out == [
        f"{path}: left out for the budget of 200 tokens" for path in ("tests/test_a.py", "package-lock.json", "gone.py")
    ]


def test_a_change_of_which_no_hunk_fits_is_cut_off() -> None:
    (piece,), _ = prioritised(Change(repo="o/r", files=(ChangedFile(path="a.py", patch=added(500)),)), 50)
    assert piece.cut > 0
    assert "+line 1\n" in piece.text
    assert len(piece.text) <= 200


def test_a_change_without_a_hunk_has_no_piece() -> None:
    assert prioritised(Change(repo="o/r", files=FILES[:1]), 10) == ([], ["logo.png: a binary file has no hunks"])
