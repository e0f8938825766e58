from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from reviewgauge.core.records import Change, ChangedFile, FileStatus
from reviewgauge.repo.diff.diffs import parse_patch, split_diff
from reviewgauge.reviewers.reading.change_text import hunk_texts, pieces_of

ONE = "@@ -1,2 +1,3 @@ def f():\n a\n+b\n c"
TWO = "@@ -9 +10 @@\n-@@ -1 +1 @@\n+d\n\\ No newline at end of file"
CHANGE = Change(
    repo="o/r",
    files=(
        ChangedFile(path="a.py", patch=f"{ONE}\n{TWO}\n"),
        ChangedFile(path="new.py", status=FileStatus.ADDED, patch="@@ -0,0 +1 @@\n+n\n"),
        ChangedFile(path="logo.png", binary=True),
        ChangedFile(path="b.py", old_path="c.py", status=FileStatus.RENAMED),
        ChangedFile(path="huge.py"),
    ),
)
UNREAD = [
    "logo.png: a binary file has no hunks",
    "b.py: renamed, without a changed line",
    "huge.py: no patch is at hand",
]


def test_each_hunk_is_a_piece_to_the_letter_and_stands_alone_in_its_change() -> None:
    found = pieces_of(CHANGE, "hunk")
    assert [piece.text for piece in found.pieces] == [ONE, TWO, "@@ -0,0 +1 @@\n+n"]
    assert [piece.place for piece in found.pieces] == [
        "a.py @@ -1,2 +1,3 @@",
        "a.py @@ -9 +10 @@",
        "new.py @@ -0,0 +1 @@",
    ]
    assert [piece.change.files[0].patch for piece in found.pieces] == [piece.text for piece in found.pieces]
    assert all(len(piece.change.files) == 1 for piece in found.pieces)
    assert found.unread == UNREAD == found.remarks


def test_the_whole_change_is_one_piece_that_git_can_read_again() -> None:
    found = pieces_of(CHANGE, "change")
    assert len(found.pieces) == 1
    again = {file.path: file for file in split_diff(found.pieces[0].text)}
    assert set(again) == {file.path for file in CHANGE.files}
    assert again["a.py"].patch == f"{ONE}\n{TWO}"
    assert (again["new.py"].status, again["b.py"].old_path) == (FileStatus.ADDED, "c.py")
    assert found.unread == UNREAD
    assert found.pieces[0].change == CHANGE


def test_without_a_text_hunk_there_is_no_piece() -> None:
    bare = CHANGE.model_copy(update={"files": CHANGE.files[2:]})
    for scope in ("hunk", "change"):
        assert pieces_of(bare, scope) == ([], UNREAD)


def test_what_is_cut_off_is_counted_and_the_code_behind_it_stays_findable() -> None:
    found = pieces_of(CHANGE, "hunk", 27)
    assert found.pieces[0].text == "@@ -1,2 +1,3 @@ def f():\n a"
    assert found.pieces[0].cut == len(ONE) - len(found.pieces[0].text)
    assert found.pieces[0].change.files[0].patch == ONE
    assert found.remarks[0] == "a.py @@ -1,2 +1,3 @@: 6 characters were cut off"
    assert pieces_of(CHANGE, "hunk", 3).pieces[0].text == "@@ "  # not one line fits


@given(st.text(alphabet="@ -+1,\n\\ax\r", max_size=80))
@example("@@ -1 +1 @@\n")
def test_any_patch_is_cut_into_its_hunks(noise: str) -> None:
    patch = f"{ONE}\n{noise}\n{TWO}"
    texts = list(hunk_texts(patch))
    assert len(texts) == len(parse_patch(patch))
    assert [parse_patch(text)[0] for text in texts] == list(parse_patch(patch))
