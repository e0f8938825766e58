"""Strict reading of the two answers behind `points`: the list of change-points, and who hits whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from reviewgauge.judges.classes.change_types import TYPES, change_type
from reviewgauge.models.answers.readers import Unreadable, json_object

LEAST, MOST = 1, 10  # severity


class Extracted(NamedTuple):
    """One change-point as a model listed it. `comment` counts the comments of the report from 1."""

    comment: int
    text: str
    type: str
    severity: int


EXTRACTION: Mapping[str, JsonValue] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["points"],
    "properties": {
        "points": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["comment", "point", "type", "severity"],
                "properties": {
                    "comment": {"type": "integer"},
                    "point": {"type": "string"},
                    "type": {"type": "string", "enum": [*TYPES]},
                    "severity": {"type": "integer"},
                },
            },
        }
    },
}
HITS: Mapping[str, JsonValue] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["hits"],
    "properties": {
        "hits": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["known", "predictions"],
                "properties": {
                    "known": {"type": "string"},
                    "predictions": {"type": "array", "items": {"type": "string"}},
                },
            },
        }
    },
}


def read_points(text: str, comments: int) -> list[Extracted]:
    """The change-points in an answer about a report of so many comments. An empty list is one. Raises Unreadable."""
    found = [_point(entry, at, comments) for at, entry in _entries(text, "points")]
    if len(set(found)) < len(found):
        raise Unreadable("it lists the same point twice")
    return found


def read_hits(text: str, known: Sequence[str], predictions: Sequence[str]) -> list[frozenset[str]]:
    """For each known point, in order, the predictions that hit it. Each known id must stand there exactly once.

    Raises Unreadable.
    """
    found: dict[str, frozenset[str]] = {}
    for at, entry in _entries(text, "hits"):
        name, hitting = entry.get("known"), entry.get("predictions")
        if not isinstance(name, str) or name not in known:
            raise Unreadable(f"entry {at} is of {_shown(name)}, and the known ids are {_listed(known)}")
        if name in found:
            raise Unreadable(f"it says twice who hits {name}")
        if not isinstance(hitting, list):
            raise Unreadable(f'"predictions" of {name} is not a list')
        for one in hitting:
            if not isinstance(one, str) or one not in predictions:
                raise Unreadable(f"{name} is hit by {_shown(one)}, and the predictions are {_listed(predictions)}")
        if len(set(map(str, hitting))) < len(hitting):
            raise Unreadable(f"{name} is hit twice by the same prediction")
        found[name] = frozenset(map(str, hitting))
    if missing := [name for name in known if name not in found]:
        raise Unreadable(f"it does not say who hits {_listed(missing)} (an empty list where none does)")
    return [found[name] for name in known]


def _entries(text: str, key: str) -> list[tuple[int, Mapping[str, JsonValue]]]:
    """The objects of the list under `key`, counted from 1."""
    entries = json_object(text).get(key)
    if not isinstance(entries, list):
        raise Unreadable(f'it has no list "{key}"')
    found: list[tuple[int, Mapping[str, JsonValue]]] = []
    for at, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise Unreadable(f'entry {at} of "{key}" is not an object')
        found.append((at, entry))
    return found


def _point(entry: Mapping[str, JsonValue], at: int, comments: int) -> Extracted:
    comment = _whole(entry.get("comment"))
    if comment is None or not 1 <= comment <= comments:
        raise Unreadable(f'"comment" of point {at} is {_shown(entry.get("comment"))}, and they are 1 to {comments}')
    text = entry.get("point")
    if not isinstance(text, str) or not text.strip():
        raise Unreadable(f'"point" of point {at} holds no text')
    named = entry.get("type")
    code = change_type(named) if isinstance(named, str) else None
    if code is None:
        raise Unreadable(f'"type" of point {at} is {_shown(named)}, and the types are {", ".join(TYPES)}')
    severity = _whole(entry.get("severity"))
    if severity is None or not LEAST <= severity <= MOST:
        raise Unreadable(
            f'"severity" of point {at} is {_shown(entry.get("severity"))}, not a whole number from {LEAST} to {MOST}'
        )
    return Extracted(comment, " ".join(text.split()), code, severity)


def _whole(value: JsonValue) -> int | None:
    """A whole number, 7 or 7.0; true is none, and neither is "7"."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        return None
    return int(value)


def _shown(value: JsonValue) -> str:
    return "missing" if value is None else repr(value)[:60]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
