"""Reading other people's JSON: each value is checked for its type, and what is wrong is named by file and place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.parsing import first_problem, lines, parse_json, refuse_bytes

R = TypeVar("R", bound=Record)
LARGEST_FILE = 512 * 1024 * 1024  # bytes; no official file comes near, and a whole document is held in memory


class Shape:
    """One JSON value and where it stands in its file. Every reading of the wrong type raises BadInput."""

    def __init__(self, value: object, source: str, place: str = "") -> None:
        self.value, self.source, self.place = value, source, place

    def fault(self, problem: str) -> BadInput:
        """The error that names this place."""
        return BadInput(self.source, problem, record=self.place or None)

    def __getitem__(self, key: str) -> Shape:
        found = self._object()
        if key not in found:
            raise self.fault(f"the field {key!r} is missing")
        return Shape(found[key], self.source, f"{self.place}.{key}" if self.place else key)

    def get(self, key: str) -> Shape | None:
        """The field, or None where it is absent or null."""
        return self[key] if self._object().get(key) is not None else None

    def _object(self) -> dict[str, object]:
        if not isinstance(self.value, dict):
            raise self.fault("is not a JSON object")
        return self.value

    def entries(self) -> Iterator[tuple[str, Shape]]:
        """(key, value) of a JSON object, in the file's order."""
        for key, value in self._object().items():
            yield key, Shape(value, self.source, f"{self.place}[{key!r}]")

    def items(self) -> Iterator[Shape]:
        """The items of a JSON array."""
        if not isinstance(self.value, list):
            raise self.fault("is not a JSON array")
        for index, value in enumerate(self.value):
            yield Shape(value, self.source, f"{self.place}[{index}]")

    def text(self) -> str:
        """A text without NUL."""
        if not isinstance(self.value, str):
            raise self.fault("is not text")
        if "\x00" in self.value:
            raise self.fault("holds a NUL character")
        try:
            self.value.encode()
        except UnicodeEncodeError:  # a lone surrogate written as an escape; it could not be stored again
            raise self.fault("holds half a character (a lone surrogate)") from None
        return self.value

    def whole(self) -> int:
        """A whole number; a text of digits is taken as one."""
        value = self.value
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fault("is not a whole number")
        return value

    def number(self) -> float:
        """A finite number."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e308:
            raise self.fault("is not a number")
        return float(value)

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.fault("is neither true nor false")
        return self.value


def read_json(file: Path, dataset: str) -> Shape:
    """The JSON document in `file`. Raises UserError where it is absent, too large or not JSON."""
    source = file.name
    try:
        size = file.stat().st_size
        if size > LARGEST_FILE:
            raise BadInput(source, f"is {size:,} bytes, over {LARGEST_FILE:,}")
        raw = file.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{file} is not there", remedy=f"reviewgauge get {dataset}") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    return Shape(parse_json(raw, source), source)


def build(model: type[R], at: Shape, **fields: object) -> R:
    """A record made from values of a file; what the record refuses becomes BadInput at that place."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise BadInput(at.source, problem, record=at.place or None, field=field) from None


def objects(file: Path) -> Iterator[Shape]:
    """The object on each line of a file, or each item of a file that is one JSON array, read as they are asked for."""
    if file.suffix == ".json":
        yield from read_json(file, file.stem).items()
        return
    try:
        with file.open("rb") as stream:
            for number, line in lines(stream, file.name):
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    refuse_bytes(line, file.name, number)
                    raise BadInput(file.name, "is not valid JSON", record=number) from None
                yield Shape(value, file.name, f"line {number}")
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
