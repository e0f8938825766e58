"""Typed reading of parsed JSON and YAML: a wrong type is refused with record and field, odd text is made harmless."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import cast

from pydantic import JsonValue

from reviewgauge.core.errors import BadInput
from reviewgauge.core.parsing import parse_json

LARGEST = 2**53  # the largest integer that every JSON reader keeps
KEPT = 2000  # characters of an unknown field that are kept aside
_DEEPEST = 6
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}


def clean(text: str) -> str:
    """`text` without what no record can hold: NUL characters and halves of surrogate pairs become U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def decode(data: bytes, source: str) -> str:
    """Text for the formats that are text: UTF-8, or UTF-16 where it begins with that mark. Raises BadInput."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return clean(data.decode(encoding)).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BadInput(source, f"is not UTF-8 (byte {error.start})", remedy="save it as UTF-8") from None


def json_lines(data: bytes, source: str) -> Iterator[tuple[int, object]]:
    """(line number, value) of each line that is not blank. Raises BadInput that names the line."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            try:
                yield number, parse_json(line, source)
            except BadInput as error:
                raise BadInput(source, error.problem.partition(": ")[2], record=number, remedy=error.remedy) from None


@lru_cache(maxsize=2)
def peek(data: bytes) -> object:
    """The JSON document in `data`, else the value of its first line, else None: for telling formats apart."""
    for part in (data, data.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]):
        try:
            return parse_json(part, "")
        except BadInput:
            continue
    return None


def has(value: object, *keys: str) -> bool:
    """Whether it is an object with all of these keys."""
    return isinstance(value, dict) and all(key in value for key in keys)


def kind_of(value: object) -> str:
    """What a value is, in words."""
    return "nothing" if value is None else _KINDS.get(type(value), type(value).__name__)


@dataclass(frozen=True)
class Node:
    """One object of a document and where it is, for errors: `at` names it within its record."""

    value: Mapping[str, object]
    source: str
    record: int | str | None = None
    at: str = ""

    def error(self, key: str, problem: str) -> BadInput:
        """A BadInput about the field `key`."""
        return BadInput(self.source, problem, record=self.record, field=self._path(key))

    def _path(self, key: str) -> str:
        return f"{self.at}.{key}" if self.at and key else self.at or key

    def _typed(self, key: str, kinds: tuple[type, ...], wanted: str) -> object:
        value = self.value.get(key)
        if value is None:
            return None
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise self.error(key, f"should be {wanted}, not {kind_of(value)}")
        return value

    def text(self, key: str) -> str | None:
        """The text of a field, None where it is absent or null."""
        value = self._typed(key, (str,), "text")
        return None if value is None else clean(cast("str", value))

    def needed(self, key: str) -> str:
        """The text of a field that must be there."""
        value = self.text(key)
        if value is None:
            raise self.error(key, "is missing")
        return value

    def number(self, key: str) -> float | None:
        """A number."""
        value = cast("int | float | None", self._typed(key, (int, float), "a number"))
        if value is not None and not -LARGEST <= value <= LARGEST:  # not a number, infinity and overflow too
            raise self.error(key, "is too large a number")
        return value

    def integer(self, key: str) -> int | None:
        """A whole number; 12.0 is 12."""
        value = self.number(key)
        if value is not None and value != int(value):
            raise self.error(key, f"should be a whole number, not {value}")
        return None if value is None else int(value)

    def share(self, key: str) -> float | None:
        """A number from 0 to 1; None for another one."""
        value = self.number(key)
        return value if value is not None and 0 <= value <= 1 else None

    def time(self, key: str) -> datetime | None:
        """An ISO 8601 time."""
        value = self.text(key)
        try:
            return None if not value else datetime.fromisoformat(value)
        except ValueError:
            raise self.error(key, f"is not a time: {value!r:.40}") from None

    def node(self, key: str) -> Node:
        """An object; an empty one where it is absent or null."""
        value = self._typed(key, (dict,), "an object")
        return Node(cast("dict[str, object]", value or {}), self.source, self.record, self._path(key))

    def nodes(self, key: str) -> list[Node]:
        """A list of objects; empty where it is absent or null."""
        items = cast("list[object]", self._typed(key, (list,), "a list") or [])
        return [as_node(item, self.source, self.record, f"{self._path(key)}[{i}]") for i, item in enumerate(items)]

    def texts(self, key: str) -> list[str]:
        """A list of texts; empty where it is absent or null."""
        items = cast("list[object]", self._typed(key, (list,), "a list") or [])
        for i, item in enumerate(items):
            if not isinstance(item, str):
                raise self.error(f"{key}[{i}]", f"should be text, not {kind_of(item)}")
        return [clean(cast("str", item)) for item in items]

    def rest(self, *known: str) -> dict[str, JsonValue]:
        """The fields that the format does not know, where they are small."""
        return {clean(key): kept for key, v in self.value.items() if key not in known and (kept := tidy(v)) is not None}


def as_node(value: object, source: str, record: int | str | None = None, at: str = "") -> Node:
    """A Node of what must be an object. Raises BadInput."""
    if not isinstance(value, dict):
        raise BadInput(source, f"should be an object, not {kind_of(value)}", record=record, field=at)
    return Node(value, source, record, at)


def tidy(value: object, depth: int = 0) -> JsonValue:
    """`value` where it is small, shallow and plain enough to be kept aside, else None."""
    if isinstance(value, str):
        return clean(value) if len(value) <= KEPT else None
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if -LARGEST <= value <= LARGEST else None
    if depth > _DEEPEST or not isinstance(value, list | dict) or len(value) > 50:
        return None
    if isinstance(value, list):
        kept: JsonValue = [tidy(item, depth + 1) for item in value]
    else:
        kept = {clean(str(key)): tidy(item, depth + 1) for key, item in value.items()}
    return kept if depth or len(json.dumps(kept)) <= KEPT else None
