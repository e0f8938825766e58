from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviewgauge.core.errors import BadInput
from reviewgauge.core.records import Side, Span
from reviewgauge.datasets.swe_care import SweCare

PATCH = """diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,2 +1,2 @@
 import os
-print(1)
+print(2)
"""
COMMENT = {
    "text": "Why 2?", "path": "a.py",
    "diff_hunk": "@@ -1,2 +1,2 @@\n import os\n-print(1)\n+print(2)",
    "line": None, "start_line": None, "original_line": 2, "original_start_line": 1,
}  # fmt: skip


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "instance_id": "acme__shop-7@1234567",
        "repo": "acme/shop",
        "language": "Python",
        "pull_number": 7,
        "title": "Two",
        "body": "Closes #3",
        "created_at": "2024-05-06T07:08:09Z",
        "problem_statement": "SECRET statement",
        "hints_text": "SECRET hint",
        "resolved_issues": [{"number": 3, "title": "One is wrong", "body": "It should be two."}],
        "base_commit": "b" * 40,
        "commit_to_review": {"head_commit": "a" * 40, "head_commit_message": "two", "patch_to_review": PATCH},
        "reference_review_comments": [COMMENT],
        "merged_commit": "c" * 40,
        "merged_patch": "SECRET patch",
        "metadata": {"problem_domain": "Bug Fixes", "difficulty": "low", "estimated_review_effort": 2},
    } | changes


def read(folder: Path, *rows: object) -> SweCare:
    (folder / "care.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return SweCare(path=str(folder))


def test_one_pull_request(tmp_path: Path) -> None:
    (case,) = read(tmp_path, entry()).cases()
    assert case.change.files[0].path == "a.py" and case.change.files[0].patch is not None
    assert case.change.issues[0].number == 3 and case.change.url == "https://github.com/acme/shop/pull/7"
    assert case.references[0].span == Span(path="a.py", start=1, end=2)
    assert case.verdict is False
    assert dict(case.facts) | {"created": ""} == {
        "language": "Python", "created": "", "year": 2024, "changed_lines": 2, "changed_files": 1, "size": "XS",
        "domain": "Bug Fixes", "difficulty": "low", "effort": 2,
    }  # fmt: skip


def test_what_would_give_the_answer_away_reaches_no_reviewer(tmp_path: Path) -> None:
    (case,) = read(tmp_path, entry()).cases()
    assert "SECRET" not in case.model_dump_json() and "c" * 40 not in case.model_dump_json()
    assert "Why 2?" not in case.change.model_dump_json()


def test_sides_places_and_silence(tmp_path: Path) -> None:
    old = COMMENT | {"diff_hunk": "@@ -1,2 +1,2 @@\n import os\n-print(1)", "original_start_line": None}
    rows = [old, COMMENT | {"original_line": None}, COMMENT | {"text": " "}]
    data = read(tmp_path, entry(reference_review_comments=rows), entry(instance_id="x", reference_review_comments=[]))
    first, second = data.cases()
    assert [c.span for c in first.references] == [Span(path="a.py", start=2, side=Side.OLD), Span(path="a.py")]
    assert [note.reason for note in data.notes()] == ["it names no line", "it is empty: left out"]
    assert second.verdict is None and not second.clean  # what nobody said is not known to be right


def test_a_wrong_field_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"care.jsonl, line 1, field commit_to_review.patch_to_review: is missing"):
        list(read(tmp_path, entry(commit_to_review={"head_commit": "a"})).cases())


def test_a_patch_that_is_none(tmp_path: Path) -> None:
    data = read(tmp_path, entry(commit_to_review={"head_commit": "a", "patch_to_review": " "}))
    (case,) = data.cases()
    assert not case.change.has_diff and "its patch is empty: no diff" in [note.reason for note in data.notes()]
    with pytest.raises(BadInput, match=r"patch_to_review: is not a diff"):
        list(read(tmp_path, entry(commit_to_review={"head_commit": "a", "patch_to_review": "see the page"})).cases())
