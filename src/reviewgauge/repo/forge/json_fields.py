"""Reads fields of a forge's JSON that may be missing, null or something else than expected."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import JsonValue

Json = Mapping[str, JsonValue]


def node(value: JsonValue | Json, *path: str) -> Json:
    """The object at `path`; empty where there is none."""
    found: JsonValue | Json = value
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def nodes(value: JsonValue | Json, *path: str) -> list[Json]:
    """The objects of the list at `path`; empty where there is none."""
    found: JsonValue | Json = node(value, *path[:-1]).get(path[-1]) if path else value
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def text(value: JsonValue | Json, *path: str) -> str:
    """The text at `path` in a form that a record can hold; empty where there is none."""
    found = node(value, *path[:-1]).get(path[-1])
    return plain(found) if isinstance(found, str) else ""


def plain(value: str) -> str:
    """Text without NUL and without halves of characters."""
    return value.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def number(value: JsonValue | Json, *path: str) -> int | None:
    """The whole number at `path`."""
    found = node(value, *path[:-1]).get(path[-1])
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def line(value: JsonValue | Json, *path: str) -> int | None:
    """The number of a line (1 or more) at `path`."""
    found = number(value, *path)
    return found if found is not None and found >= 1 else None


def flag(value: JsonValue | Json, *path: str) -> bool | None:
    """True or false at `path`; None for anything else."""
    found = node(value, *path[:-1]).get(path[-1])
    return found if isinstance(found, bool) else None


def when(value: JsonValue | Json, *path: str) -> datetime | None:
    """The time at `path`, aware; None where there is none that can be read."""
    try:
        found = datetime.fromisoformat(text(value, *path))
        found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        found.astimezone(UTC)  # the first and the last day of the calendar have no UTC
    except (ValueError, OverflowError):
        return None
    return found
