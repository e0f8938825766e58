"""Reports and plain reviews as comments, read strictly: an unclear answer is Unreadable, never a guess.

A report is a JSON object with a list `findings` of objects with `file`, `code` and `comment`, and in a ranked report
`severity` and `area`. A plain review is one comment as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError

from reviewgauge.core.errors import one_line
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.records import Comment, Location, Severity
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.prose import is_refusal
from reviewgauge.models.answers.readers import Unreadable, json_object
from reviewgauge.models.answers.text import plain
from reviewgauge.models.request.messages import Prompt

TEXT: JsonValue = {"type": "string"}
OTHER = "other"
SEVERITIES = ("critical", "high", "medium", "low")
MOST_FINDINGS = 200
_LONGEST_NOTE = 400  # characters of what a report says about tests or security
_TEXTS = ("file", "code", "comment")
_FORBIDDEN = ("<<<DATA ", "<<<END ")


def object_schema(**properties: JsonValue) -> dict[str, JsonValue]:
    """The JSON schema of an object with these properties and no others."""
    names: list[JsonValue] = [*properties]
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def report_schema(**choices: tuple[str, ...]) -> JsonValue:
    """The JSON schema of a list of findings. `choices`: further keys of a finding, with their words."""
    words: dict[str, JsonValue] = {name: {"type": "string", "enum": [*of]} for name, of in choices.items()}
    return {"type": "array", "items": object_schema(**words, **dict.fromkeys(_TEXTS, TEXT))}


def read_report(text: str, prompt: Prompt) -> tuple[Comment, ...]:
    """The findings of a report.

    Raises Unreadable: no such JSON object, a finding without comment, a refusal, or the words of the question in place
    of a finding.
    """
    return tuple(_comment(item, number) for number, item in _items(json_object(text, ("findings",), prompt)))


class RankedReport(NamedTuple):
    """Findings, the most severe first, and what the report says about tests and security."""

    comments: tuple[Comment, ...]
    tests: str
    security: str


def read_ranked_report(text: str, prompt: Prompt, areas: tuple[str, ...]) -> RankedReport:
    """A report whose findings name one of `areas` and a severity. An area but "other" becomes the category.

    Raises Unreadable as `read_report`, and for another word in place of an area or a severity.
    """
    report = json_object(text, ("findings", "tests", "security"), prompt)
    found = [_ranked(item, number, areas) for number, item in _items(report)]
    found.sort(key=lambda one: SEVERITIES.index(str(one.severity)))
    return RankedReport(tuple(found), _note(report, "tests"), _note(report, "security"))


def _note(report: Mapping[str, JsonValue], name: str) -> str:
    value = report[name]
    if not isinstance(value, str):
        raise Unreadable(f"{name} is not a text")
    return one_line(value, _LONGEST_NOTE)


def _ranked(item: Mapping[str, JsonValue], number: int, areas: tuple[str, ...]) -> Comment:
    area = _word(item, "area", areas, number)
    severity = Severity(_word(item, "severity", SEVERITIES, number))
    return _comment(item, number).model_copy(update={"category": None if area == OTHER else area, "severity": severity})


def _items(report: Mapping[str, JsonValue]) -> Iterator[tuple[int, Mapping[str, JsonValue]]]:
    listed = report.get("findings")
    if not isinstance(listed, list):
        raise Unreadable("findings is not a list")
    if len(listed) > MOST_FINDINGS:
        raise Unreadable(f"it has {len(listed):,} findings, over {MOST_FINDINGS}")
    for number, item in enumerate(listed, 1):
        if not isinstance(item, dict):
            raise Unreadable(f"finding {number} is not an object")
        yield number, item


def _comment(item: Mapping[str, JsonValue], number: int) -> Comment:
    file, code, comment = (_text(item, name, number) for name in _TEXTS)
    if not comment.strip(" .…\n"):
        raise Unreadable(f"finding {number} has no comment")
    claimed = Location(path=file.strip() or None, hunk=code.strip("\n") or None)
    return storable_comment(comment, claimed=claimed).model_copy(update={"id": f"finding-{number}"})


def storable_comment(body: str, **fields: Any) -> Comment:
    """A comment with a model's words. Raises Unreadable for words that a record cannot hold."""
    try:
        return Comment(id="comment", body=body.strip(), **fields)
    except ValidationError as error:
        raise Unreadable(f"it cannot be stored: {' '.join(first_problem(error))}") from None


def _text(item: Mapping[str, JsonValue], name: str, number: int) -> str:
    value = item.get(name)
    if value is None and name != "comment":
        return ""
    if not isinstance(value, str):
        raise Unreadable(f"{name} of finding {number} is not a text")
    return value


def _word(item: Mapping[str, JsonValue], name: str, words: tuple[str, ...], number: int) -> str:
    value = item.get(name)
    word = value.strip().lower() if isinstance(value, str) else ""
    if word not in words:
        raise Unreadable(f"{name} of finding {number} must be one of {', '.join(words)}")
    return word


def read_plain_review(text: str, prompt: Prompt) -> Comment:
    """The whole answer as one comment. Raises Unreadable for a refusal, an echo of the question, or no words."""
    body = storable(plain(text))
    if is_refusal(body):
        raise Unreadable("it is a refusal")
    if prompt.is_repeated_by(body) or any(mark in body for mark in _FORBIDDEN):
        raise Unreadable("it repeats the question or one of its examples")
    if not any(char.isalpha() for char in body):
        raise Unreadable("it has no words")
    return storable_comment(body)
