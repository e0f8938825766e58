"""Typed reading of JSON and YAML that others wrote, in two ways.

`Node` is strict: a missing field or a wrong type raises BadInput that names the file, the record and the field.
The functions are lenient: what is missing, null or of another type is empty. Crawled answers of a forge are read so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar, cast

from pydantic import JsonValue, ValidationError

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput
from reviewgauge.core.parsing import first_problem

R = TypeVar("R", bound=Record)
Json = Mapping[str, JsonValue]
LARGEST = 2**53  # the largest integer that every JSON reader keeps
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}


def clean(value: str) -> str:
    """`value` as a record can hold it: NUL characters and halves of surrogate pairs become U+FFFD."""
    if "\x00" in value:
        value = value.replace("\x00", "\ufffd")
    return value if value.isascii() else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def kind_of(value: object) -> str:
    """The JSON type of a value, in words."""
    return "nothing" if value is None else _KINDS.get(type(value), type(value).__name__)


# --- strict --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """A value of a document. `record` and `at` (the path within the record) say where it is, for errors.

    `node["key"]` is a required field. `as_text()` and the like read this value; `text("key")` and the like read an
    optional field of it, None where it is absent or null.
    """

    value: object
    source: str
    record: int | str | None = None
    at: str = ""

    def error(self, problem: str, key: str = "", remedy: str = "") -> BadInput:
        """A BadInput about this value, or about its field `key`."""
        field = self._path(key) if key else self.at
        return BadInput(self.source, problem, record=self.record, field=field, remedy=remedy)

    def _path(self, key: str) -> str:
        return f"{self.at}.{key}" if self.at else key

    def _wrong(self, wanted: str) -> BadInput:
        return self.error(f"should be {wanted}, not {kind_of(self.value)}")

    # this value

    def as_object(self) -> Mapping[str, object]:
        """A JSON object."""
        if not isinstance(self.value, dict):
            raise self._wrong("an object")
        return self.value

    def as_text(self) -> str:
        """A text. Raises BadInput also for NUL and lone surrogates, which no record can hold."""
        if not isinstance(self.value, str):
            raise self._wrong("text")
        if "\x00" in self.value:
            raise self.error("holds a NUL character")
        try:
            self.value.encode()
        except UnicodeEncodeError:
            raise self.error("holds half a character (a lone surrogate)") from None
        return self.value

    def as_integer(self) -> int:
        """A whole number; a text of digits counts as one."""
        value = self.value
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise (
                self._wrong("a whole number")
                if not isinstance(value, float)
                else self.error(f"should be a whole number, not {value}")
            )
        return value

    def as_number(self) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not abs(self.value) < 1e308:
            raise self._wrong("a finite number")
        return float(self.value)

    def as_flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self._wrong("true or false")
        return self.value

    def items(self) -> Iterator[Node]:
        """The items of a JSON array."""
        if not isinstance(self.value, list):
            raise self._wrong("a list")
        for index, value in enumerate(self.value):
            yield Node(value, self.source, self.record, f"{self.at}[{index}]")

    def entries(self) -> Iterator[tuple[str, Node]]:
        """(key, value) of a JSON object, in the file's order."""
        for key, value in self.as_object().items():
            yield key, Node(value, self.source, self.record, f"{self.at}[{key!r}]")

    # its fields

    def __getitem__(self, key: str) -> Node:
        found = self.as_object()
        if key not in found:
            raise self.error("is missing", key)
        return Node(found[key], self.source, self.record, self._path(key))

    def get(self, key: str) -> Node | None:
        """The field, None where it is absent or null."""
        return self[key] if self.as_object().get(key) is not None else None

    def _typed(self, key: str, kinds: tuple[type, ...], wanted: str) -> object:
        value = self.as_object().get(key)
        if value is None:
            return None
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise self.error(f"should be {wanted}, not {kind_of(value)}", key)
        return value

    def text(self, key: str) -> str | None:
        """The text of a field, cleaned."""
        value = self._typed(key, (str,), "text")
        return None if value is None else clean(cast("str", value))

    def needed(self, key: str) -> str:
        """The text of a required field, cleaned."""
        value = self.text(key)
        if value is None:
            raise self.error("is missing", key)
        return value

    def number(self, key: str) -> float | None:
        """The number of a field."""
        value = cast("int | float | None", self._typed(key, (int, float), "a number"))
        if value is not None and not -LARGEST <= value <= LARGEST:  # not a number, infinity and overflow too
            raise self.error("is too large a number", key)
        return value

    def integer(self, key: str) -> int | None:
        """The whole number of a field; 12.0 is 12."""
        value = self.number(key)
        if value is not None and value != int(value):
            raise self.error(f"should be a whole number, not {value}", key)
        return None if value is None else int(value)

    def share(self, key: str) -> float | None:
        """The number of a field, None unless it is from 0 to 1."""
        value = self.number(key)
        return value if value is not None and 0 <= value <= 1 else None

    def time(self, key: str) -> datetime | None:
        """The ISO 8601 time of a field."""
        value = self.text(key)
        try:
            return None if not value else datetime.fromisoformat(value)
        except ValueError:
            raise self.error(f"is not a time: {value!r:.40}", key) from None

    def node(self, key: str) -> Node:
        """The object of a field; an empty one where it is absent or null."""
        value = self._typed(key, (dict,), "an object")
        return Node(value or {}, self.source, self.record, self._path(key))

    def nodes(self, key: str) -> list[Node]:
        """The objects of a list; none where it is absent or null."""
        items = cast("list[object]", self._typed(key, (list,), "a list") or [])
        return [object_node(item, self.source, self.record, f"{self._path(key)}[{i}]") for i, item in enumerate(items)]

    def texts(self, key: str) -> list[str]:
        """The texts of a list, cleaned; none where it is absent or null."""
        items = cast("list[object]", self._typed(key, (list,), "a list") or [])
        for i, item in enumerate(items):
            if not isinstance(item, str):
                raise self.error(f"should be text, not {kind_of(item)}", f"{key}[{i}]")
        return [clean(cast("str", item)) for item in items]


def object_node(value: object, source: str, record: int | str | None = None, at: str = "") -> Node:
    """A Node of what must be an object. Raises BadInput."""
    found = Node(value, source, record, at)
    found.as_object()
    return found


def build(model: type[R], at: Node, **fields: object) -> R:
    """A record made from values of a document. Raises BadInput, at the place of `at`, for what the record refuses."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise at.error(problem, field) from None


# --- lenient -------------------------------------------------------------------------------------------------------


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
    """The text at `path`, cleaned; empty where there is none."""
    found = node(value, *path[:-1]).get(path[-1])
    return clean(found) if isinstance(found, str) else ""


def number(value: JsonValue | Json, *path: str) -> int | None:
    """The whole number at `path`."""
    found = node(value, *path[:-1]).get(path[-1])
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def line(value: JsonValue | Json, *path: str) -> int | None:
    """The line number (1 or more) at `path`."""
    found = number(value, *path)
    return found if found is not None and found >= 1 else None


def flag(value: JsonValue | Json, *path: str) -> bool | None:
    """True or false at `path`; None for anything else."""
    found = node(value, *path[:-1]).get(path[-1])
    return found if isinstance(found, bool) else None


def when(value: JsonValue | Json, *path: str) -> datetime | None:
    """The time at `path`, in UTC where it names no zone; None where none can be read."""
    try:
        found = datetime.fromisoformat(text(value, *path))
        found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        found.astimezone(UTC)  # the first and the last day of the calendar have no UTC
    except (ValueError, OverflowError):
        return None
    return found
