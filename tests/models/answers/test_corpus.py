"""1,352 answers of models in corpus.jsonl, each with what it is: no wrong verdict, and hardly a good answer lost.

Wordings are those of real models (public logs, model cards, lists of refusals) in sixteen languages, and hostile ones.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reviewgauge.core.records import Change, ChangedFile, Side, Span, Task
from reviewgauge.judges.classes.classes import QUESTIONS, read_class
from reviewgauge.judges.golden import Golden
from reviewgauge.metrics.grade import read_grade
from reviewgauge.metrics.matching.asking_points import read_hits, read_points
from reviewgauge.models.answers.readers import Unreadable, whole_number, yes_no
from reviewgauge.reviewers.reading.model_answers import read_notes, read_task
from reviewgauge.stages.asking.change_points import read_change_points
from reviewgauge.stages.augment import read_summary
from reviewgauge.stages.drop_low_value import read as read_value

Row = dict[str, Any]
ROWS: list[Row] = [
    json.loads(line) for line in Path(__file__).with_name("corpus.jsonl").read_text("utf-8").splitlines()
]


def _golden(text: str) -> object:
    verdict = Golden(model="fake:rules").read(text)
    return {"match": verdict.same, "confidence": verdict.confidence}


def _choice(asked: Row, text: str) -> str:
    question = next(one for one in QUESTIONS.values() if one.prompt == asked["prompt"])
    return next(label for label, value in question.options.items() if value == read_class(question, text))


def _lines(asked: Row, text: str) -> list[str]:
    file = ChangedFile(path="a.py", patch=asked["patch"])
    change = Change(repo="a/b", task=Task.LOCATE, files=(file,), focus=Span(path="a.py"))
    found = read_task(text, change)
    assert not found.remark
    rows = {}
    for marker in json.loads(text[text.index("{") : text.rindex("}") + 1])["lines"]:
        old, new = re.findall(r"\[(\d*)\]", marker)
        rows[Side.NEW if new else Side.OLD, int(new or old)] = marker
    return [rows[s.side, s.start] for s in found.ranked_lines if s.start]


def _notes(text: str) -> list[Row]:
    found = read_notes(text)
    sides = re.findall(r"<side>(\w+)</side>", text)
    hunks = [one.claimed.hunk if one.claimed else "" for one in found]
    return [{"diff": h, "side": s, "note": one.body} for h, s, one in zip(hunks, sides, found, strict=True)]


def reader_of(row: Row) -> Callable[[str], Any]:
    asked = row["asked"]
    return {
        "yes_no": yes_no,
        "whole_number": read_grade if asked.get("prompt") == "grade" else partial(whole_number, low=1, high=5),
        "choice": partial(_choice, asked),
        "golden": _golden,
        "low_value": lambda text: {"relevance": read_value(text).relevance},
        "points": lambda text: [one.model_dump() for one in read_points(text, asked["comments"])],
        "hits": lambda text: [sorted(one) for one in read_hits(text, asked["known"], asked["predictions"])],
        "change_points": lambda text: [
            one.model_dump() for one in read_change_points(text, asked["mentions"], asked["commits"])
        ],
        "summary": read_summary,
        "notes": _notes,
        "verdict": lambda text: read_task(text, Change(repo="a/b", task=Task.ASSESS)).verdict,
        "lines": partial(_lines, asked),
        "comment": lambda text: read_task(text, Change(repo="a/b", task=Task.COMMENT)).comments[0].body,
    }[row["reader"]]


def read(row: Row) -> object:
    """What the reader makes of an answer: its value, or "unreadable"."""
    try:
        return reader_of(row)(row["answer"])
    except Unreadable as error:
        assert 0 < len(str(error)) < 300
        return "unreadable"


def test_no_answer_is_read_as_something_else_and_hardly_a_good_one_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    good, lost, wrong = Counter[str](), Counter[str](), []
    for row in ROWS:
        found = read(row)
        good[row["reader"]] += row["expect"] != "unreadable"
        if found == "unreadable":
            lost[row["reader"]] += row["expect"] != "unreadable"
        elif found != row["expect"]:
            wrong.append((row["id"], found))
    assert wrong == []
    shares = [f"{reader} {count - lost[reader]}/{count}" for reader, count in sorted(good.items())]
    with capsys.disabled():
        print(f"\ngood answers read: {', '.join(shares)}")
    assert sum(lost.values()) < 0.01 * sum(good.values()), lost


def test_every_row_says_what_it_is() -> None:
    assert len(ROWS) >= 1300
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert len({row["lang"] for row in ROWS}) >= 10
    assert all((row["expect"] == "unreadable") == (row["kind"] != "good") for row in ROWS)
