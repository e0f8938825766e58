"""The lines that a suggestion block replaces: GitHub's the commented ones, GitLab's those that its offsets reach."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.protocols import Format
from reviewgauge.core.records import Anchoring, Comment, Span
from reviewgauge.core.specs import load
from reviewgauge.repo.diff.edits import OFFSETS, Refusal, TextEdit, apply_edits, suggested_edits
from reviewgauge.repo.forge.accounts import split_suggestion

offset = st.integers(0, 150)
code = st.lists(st.text("ab c", max_size=5), max_size=4).map("\n".join)


def block(words: str, code: str) -> str:
    return f"Better:\n\n```suggestion{words}\n{code}\n```"


def at(first: int, last: int, **fields: object) -> Comment:
    span = Span(path="a.py", start=first, end=last)
    return Comment.model_validate({"id": "c", "body": "b", "span": span, "anchoring": Anchoring.AS_GIVEN, **fields})


def only(comment: Comment) -> TextEdit:
    (edit,) = suggested_edits(comment)
    assert isinstance(edit, TextEdit)
    return edit


@given(st.integers(1, 300), st.integers(0, 5), st.none() | offset, st.none() | offset, code)
def test_offsets_reach_from_the_last_commented_line(
    first: int, more: int, above: int | None, below: int | None, code: str
) -> None:
    """At most 100 lines each way, and none above the first; the same from the body and split off by a forge."""
    last = first + more
    words = (f"-{above}" if above is not None else "") + (f"+{below}" if below is not None else "")
    body = block(f":{words}", code)
    found = only(at(first, last, body=body))
    if words:
        assert found.start == max(1, last - min(above or 0, 100)) and found.end == last + min(below or 0, 100)
    else:
        assert (found.start, found.end) == (first, last)
    text, split, lines = split_suggestion(body)
    assert (text, split, lines) == ("Better:", code, {OFFSETS: words} if words else {})
    assert only(at(first, last, body=text, suggestion=split, extra=lines)) == found


@given(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9))
def test_what_is_replaced_is_what_the_block_says(line: int, above: int, below: int) -> None:
    before = [f"line {n}" for n in range(1, 10)]
    edits = suggested_edits(at(line, line, body=block(f":-{above}+{below}", "new")))
    files = {"a.py": "\n".join([*before, ""])}
    if line + below > len(before):
        with pytest.raises(Refusal, match="has 9 lines"):
            apply_edits(edits, files)
        return
    assert apply_edits(edits, files)["a.py"].split("\n")[:-1] == [
        *before[: max(0, line - above - 1)],
        "new",
        *before[line + below :],
    ]


@pytest.mark.parametrize("words", ["", " python", ":x", ":-", ":+-1", ":1+2"])
def test_other_words_of_a_block_say_nothing_of_lines(words: str) -> None:
    text, split, lines = split_suggestion(block(words, "x"))
    for one in (at(3, 4, body=block(words, "x")), at(3, 4, body=text, suggestion=split, extra=lines)):
        assert (only(one).start, only(one).end) == (3, 4)


@pytest.mark.parametrize(("words", "place"), [(":-1+2", (3, 6)), (":-0+0", (4, 4)), ("", (2, 4))])
def test_discussions_of_gitlab_keep_the_offsets(words: str, place: tuple[int, int]) -> None:
    position = {
        "new_path": "a.py", "old_path": "a.py", "new_line": 4, "head_sha": "c",
        "line_range": {"start": {"new_line": 2}, "end": {"new_line": 4}},
    }  # fmt: skip
    note = {"id": 1, "body": block(words, "x"), "author": {"username": "bob"}, "position": position}
    discussion = {"id": "d", "individual_note": False, "notes": [note]}
    (parsed,) = load(Format, "gitlab").read(json.dumps([discussion]).encode(), "d.gitlab.json")
    claimed = parsed.comments[0].claimed
    assert claimed is not None and claimed.start is not None and claimed.end is not None
    found = only(
        parsed.comments[0].model_copy(update={"span": Span(path="a.py", start=claimed.start, end=claimed.end)})
    )
    assert (found.start, found.end) == place
