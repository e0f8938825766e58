from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.records import Change, ChangedFile, Side, Span, Task
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.reviewers.answers import Answers

PATCH = "@@ -10,3 +10,4 @@\n a = 1\n-b = 2\n+b = 3\n+c = 4\n return a"


def change(task: Task, name: str = "one") -> Change:
    focus = Span(path="a.py", start=10, end=13)
    return Change(id=name, repo="x", files=(ChangedFile(path="a.py", patch=PATCH),), task=task, focus=focus)


def answers(folder: Path, answer: object, **rest: object) -> Answers:
    (folder / "gpt.jsonl").write_text(json.dumps({"id": "one", "answer": answer}) + "\n")
    return Answers(path=str(folder / "gpt.jsonl"), **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(("answer", "verdict"), [
    ({"is_merged": True, "reason": "fine", "context_analysis": ""}, True),
    ('{"is_merged": "no", "reason": "b is wrong"}', False),
    ('Here you are:\n```json\n{"is_merged": "Yes"}\n```', True),
])  # fmt: skip
def test_assess(tmp_path: Path, answer: object, verdict: bool) -> None:
    review = answers(tmp_path, answer).review(change(Task.ASSESS))
    assert (review.verdict, review.system, review.comments) == (verdict, "gpt", ())


def test_locate(tmp_path: Path) -> None:
    said = {"lines": ["[][12]", "[11][]", "[10][10]", "[][99]"], "reason": "x"}
    review = answers(tmp_path, said).review(change(Task.LOCATE))
    assert review.ranked_lines == (
        Span(path="a.py", start=12),
        Span(path="a.py", start=11, side=Side.OLD),
        Span(path="a.py", start=10),
        Span(path="a.py", start=99),  # keeps its rank, and is right nowhere
    )
    assert review.trace == "not in the hunk: [][99]"
    repaired = answers(tmp_path, said, repair="published").review(change(Task.LOCATE))
    assert repaired.ranked_lines[3] == Span(path="a.py", start=13)


@pytest.mark.parametrize(("marker", "line"), [
    ("[11][99]", (11, Side.OLD)), ("[99][12]", (12, Side.NEW)), ("[99][98]", (13, Side.NEW)), ("[][1]", (10, Side.NEW)),
])  # fmt: skip
def test_a_wrong_marker_is_put_right_in_the_published_order(
    tmp_path: Path, marker: str, line: tuple[int, Side]
) -> None:
    """Same old number, same new number, nearest old, nearest new: row [12][13] is nearest to old 99."""
    review = answers(tmp_path, {"lines": [marker]}, repair="published").review(change(Task.LOCATE))
    assert review.ranked_lines == (Span(path="a.py", start=line[0], side=line[1]),)


def test_comment_stands_at_the_line_that_was_asked_about(tmp_path: Path) -> None:
    review = answers(tmp_path, {"comment": " Why 3? "}).review(change(Task.COMMENT))
    assert [(c.body, c.span) for c in review.comments] == [("Why 3?", Span(path="a.py", start=10, end=13))]


@pytest.mark.parametrize(("task", "answer"), [
    (Task.ASSESS, {"is_merged": None}), (Task.ASSESS, "perhaps"),
    (Task.ASSESS, {"is_merged": "it depends"}),
    (Task.LOCATE, {"lines": "12"}),
    (Task.LOCATE, {"lines": [12, "12"]}),
    (Task.LOCATE, {"lines": ["line 12"]}),
    (Task.COMMENT, {"comment": ""}), (Task.COMMENT, ["a"]),
])  # fmt: skip
def test_an_unreadable_answer_is_a_failure_never_a_verdict(tmp_path: Path, task: Task, answer: object) -> None:
    with pytest.raises(Failed) as failed:
        answers(tmp_path, answer).review(change(task))
    assert failed.value.kind is FailureKind.UNREADABLE


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    replay = answers(tmp_path, {"is_merged": True})
    with pytest.raises(BadInput, match=r"gpt.jsonl: has no answer for other"):
        replay.review(change(Task.ASSESS, "other"))
    assert [drop.item for drop in replay.prepare([change(Task.ASSESS, "other")])] == ["one"]
    twice = tmp_path / "twice.jsonl"
    twice.write_text('{"id": "a", "answer": 1}\n{"id": "a", "answer": 2}\n')
    with pytest.raises(BadInput, match=r"twice.jsonl, line 2, field id: answers a twice"):
        Answers(path=str(twice)).prepare([])
    with pytest.raises(UserError, match="cannot read"):
        Answers(path=str(tmp_path / "no.jsonl")).prepare([])
    with pytest.raises(UserError, match="needs a path"):
        Answers().prepare([])
