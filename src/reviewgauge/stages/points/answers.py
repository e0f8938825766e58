"""Strict reading of a model's list of change-points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from reviewgauge.judges.classes.change_types import GROUPS, TYPES, change_type
from reviewgauge.models.answers.readers import Unreadable, json_object

LEAVES = tuple(code for code in TYPES if code not in GROUPS)
_TEXTS = ("point", "type", "mention", "introduced", "resolved", "explanation")


class Found(NamedTuple):
    """One change-point as a model lists it; commits and mention are labels."""

    point: str
    type: str
    mention: str
    introduced: str
    resolved: str
    code: str | None
    explanation: str


SCHEMA: Mapping[str, JsonValue] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["points"],
    "properties": {
        "points": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": [*_TEXTS[:-1], "code", "explanation"],
                "properties": {
                    **{name: {"type": "string"} for name in _TEXTS},
                    "type": {"type": "string", "enum": [*LEAVES]},
                    "code": {"type": ["string", "null"]},
                },
            },
        }
    },
}


def read_change_points(text: str, mentions: Sequence[str], commits: Sequence[str]) -> list[Found]:
    """The change-points of an answer; an empty list is one. `commits` are the labels, the oldest first.

    Raises Unreadable: a label that there is none of, a group of types for a type, a commit that answers what came with
    it or after it, the same entry twice.
    """
    entries = json_object(text).get("points")
    if not isinstance(entries, list):
        raise Unreadable('it has no list "points"')
    found = [_point(entry, at, mentions, commits) for at, entry in enumerate(entries, 1)]
    if len({one[:5] for one in found}) < len(found):
        raise Unreadable("it lists the same point twice")
    return found


def _point(entry: JsonValue, at: int, mentions: Sequence[str], commits: Sequence[str]) -> Found:
    if not isinstance(entry, dict):
        raise Unreadable(f"point {at} is not an object")
    texts = {name: _text(entry, name, at) for name in _TEXTS}
    kind = change_type(texts["type"])
    if kind not in LEAVES:
        raise Unreadable(f'"type" of point {at} is {texts["type"][:60]!r}, and the types are {", ".join(LEAVES)}')
    mention = _label(texts, "mention", at, mentions)
    introduced = _label(texts, "introduced", at, commits)
    resolved = _label(texts, "resolved", at, commits)
    if commits.index(resolved) <= commits.index(introduced):
        raise Unreadable(
            f"point {at} came with {introduced} and is resolved by {resolved}, which is not a later commit"
        )
    code = entry.get("code")
    if code is not None and not isinstance(code, str):
        raise Unreadable(f'"code" of point {at} is neither text nor null')
    words = " ".join(texts["point"].split())
    return Found(words, kind, mention, introduced, resolved, (code or "").strip() or None, texts["explanation"])


def _text(entry: Mapping[str, JsonValue], name: str, at: int) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Unreadable(f'"{name}" of point {at} holds no text')
    return value.strip()


def _label(texts: Mapping[str, str], name: str, at: int, known: Sequence[str]) -> str:
    label = texts[name].upper()
    if label not in known:
        shown = ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
        raise Unreadable(f'"{name}" of point {at} is {texts[name][:60]!r}, and there are {shown}')
    return label
