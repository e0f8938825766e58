"""Bytes to records, with errors that name file, line and field, and nothing read into memory that is too long."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO, TypeVar

from pydantic import ValidationError

from reviewbench.core.base import Record
from reviewbench.core.errors import BadInput

R = TypeVar("R", bound=Record)
LONGEST_LINE = 64 * 1024 * 1024  # bytes; a longer line is refused before it is held in memory


def first_problem(error: ValidationError) -> tuple[str, str]:
    """(field, problem) of the first of pydantic's complaints, in plain words."""
    detail = error.errors(include_url=False, include_context=False)[0]
    field = ""
    for part in detail["loc"]:
        field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else str(part)
    if detail["type"] == "extra_forbidden":
        return field, "is not a field of this record"
    if detail["type"] == "missing":
        return field, "is missing"
    if detail["type"] == "json_invalid":
        return "", f"is not valid JSON ({detail['msg'].removeprefix('Invalid JSON: ')})"
    message = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
    found = detail["input"]
    shown = f", not {found!r:.60}" if isinstance(found, str | int | float | bool) or found is None else ""
    return field, message[0].lower() + message[1:] + (shown if detail["type"] != "value_error" else f": {found!r:.60}")


def parse_record(model: type[R], raw: bytes, source: str, record: int | str | None = None) -> R:
    """One record from JSON. Types are strict: "12" is no number. Raises BadInput."""
    try:
        return model.model_validate_json(raw, strict=True)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise BadInput(source, problem, record=record, field=field) from None
    except RecursionError:
        raise BadInput(source, "is nested too deeply", record=record) from None


def lines(stream: BinaryIO, source: str, longest: int = LONGEST_LINE) -> Iterator[tuple[int, bytes]]:
    """(number, line) of each non-blank line. Raises BadInput for a line longer than `longest` bytes."""
    number = 0
    while line := stream.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise BadInput(source, f"is longer than {longest:,} bytes", record=number, remedy="split the record")
        if number == 1 and line.startswith(b"\xef\xbb\xbf"):
            line = line[3:]
        if line.strip():
            yield number, line


def records(model: type[R], stream: BinaryIO, source: str, longest: int = LONGEST_LINE) -> Iterator[R]:
    """The records of a JSON lines stream. Raises BadInput at the first bad one."""
    for number, line in lines(stream, source, longest):
        yield parse_record(model, line, source, number)


def parse_json(raw: bytes, source: str) -> object:
    """A whole JSON document. Raises BadInput that names line and column."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(source, f"is not UTF-8 (byte {error.start})", remedy="save it as UTF-8") from None
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise BadInput(source, f"is not valid JSON at {where}: {error.msg}", remedy="is the file complete?") from None
    except (RecursionError, ValueError):
        raise BadInput(source, "is not readable JSON: nested too deeply or a number too long") from None
    return value
