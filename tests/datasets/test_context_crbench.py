from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from hunk_entries import entry
from reviewgauge.core.errors import BadInput
from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Review, Side, Span, Task
from reviewgauge.datasets.context_crbench import ContextCrbench
from reviewgauge.metrics.pass_at_k import PassAtK


def read(folder: Path, task: Literal["assess", "locate", "comment"], *rows: object) -> ContextCrbench:
    (folder / "entries.json").write_text(json.dumps(rows))
    return ContextCrbench(path=str(folder), task=task)


def test_assess(tmp_path: Path) -> None:
    no, yes = read(tmp_path, "assess", entry(), entry(id=18, merged=True)).cases()
    assert (no.id, no.verdict, yes.verdict) == ("17", False, True)
    assert no.change.task is Task.ASSESS and no.change.title == "Set b"
    assert no.change.focus == Span(path="a.py", start=10, end=13)
    assert no.change.issues[0].title == "b is wrong"
    assert [(s.side, s.start, s.end) for s in no.change.snippets] == [(Side.OLD, 9, 12), (Side.NEW, 9, 13)]
    assert len(no.references) == 1 and yes.clean
    assert no.facts["language"] == "Python" and no.facts["year"] == 2022 and no.facts["hunk"] == "whole"


@pytest.mark.parametrize("task", ["assess", "locate", "comment"])
def test_what_would_give_the_answer_away_reaches_no_reviewer(
    tmp_path: Path, task: Literal["assess", "locate", "comment"]
) -> None:
    (case,) = read(tmp_path, task, entry()).cases()
    shown = case.change.model_dump_json()
    assert "SECRET" not in shown and "example.org" not in case.model_dump_json()
    assert "return a" in shown  # the whole hunk: GitHub's ends with the commented line


def test_locate_and_comment(tmp_path: Path) -> None:
    data = read(tmp_path, "locate", entry(), entry(id=18, merged=True), entry(id=19, diff_hunk_content=None))
    (case,) = data.cases()
    assert case.references[0].span == Span(path="a.py", start=12) and case.change.focus != case.references[0].span
    assert case.verdict is None
    assert [note.reason.partition(":")[0] for note in data.notes()] == [
        "it was merged",
        "its hunk ends with the line that was commented on, which would give the answer away",
    ]
    (case,) = read(tmp_path, "comment", entry()).cases()
    assert case.change.focus == Span(path="a.py", start=12)
    assert case.references[0].body == "SECRET comment" and case.references[0].extra["replies"] == ["SECRET reply"]


@pytest.mark.parametrize(("changes", "span"), [
    ({"comment_lines": ["[11][]"]}, Span(path="a.py", start=11, side=Side.OLD)),
    ({"comment_lines": ["[][11]", "[][12]"]}, Span(path="a.py", start=11, end=12)),
    ({"comment_lines": None}, Span(path="a.py", start=12)),
    ({"comment_lines": [], "original_start_line": 11}, Span(path="a.py", start=11, end=12)),
    ({"comment_lines": ["no marker"], "side": "LEFT", "original_line": 11}, Span(path="a.py", start=11, side=Side.OLD)),
])  # fmt: skip
def test_places(tmp_path: Path, changes: dict[str, Any], span: Span) -> None:
    (case,) = read(tmp_path, "locate", entry(**changes)).cases()
    assert case.references[0].span == span


def test_what_cannot_be_asked_is_left_out_with_its_reason(tmp_path: Path) -> None:
    rows = [entry(diff_hunk_content="", diff_hunk=""), entry(comment_lines=[], original_line=99, line=99)]
    data = read(tmp_path, "comment", *rows)
    assert list(data.cases()) == []
    assert {note.reason for note in data.notes()} == {
        "its hunk cannot be read",
        "the line that was commented on is not in its hunk",
    }


def test_every_commented_line_and_no_other_is_right_to_name(tmp_path: Path) -> None:
    """A comment may stand on a deleted and an added line, and on lines that do not follow each other."""
    lines = ["[11][]", "[][11]", "[12][13]"]
    (case,) = read(tmp_path, "locate", entry(comment_lines=lines)).cases()
    places = [(r.id, r.same_as, r.span.side, r.span.start, r.span.end) for r in case.references if r.span]
    assert places == [
        ("comment", None, Side.OLD, 11, 11),
        ("comment-2", "comment", Side.NEW, 11, 11),
        ("comment-3", "comment", Side.NEW, 13, 13),
    ]

    def named(*spans: Span) -> float:
        review = Review(case=case.id, system="s", ranked_lines=spans)
        measured = PassAtK().parts(case, review)
        assert isinstance(measured, Measured)
        return measured.parts["pass@1"]

    right = [(Side.OLD, 11), (Side.NEW, 11), (Side.NEW, 13), (Side.OLD, 12)]
    assert [named(Span(path="a.py", start=line, side=side)) for side, line in right] == [1.0] * 4
    assert named(Span(path="a.py", start=12)) == 0.0, "the line between them was not commented on"
    (whole,) = read(tmp_path, "locate", entry(comment_lines=["[][11]", "[][12]"])).cases()
    assert [(r.span.start, r.span.end) for r in whole.references if r.span] == [(11, 12)]


def test_a_comment_without_words_is_left_out_where_it_is_the_question(tmp_path: Path) -> None:
    for task in ("locate", "comment"):
        data = read(tmp_path, task, entry(review_comment=[" "]), entry(id=2, review_comment=[]))
        assert not list(data.cases()) and {note.reason for note in data.notes()} == {"its comment is empty"}
    assert len(list(read(tmp_path, "assess", entry(review_comment=[])).cases())) == 1


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "C:/x", "", "a\nb"])
def test_a_path_that_is_none_is_named(tmp_path: Path, path: str) -> None:
    with pytest.raises(BadInput, match="entries"):
        list(read(tmp_path, "assess", entry(file_path_after=path, path=path)).cases())
