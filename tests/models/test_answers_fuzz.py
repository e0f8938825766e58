"""100,000 mutated and random answers: every reader returns a value of its kind or raises Unreadable, in linear time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import Field

from reviewgauge.models.answers.readers import Unreadable, choice, json_object, whole_number, yes_no
from reviewgauge.models.answers.records import AnswerRecord, read_record

OPTIONS = ("Security Vulnerability", "Code Defect", "Maintainability and Readability", "Performance", "E.1.1", "E.1")


class Judged(AnswerRecord):
    same: bool
    confidence: float = 1.0
    votes: list[int] = Field(default_factory=list)


class Reader(NamedTuple):
    name: str
    read: Callable[[str], Any]
    valid: Callable[[Any], bool]


READERS = (
    Reader("yes_no", yes_no, lambda value: isinstance(value, bool)),
    Reader("choice", lambda text: choice(text, OPTIONS, {"perf": "Performance"}), OPTIONS.__contains__),
    Reader("grade", lambda text: whole_number(text, 1, 5), lambda value: type(value) is int and 1 <= value <= 5),
    Reader("severity", lambda text: whole_number(text, 0, 10), lambda value: type(value) is int and 0 <= value <= 10),
    Reader("json_object", lambda text: json_object(text, ("same",)), lambda value: "same" in value),
    Reader("record", lambda text: read_record(text, Judged), lambda value: isinstance(value, Judged)),
)
SEEDS = (
    "yes", "No.", "**Yes**, both say so.", "No, they are not the same", "Answer: no", "<think>hm, 3?</think>yes",
    "Grade=4", "**Grade:** 3/5", "I would give this a score of 2.", "4 - good", "Your score: 5\n\nIt is concise.",
    "[[4]]",
    "Performance", "Category: Code Defect", "E.1.1", "Security Vulnerability: the key is logged",
    '{"same": true, "confidence": 0.9}', '```json\n{"same": false, "votes": [1, 2,],}\n```',
    'Here:\n[{"same": true}, {"same": false}]', '{"same": {"a": [[[{}]]]}}', "[]", '{"same": "\\u00e9\\ud83d\\ude00"}',
    '{"same": 1e5, "x": -0.0, "y": null}', "I'm sorry, I can't help with that.", "The two are not similar",
)  # fmt: skip
PIECES = (
    "<think>", "</think>", "```", "```json\n", "yes", "no", "not ", "n't ", "Answer: ", "Grade=", "Score: ", "5",
    "-1", "0",
    "4.5", "/5", " out of 5", "{", "}", "[", "]", '"', "\\", "\\u", "\\ud800", ",", ":", "\n", "\r", "\t", "\x00",
    "\ud800",
    "\udfff", "\u2028", "\ufeff", "\u202e", "é", "是", "٤", "４", "👍", "e\u0301", "NaN", "Infinity", "1e999",
    "9" * 400,
    "**",
    "$\\boxed{", "(", ")", "“", "”", "«", "<answer>", "</answer>", "but ", "and ", "Wait, ", "true", "null", "same",
    "E.1",
    "Performance", '"same": ', "{" * 70, "[" * 70, "a" * 300,
)  # fmt: skip


def outcome(reader: Reader, text: str) -> bool:
    """Whether the reader gives a value. Anything but a value of its kind or Unreadable fails the test."""
    try:
        value = reader.read(text)
    except Unreadable as error:
        assert str(error), (reader.name, text)
        return False
    except Exception as error:
        raise AssertionError(f"{reader.name} raised {type(error).__name__} on {text!r:.300}") from error
    assert reader.valid(value), (reader.name, text, value)
    return True


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from((*PIECES, *SEEDS)), max_size=12).map("".join)))
@example("\x00")
@example("\ud800")
def test_any_text(reader: Reader, text: str) -> None:
    outcome(reader, text)


LONG = 100_000
BAD = {
    "brackets": "[" * LONG, "braces": "{" * LONG, "objects": '{"a":' * LONG, "lists": "[[1," * LONG,
    "quotes": '"' * LONG,
    "backslashes": '{"' + "\\" * LONG, "escapes": '{"' + "\\u12" * LONG, "digits": "9" * LONG,
    "json digits": f"[{'9' * LONG}]",
    "minus": "-" * LONG, "commas": '{"a": [' + "," * LONG, "comma blanks": "[1" + ", " * LONG + "]",
    "blanks": " " * LONG + "{",
    "blanks after a brace": ("{" + " " * 1_000) * 100, "blanks after a comma": '{"a":1' + ("," + " " * 1_000) * 100,
    "tags": "<answer>" * LONG, "closed tags": "<answer></answer>" * LONG, "thoughts": "<think>" * LONG,
    "closed thoughts": "<think></think>" * 5_000, "lines": "yes\n" * LONG, "other lines": "x\n" * LONG,
    "labels": "answer: " * LONG,
    "label lines": "Answer: yes\n" * LONG, "fences": "```\n" * LONG, "stars": "*" * LONG, "underscores": "_a_" * LONG,
    "nested quotes": "(" * LONG + ")" * LONG, "quoted": "“" * LONG, "not": "Yes, " + "not " * LONG,
    "they": "No, they " + "nearly " * LONG,
    "numbers": "1 " * LONG, "points": "1." * LONG, "scale": "1 to " * LONG, "words": "the score " * LONG,
    "rate": "I rate it " * LONG,
    "give": "I would give it a grade of " + "a " * LONG, "boxed": "\\boxed{" * LONG,
    "wide blanks": "Yes" + "\u2003" * LONG + "no",
    "surrogates": "\ud800" * LONG, "NULs": "\x00" * LONG, "dots": "No" + "." * LONG, "dashes": "No" + "—" * LONG,
    "halves": "{\"a\": \"" * LONG,
    "labels with blanks": ("answer" + " " * 500) * 200, "hyphens": "Code" + "-" * LONG,
    "blank label": "Code" + " " * LONG + "Defect",
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
@pytest.mark.slow
def test_what_is_made_to_be_slow_ends(name: str) -> None:
    """Each is about 100,000 characters or more; anything quadratic in them would take minutes."""
    for reader in READERS:
        outcome(reader, BAD[name])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(
            st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
        ),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(
            st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5), inner, max_size=4),
        max_leaves=8,
    ),
    st.sampled_from(("{}", "```json\n{}\n```", "Here it is:\n\n{}",
    "<think>{{\"a\": 1}}</think>\n{}")),
    st.sampled_from((None, 2)),
)  # fmt: skip
def test_any_json_object_comes_back_from_any_wrapping(value: object, wrapping: str, indent: int | None) -> None:
    whole = {"same": value}
    text = wrapping.format(json.dumps(whole, indent=indent, ensure_ascii=False))
    assert json_object(text) == whole
    with pytest.raises(Unreadable):
        json_object(text.rstrip("`\n").rsplit("}", 1)[0])  # cut off before it ends
