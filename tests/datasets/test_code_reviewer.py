from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import strategies as st

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Side, Span, Task
from reviewgauge.core.specs import load, signature
from reviewgauge.datasets.code_reviewer import CodeReviewer

PATCH = "@@ -3,2 +3,3 @@ def f():\n a = 1\n-b = 2\n+b = 3\n+c = 4"
MSG = {"oldf": "import os\n", "patch": PATCH, "msg": "Why 3?", "id": 17, "y": 1, "lang": "py", "proj": "me-shop"}
CLS = {"oldf": "", "patch": PATCH, "id": 17, "y": 0}
REF = {"old": " a = 1\n-b = 2", "new": " a = 1\n+b = 5", "comment": "Use 5.", "old_hunk": PATCH, "lang": ".cs"}


def write(file: Path, *rows: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return file


def test_comment_generation(tmp_path: Path) -> None:
    write(tmp_path / "Comment_Generation" / "msg-test.jsonl", MSG, {**MSG, "lang": "go"})
    write(tmp_path / "Comment_Generation" / "msg-train.jsonl", MSG)
    data = CodeReviewer(path=str(tmp_path))
    first, second = data.cases()
    assert (first.id, second.id) == ("msg-test-0", "msg-test-1")
    assert first.change.task is Task.COMMENT and first.change.repo == "me-shop"
    assert first.change.files[0].patch == PATCH and first.change.focus == Span(path="file.py", start=3, end=5)
    assert [reference.body for reference in first.references] == ["Why 3?"] and first.verdict is None
    assert (first.facts, second.facts) == ({"language": "python"}, {"language": "go"})
    assert data.counts() == {"changes": 2, "references": 2, "languages": 2}
    every = CodeReviewer(path=str(tmp_path), split="all")
    assert [case.id for case in every.cases()] == ["msg-test-0", "msg-test-1", "msg-train-0"]


def test_quality_estimation(tmp_path: Path) -> None:
    file = write(
        tmp_path / "cls-test.jsonl", CLS, {**CLS, "y": 1, "msg": "No."}, {**CLS, "msg": "No."}, {**CLS, "y": 1}
    )
    data = CodeReviewer(path=str(file), task="assess")
    cases = list(data.cases())
    assert [case.verdict for case in cases] == [True, False, False, False]
    assert [case.clean for case in cases] == [True, False, False, False]
    assert [len(case.references) for case in cases] == [0, 1, 1, 0]
    assert all(case.change.task is Task.ASSESS and case.change.repo == "code_reviewer" for case in cases)
    (note,) = data.notes()
    assert note.item == "cls-test.jsonl, line 3" and "although y is 0" in note.reason


def test_refinement(tmp_path: Path) -> None:
    write(tmp_path / "ref-valid.jsonl", REF, {key: REF[key] for key in ("old", "new", "comment")})
    with_hunk, without = CodeReviewer(path=str(tmp_path), task="refine", split="valid").cases()
    (comment,) = with_hunk.references
    assert (comment.body, comment.quote) == ("Use 5.", "a = 1\nb = 2")
    assert comment.resolution is not None and comment.resolution.snippet == "a = 1\nb = 5"
    assert with_hunk.facts == {"language": "c#"} and with_hunk.change.files[0].path == "file.cs"
    assert with_hunk.change.has_diff and not without.change.has_diff


def test_a_hunk_that_only_deletes_is_on_the_old_side(tmp_path: Path) -> None:
    file = write(tmp_path / "msg-test.jsonl", {**MSG, "patch": "@@ -7,2 +6,0 @@\n-a\n-b"})
    (case,) = CodeReviewer(path=str(file)).cases()
    assert case.change.focus == Span(path="file.py", start=7, end=8, side=Side.OLD)


@pytest.mark.parametrize(("task", "row", "message"), [
    ("comment", {"msg": "x"}, "line 2, field patch: is missing"),
    ("comment", {"patch": PATCH}, "line 2, field msg: is missing"),
    ("comment", {"patch": PATCH, "msg": 3}, "line 2, field msg: should be text, not a number"),
    ("assess", {"patch": PATCH}, "line 2, field y: is missing"),
    ("assess", {"patch": PATCH, "y": 2}, "line 2, field y: is neither 0 nor 1"),
    ("assess", {"patch": PATCH, "y": 0.5}, "line 2, field y: should be a whole number, not 0.5"),
    ("refine", {"old": "", "new": ""}, "line 2, field comment: is missing"),
    ("refine", {"comment": "", "new": ""}, "line 2, field old: is missing"),
    ("comment", [1], "line 2: should be an object, not a list"),
    ("comment", "{oops", "line 2: is not valid JSON"),
    ("comment", {**MSG, "proj": "../up"}, "line 2, field repo: climbs out"),
    ("comment", {**MSG, "msg": "half \ud800"}, "lone surrogate"),
])  # fmt: skip
def test_a_bad_line_is_named(tmp_path: Path, task: str, row: object, message: str) -> None:
    good = {"comment": MSG, "assess": CLS, "refine": REF}[task]
    file = write(tmp_path / "data.jsonl", good, row)
    cases = load(Dataset, f"code_reviewer(path={str(file)!r}, task={task!r})").cases()
    with pytest.raises(BadInput) as caught:
        list(cases)
    assert str(caught.value).startswith("data.jsonl, ") and message in str(caught.value)


def test_what_cannot_be_a_case_is_counted(tmp_path: Path) -> None:
    rows = [{**MSG, "msg": " "}, MSG, {**MSG, "patch": "no hunk"}, {**MSG, "patch": "no hunk either"}]
    data = CodeReviewer(path=str(write(tmp_path / "msg-test.jsonl", *rows)))
    assert [case.id for case in data.cases()] == ["msg-test-1"]
    assert [(note.item, note.reason.rpartition(": ")[2]) for note in data.notes()] == [
        ("msg-test.jsonl, line 1", "left out"),
        ("2 lines, first msg-test.jsonl, line 3", "left out"),
    ]
    assert len(data.notes()) == 2 and list(data.cases()) and len(data.notes()) == 2  # a second reading does not add up


def test_lines_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    file = write(tmp_path / "msg-test.jsonl", MSG, MSG, "{broken")
    assert len(list(islice(CodeReviewer(path=str(file)).cases(), 2))) == 2


def test_which_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"holds no msg-test\*\.jsonl"):
        list(CodeReviewer(path=str(tmp_path)).cases())
    write(tmp_path / "cls-test.jsonl", CLS)
    with pytest.raises(UserError, match=r"belongs to another task than 'comment' .*task=\"assess\""):
        list(CodeReviewer(path=str(tmp_path / "cls-test.jsonl")).cases())
    write(tmp_path / "a" / "msg-test.jsonl", MSG)
    write(tmp_path / "b" / "msg-test.jsonl", MSG)
    with pytest.raises(UserError, match=r"holds msg-test\.jsonl twice"):
        list(CodeReviewer(path=str(tmp_path)).cases())
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(tmp_path / "empty"))
    with pytest.raises(UserError, match=r"zenodo\.org/record/6900648"):
        list(CodeReviewer().cases())


def test_the_card_counts_the_test_comments_only() -> None:
    assert CodeReviewer().card.expected["changes"] == 10_169
    assert not CodeReviewer(task="assess").card.expected
    data = CodeReviewer(task="refine", split="all")
    assert load(Dataset, signature(data)) == data


TEXT = st.text(max_size=30)
ROW = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("patch", "msg", "old", "new", "comment", "old_hunk"), TEXT | st.just(PATCH) | st.none()),
        **dict.fromkeys(("y", "lang", "proj", "repo"), TEXT | st.integers(-1, 2) | st.none()),
    },
)
