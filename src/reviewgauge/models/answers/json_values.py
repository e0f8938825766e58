"""The one JSON value in an answer: alone, fenced or beside prose, with trailing commas forgiven and nothing else."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from reviewgauge.models.answers.prose import leads_to_answer
from reviewgauge.models.answers.text import Unreadable

DEEPEST = 64
LONGEST = 1_000_000  # characters of an answer
MOST_VALUES = 20  # in an answer; more than one is right only where they are equal, or a code fence's
LONGEST_LEAD = 100  # characters of the line that leads to JSON
_FENCE = re.compile(r"```\w{0,20}")
_MARKS = " \t\r\n`*_#\ufeff\"'“”"
# A brace or bracket that JSON begins with; others are prose or code: {a}, items[0], String[].
_START = re.compile(r'\{(?=\s*["}])|(?<![\w)\]])\[(?=\s*[\[{"\]\d-])')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*("?)|[{}\[\]]', re.DOTALL)
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*"?)|,(?=\s*[}\]])', re.DOTALL)
_CLOSES = {"{": "}", "[": "]"}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` with NULs and lone surrogates, which no record and no line of JSON can hold, replaced."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


class Span(NamedTuple):
    """A piece of the answer from an opening brace or bracket to the one that closes it."""

    start: int
    end: int


def only_object(text: str) -> dict[str, JsonValue]:
    """The only JSON object in `text`. The same one twice is one.

    Lists without an object in them do not count, nor does an empty object within a sentence: there they are code.
    """
    if len(text) > LONGEST:
        raise Unreadable(f"it has {len(text):,} characters, over {LONGEST:,}")
    found: dict[str, tuple[JsonValue, Span]] = {}
    last = 0
    for number, span in enumerate(_spans(text)):
        if number == MOST_VALUES:
            raise Unreadable(f"it holds more than {MOST_VALUES} JSON values, and one JSON object is asked for")
        value = _parsed(text[span.start : span.end])
        if not _holds_object(value) and not (_alone(text, span) and isinstance(value, dict)):
            continue
        found.setdefault(json.dumps(value, sort_keys=True), (value, span))  # true is not 1 here
        last = span.end
        if len(found) > 1:
            raise Unreadable("it holds 2 different JSON values, and one JSON object is asked for")
    if not found:
        raise Unreadable("it holds no JSON object")
    value, span = next(iter(found.values()))
    if not isinstance(value, dict):
        raise Unreadable("the JSON in it is not an object")
    _check_place(text[: span.start], text[last:])
    return value


def _check_place(before: str, after: str) -> None:
    """Raise Unreadable where JSON is not the answer: it stands alone, or behind one line that calls it the answer."""
    lead = _FENCE.sub("", before).strip(_MARKS)
    if lead and (len(lead) > LONGEST_LEAD or not leads_to_answer(lead)):
        raise Unreadable("other words than a lead-in such as 'Answer:' stand before its JSON")
    if _FENCE.sub("", after).strip(_MARKS + "]"):
        raise Unreadable("other words follow its JSON")


def _spans(text: str) -> Iterator[Span]:
    """The outermost spans, in order. Linear in the length of the text. Raises Unreadable for one that is cut off."""
    at = 0
    while (opening := _START.search(text, at)) is not None:
        at = _end(text, opening.start())
        yield Span(opening.start(), at)


def _end(text: str, start: int) -> int:
    expected: list[str] = []
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in _CLOSES:
            expected.append(_CLOSES[mark])
            if len(expected) > DEEPEST:
                raise Unreadable(f"its JSON is nested more than {DEEPEST} deep")
        elif mark in ("}", "]"):
            if mark != expected.pop():
                raise Unreadable(f"its JSON is broken: a {mark} closes what it did not open")
            if not expected:
                return token.end()
        elif token[1] == "":
            break  # a string that does not end
    raise Unreadable("its JSON is cut off before it ends")


def _parsed(text: str) -> JsonValue:
    """The value of one span. Line breaks within strings are forgiven, as they cannot mean anything else."""
    cleaned = _COMMA.sub(lambda found: found[1] or "", text)
    try:
        value: JsonValue = json.loads(
            cleaned, strict=False, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
        )
    except Unreadable:
        raise
    except json.JSONDecodeError as error:
        raise Unreadable(f"its JSON is broken: {error.msg} at line {error.lineno} column {error.colno}") from None
    except (ValueError, RecursionError):
        raise Unreadable("its JSON holds a number that is too long") from None
    _check(value)
    return value


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, value in pairs:
        if key in found:
            raise Unreadable(f"its JSON gives the key {key[:80]!r} twice")
        found[key] = value
    return found


def _constant(name: str) -> JsonValue:
    raise Unreadable(f"its JSON holds {name}, which is not a JSON number")


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise Unreadable("its JSON holds a number that is too large")
    return number


def _check(value: JsonValue) -> None:
    """Refuse text that no file could hold."""
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise Unreadable("its JSON holds a NUL or half a character")
    elif isinstance(value, list):
        for item in value:
            _check(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check(key)
            _check(item)


def _holds_object(value: JsonValue) -> bool:
    if isinstance(value, list):
        return any(_holds_object(item) for item in value)
    return isinstance(value, dict) and bool(value)


def _alone(text: str, span: Span) -> bool:
    before = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    after = text[span.end :].split("\n", 1)[0]
    return before.strip() in ("", "```json", "```", "`") and after.strip() in ("", "```", "`")
