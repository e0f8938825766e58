"""Answers as real models write them: read where nothing has to be guessed, refused with a reason where it has."""

from __future__ import annotations

import pytest

from reviewgauge.core.records import Side
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.reviewers.reading.model_answers import read_notes

ONE = "<diff>\n+ x = eval(y)\n</diff>\n<side>right</side>\n<note>\nDo not eval.\n</note>\n<notesplit />\n"
TWO = "<diff>- old()</diff>\n<side>left</side>\n<note>Why is this gone?</note>\n"

READ: list[tuple[str, list[tuple[str, Side | None, str]]]] = [
    ("<end />", []), ("```xml\n<end />\n```", []),
    ("<think>The loop is fine. <note>no</note></think>\n<end />", []),
    (ONE + "<end />", [("+ x = eval(y)", Side.NEW, "Do not eval.")]),
    (ONE + "<end>", [("+ x = eval(y)", Side.NEW, "Do not eval.")]),
    (ONE.replace("<notesplit />\n", "") + "<end />", [("+ x = eval(y)", Side.NEW, "Do not eval.")]),
    (ONE.replace("<notesplit />", "</notesplit>") + "<end />", [("+ x = eval(y)", Side.NEW, "Do not eval.")]),
    ("Here is my review:\n\n" + ONE + "<end />", [("+ x = eval(y)", Side.NEW, "Do not eval.")]),
    ("```\n" + ONE + "<end />\n```", [("+ x = eval(y)", Side.NEW, "Do not eval.")]),
    (ONE + TWO + "<notesplit />\n<end />", [("+ x = eval(y)", Side.NEW, "Do not eval."), ("- old()", Side.OLD,
        "Why is this gone?")]),
    ("<diff>a < b && c</diff><side>RIGHT</side><note>a <= b</note><end />", [("a < b && c", Side.NEW, "a <= b")]),
    ("<diff>+ code()</diff>\n<note>No side, the code tells.</note>\n<end />", [("+ code()", None,
        "No side, the code tells.")]),
    ("<side>right</side><diff>+a\n+b</diff><note>```python\nfix()\n```</note><notesplit/><end/>", [("+a\n+b", Side.NEW,
        "```python\nfix()\n```")]),
    ("<diff>+ <p>x</p></diff><side>right</side><note>Use <b>.</note><end />", [("+ <p>x</p>", Side.NEW, "Use <b>.")]),
]  # fmt: skip

REFUSED: list[tuple[str, str]] = [
    ("", "end with <end />"),
    ("I see no issues with this change. <end />", "words but no <note>"),
    (ONE, "end with <end />"),
    ("<diff>+ x</diff><side>right</side><note>cut<end />", "<note> is not closed or not opened"),
    ("<diff>+ x</diff><note>a</note></note><end />", "</note> is not closed or not opened"),
    ("<diff>+ x<side>right</side><note>a</note><end />", "<diff> is not closed or not opened"),
    ("<diff>+ x <side>right</side></diff><note>a</note><end />", "is inside <diff>"),
    ("<diff>+ x</diff><side>both</side><note>a</note><end />", "neither left nor right"),
    ("<diff>+ x</diff><side>left</side> or <side>right</side><note>a</note><end />", "two <side>"),
    ("<diff>+ x</diff><diff>+ y</diff><note>a</note><end />", "two <diff>"),
    ("<note>General remark on the change.</note><end />", "no <diff> before it"),
    ("<diff>+ x</diff><note>a</note><note>b</note><end />", "note 2 has no <diff>"),
    ("<diff>+ x</diff><side>right</side><notesplit /><note>a</note><end />", "has no <note>"),
    ("<diff>+ x</diff><side>right</side><end />", "has no <note>"),
    ("<diff></diff><side>right</side><note>a</note><end />", "empty <diff>"),
    ("<diff>+ x</diff><side>right</side><note>  </note><end />", "empty <note>"),
    ("<diff>+ x</diff><side></side><note>a</note><end />", "empty <side>"),
    (ONE + "<end />\nOne more thing: the name is wrong.", "end with <end />"),
    (ONE + "<end />\n" + TWO + "<end />", "goes on after <end />"),
    ("<DIFF>+ x</DIFF><SIDE>right</SIDE><NOTE>a</NOTE><end />", "words but no <note>"),
    ("&lt;diff&gt;+ x&lt;/diff&gt;&lt;note&gt;a&lt;/note&gt;&lt;end /&gt;", "end with <end />"),
    ("<think>I am not done with <note>", "end with <end />"),
    ("<diff>\ud800</diff><note>half a pair</note><end />", "cannot be stored"),
]


@pytest.mark.parametrize(("text", "notes"), READ)
def test_answers_that_say_what_they_mean_are_read(text: str, notes: list[tuple[str, Side | None, str]]) -> None:
    found = read_notes(text)
    claims = [comment.claimed for comment in found]
    assert [(c.hunk, c.side) for c in claims if c is not None] == [(code, side) for code, side, _ in notes]
    assert [comment.body for comment in found] == [body for _, _, body in notes]
    assert not any("cut" in comment.extra for comment in found)


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_answers_that_would_have_to_be_guessed_are_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_notes(text)
    assert reason in str(caught.value)
