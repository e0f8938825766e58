from __future__ import annotations

from pathlib import Path

import pytest

from git_project import make_change
from reviewgauge.core.errors import NeedsCode
from reviewgauge.core.records import Change, ChangedFile, Side
from reviewgauge.repo.diff.anchors import anchor
from reviewgauge.repo.diff.diffs import hunk_count
from reviewgauge.reviewers.parrot import TEXT, Parrot

BODY = [f"line {n}\n" for n in range(1, 41)]


def edit(*changes: tuple[int, str]) -> str:
    lines = list(BODY)
    for at, text in changes:
        lines[at - 1] = text
    return "".join(lines)


def test_one_comment_on_each_hunk_on_the_lines_it_adds(tmp_path: Path) -> None:
    after = {"a.txt": edit((3, "x\ny\n"), (30, "")), "new.txt": "one\ntwo\n", "gone.txt": None, "bin": b"\x00\x01"}
    change = make_change(tmp_path, {"a.txt": "".join(BODY), "gone.txt": "bye\n"}, after, "c1")
    review = Parrot().review(change)
    places = {(c.span.path, c.span.side, c.span.start, c.span.end) for c in review.comments if c.span}
    assert places == {
        ("a.txt", Side.NEW, 3, 4),
        ("a.txt", Side.OLD, 30, 30),
        ("new.txt", Side.NEW, 1, 2),
        ("gone.txt", Side.OLD, 1, 1),
    }
    assert len(review.comments) == hunk_count(change) == 4
    assert {c.body for c in review.comments} == {TEXT}
    assert len({c.id for c in review.comments}) == 4
    for comment in review.comments:
        again = anchor(comment, change)
        assert (again.span, again.anchoring) == (comment.span, comment.anchoring)
    assert [(drop.item, drop.reason) for drop in Parrot().prepare([change])] == [
        ("1 binary file", "a binary file has no hunks")
    ]


def test_the_old_name_of_a_renamed_file_stands_on_the_old_side(tmp_path: Path) -> None:
    change = make_change(tmp_path, {"a.txt": "".join(BODY)}, {"a.txt": None, "b.txt": edit((30, ""))})
    (comment,) = Parrot().review(change).comments
    assert comment.span is not None
    assert (comment.span.path, comment.span.side) == ("a.txt", Side.OLD)


def test_no_diff_is_an_error_and_not_an_empty_review() -> None:
    with pytest.raises(NeedsCode, match="parrot needs the code under review"):
        Parrot().review(Change(repo="r", files=(ChangedFile(path="a.txt"),)))
