from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.records import Anchoring, Side
from reviewgauge.datasets.swr_bench import SwrBench

PATCH = "@@ -1,2 +1,3 @@\n import os\n+import sys\n print(1)"
LATER = "@@ -2,2 +2,2 @@\n import sys\n-print(1)\n+print(sys.argv)"
POINT = {
    "change_type": "F.2 Logic",
    "change_introducing": {"commit_sha": "a" * 40, "code_snippet": "import sys"},
    "change_discussion": {"original_reviewer_comment": "why sys? mail me: jo@example.org",
        "discussion_summary": "sys is not used", "first_mention_timestamp": "2023-02-03T04:05:06Z"},
    "change_resolve_info": {"commit_sha": "c" * 40, "code_snippet": "import os", "resolution_explanation": "taken out"},
}  # fmt: skip


def entry(**changes: Any) -> dict[str, Any]:
    commit = {"type": "commit", "sha": "a" * 40, "message": "m", "author": "Jo", "author_email": "jo@example.org"}
    return {
        "repo": "acme/shop",
        "instance_id": "acme__shop-7",
        "pr_title": "Print the arguments",
        "pr_statement": "As asked.\n\nSigned-off-by: Jo <jo@example.org>",
        "change_introduced": "SECRET what it brought",
        "base_commit": "b" * 40,
        "created_at": "2023-02-01T00:00:00Z",
        "changes": [POINT],
        "pr_commits": [commit | {"diff_text": "", "diff": [{"file": "a.py", "patch": PATCH}]}],
        "pr_timeline": [{"event": "SECRET"}],
        "all_commits": [{"sha": "d" * 40, "message": "SECRET later commit"}],
    } | changes


def write(folder: Path, *rows: object) -> Path:
    (folder / "swr_datasets_test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_a_pull_request_with_a_change_point(tmp_path: Path) -> None:
    (case,) = SwrBench(path=str(write(tmp_path, entry()))).cases()
    assert (case.id, case.change.repo, case.change.base, case.change.head) == (
        "acme__shop-7", "acme/shop", "b" * 40, "a" * 40,
    )  # fmt: skip
    (point,) = case.references
    assert (point.body, point.category, point.commit) == ("sys is not used", "F.2 Logic", "a" * 40)
    assert point.span is not None and (point.span.path, point.span.start, point.span.side) == ("a.py", 2, Side.NEW)
    assert point.anchoring is Anchoring.QUOTE
    assert point.resolution is not None and point.resolution.explanation == "taken out"
    assert case.verdict is False and not case.clean
    assert case.facts["created"] == "2023-02-01" and case.facts["size"] == "XS" and case.facts["commits"] == 1


def test_what_would_give_the_answer_away_reaches_no_reviewer(tmp_path: Path) -> None:
    (case,) = SwrBench(path=str(write(tmp_path, entry()))).cases()
    shown = case.change.model_dump_json()
    for secret in ("SECRET", "sys is not used", "taken out", "c" * 40, "d" * 40, "example.org", "F.2"):
        assert secret not in shown
    assert "example.org" not in case.model_dump_json()
    assert "Signed-off-by: Jo <(e-mail)>" in case.change.description


def test_clean_pull_requests_and_both_bodies(tmp_path: Path) -> None:
    folder = write(
        tmp_path, entry(changes=[], instance_id="x-1"), entry(changes=[POINT | {"change_resolve_info": None}])
    )
    clean, other = SwrBench(path=str(folder), body="original").cases()
    assert clean.clean
    assert other.references[0].body == "why sys? mail me: (e-mail)"
    assert other.references[0].resolution is None
    assert SwrBench(path=str(folder)).counts() == {
        "changes": 2, "clean": 1, "references": 1, "repositories": 1, "languages": 1,
    }  # fmt: skip


def test_several_commits_and_odd_types_are_said(tmp_path: Path) -> None:
    first = entry()["pr_commits"][0]
    second = {
        "sha": "e" * 40,
        "message": "more",
        "diff_text": f"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n{LATER}",
    }
    data = SwrBench(
        path=str(write(tmp_path, entry(pr_commits=[first, second], changes=[POINT | {"change_type": "Q.9 Taste"}])))
    )
    (case,) = data.cases()
    assert case.change.head == "e" * 40
    assert [file.path for file in case.change.files] == ["a.py"]
    assert case.change.files[0].patch == f"{PATCH}\n{LATER}"
    assert case.references[0].category == "Q.9 Taste"
    assert [note.detail for note in data.notes()] == ["1 files", "Q.9 Taste"]


@pytest.mark.parametrize("key", ["pr_commits", "changes", "instance_id", "base_commit"])
def test_a_missing_field_is_named(tmp_path: Path, key: str) -> None:
    row = entry()
    del row[key]
    with pytest.raises(BadInput, match=f"swr_datasets_test.jsonl, line 2, field {key}: is missing"):
        list(SwrBench(path=str(write(tmp_path, entry(), row))).cases())


def test_no_file_says_where_it_comes_from(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no swr_datasets_.*authors' repository"):
        list(SwrBench(path=str(tmp_path)).cases())


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "", "a\nb"])
def test_a_path_that_is_none_is_named(tmp_path: Path, path: str) -> None:
    commits = [{"sha": "a" * 40, "diff": [{"file": path, "patch": PATCH}]}]
    with pytest.raises(BadInput, match=r"line 1"):
        list(SwrBench(path=str(write(tmp_path, entry(pr_commits=commits)))).cases())


def test_a_commit_that_changes_nothing_has_no_files(tmp_path: Path) -> None:
    """A merge commit, for one."""
    merge: dict[str, Any] = {"sha": "e" * 40, "diff": None, "diff_text": ""}
    commits = [{"sha": "a" * 40, "diff": [{"file": "a.py", "patch": PATCH}]}, merge]
    (case,) = SwrBench(path=str(write(tmp_path, entry(pr_commits=commits)))).cases()
    assert [file.path for file in case.change.files] == ["a.py"] and case.change.head == "e" * 40
    with pytest.raises(BadInput, match="is not a diff"):
        merge["diff_text"] = "not a diff"
        list(SwrBench(path=str(write(tmp_path, entry(pr_commits=commits)))).cases())
