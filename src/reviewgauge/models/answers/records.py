"""A record of what a model is to answer: its fields are the JSON schema that is sent, and the reader of the answer.

class Verdict(AnswerRecord):
    reasoning: str
    relevance: Word[Literal["high", "low"]]

read_record(answer, Verdict)      # a Verdict, or Unreadable with the reason in words for the model
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from reviewgauge.models.answers.readers import json_object
from reviewgauge.models.answers.text import Unreadable
from reviewgauge.models.request.messages import Prompt

M = TypeVar("M", bound="AnswerRecord")
T = TypeVar("T")
_MOST_PROBLEMS = 1_000


class AnswerRecord(BaseModel):
    """Types are strict: "5" is not a number. Keys that were not asked for are ignored."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", populate_by_name=True)


def _has_words(text: str) -> str:
    if not text.strip(" .…\n"):
        raise ValueError("holds no text")
    return text.strip()


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Text = Annotated[str, AfterValidator(_has_words)]
"""Text that says something, without blanks around it."""
Line = Annotated[Text, AfterValidator(lambda text: " ".join(text.split()))]
"""Such text on one line."""
LooseText = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
"""Text that decides nothing: empty for anything else."""
WholeNumber = Annotated[int, BeforeValidator(_whole)]
"""A whole number, 7 or 7.0."""
Word = Annotated[T, BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value)]
"""One of a few words, in any case."""


def answer_schema(record: type[AnswerRecord]) -> dict[str, Any]:
    """The JSON schema of a record as endpoints take it: without references, every key required and no others."""
    schema = record.model_json_schema()
    return _plain(schema, schema.get("$defs", {}))


def _plain(schema: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _plain(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:
        return {"type": [part["type"] for part in schema["anyOf"]]}
    found = {name: schema[name] for name in ("type", "enum") if name in schema}
    if "items" in schema:
        found["items"] = _plain(schema["items"], known)
    if schema.get("type") == "object":
        properties = {name: _plain(part, known) for name, part in schema["properties"].items()}
        found |= {"properties": properties, "required": [*properties], "additionalProperties": False}
    return found


def read_record(answer: object, record: type[M], prompt: Prompt | None = None) -> M:
    """An answer that is, or holds, one JSON object as a record. Raises Unreadable; see `json_object`."""
    try:
        return record.model_validate(json_object(answer, prompt=prompt) if isinstance(answer, str) else answer)
    except ValidationError as error:
        raise Unreadable(_problem(error)) from None


def _problem(error: ValidationError) -> str:
    """The first problem in words, such as `"severity" of entry 2 of "points" must be a whole number, not "high"`."""
    if (count := error.error_count()) > _MOST_PROBLEMS:  # to describe each takes a kilobyte
        return f"its JSON object has {count:,} problems"
    found = error.errors(include_url=False, include_context=False)[0]
    place = ""
    for part in found["loc"]:
        entry = f"entry {part + 1}" if isinstance(part, int) else f'"{part}"'
        place = f"{entry} of {place}" if place else entry
    if found["type"] == "missing":
        return f"{place} is missing"
    message = found["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    problem = _KINDS.get(found["type"], f"must be {message}" if found["type"] != "value_error" else message)
    given = found["input"]
    scalar = given is None or isinstance(given, str | int | float)
    return f"{place} {problem}" + (f", not {given!r:.60}" if scalar and "holds" not in problem else "")


_KINDS = {
    "model_type": "must be an object",
    "list_type": "must be a list",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
}
