"""Bytes to records, with errors that name file, line and field, and nothing read into memory that is too long."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeVar

from pydantic import ValidationError

from reviewgauge.core.base import Record, unsafe
from reviewgauge.core.errors import BadInput

R = TypeVar("R", bound=Record)
_QUOTED = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5})?|\'{3}(?:[^\']|\'(?!\'\'))*+(?:\'{3,5})?'
    r'|"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*+\'?|#[^\n]*+',
    re.DOTALL,
)
_LONG_KEY = re.compile(r"\.(?:[\w \t-]*+\.){20}")  # tomllib takes quadratic time for keys of many parts
MOST_VALUES = 4_000_000  # in one record: many small values take far more memory than their text
MOST_FIELDS = 1_500_000  # in one document: more take over a second, in which nothing is heard of Ctrl-C
_MANY_PROBLEMS = 10_000
_MANY_BYTES = 1 << 20  # from which they are counted
LONGEST_LINE = 64 * 1024 * 1024  # bytes; a longer line is refused before it is held in memory


_FACT_TYPES = {"str", "int", "float", "bool"}  # the names that pydantic gives the branches of a Fact


def first_problem(error: ValidationError) -> tuple[str, str]:
    """(field, problem) of the first of pydantic's complaints, in plain words."""
    if (count := error.error_count()) > _MANY_PROBLEMS:  # describing all takes a kilobyte each
        return "", f"has {count:,} problems: it is not a record of this kind"
    details = error.errors(include_url=False, include_context=False)
    detail = details[0]
    place = detail["loc"]
    siblings = {other["loc"][-1] for other in details if other["loc"][:-1] == place[:-1]} if place else set()
    of_fact = siblings >= _FACT_TYPES
    field = ""
    for part in place[:-1] if of_fact else place:
        field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else str(part)
    if detail["type"] == "extra_forbidden":
        return field, "is not a field of this record"
    if detail["type"] == "missing":
        return field, "is missing"
    if detail["type"] == "json_invalid":
        return "", f"is not valid JSON ({detail['msg'].removeprefix('Invalid JSON: ')})"
    message = "should be text, a finite number, true or false" if of_fact else detail["msg"]
    message = message.removeprefix("Value error, ").removeprefix("Input ")
    found = detail["input"]
    if detail["type"] == "string_pattern_mismatch":
        message = unsafe(found) or message
    scalar = isinstance(found, str | int | float | bool) or found is None
    if detail["type"] in ("value_error", "string_pattern_mismatch"):
        shown = f": {found!r:.60}" if scalar else ""
    else:
        shown = f", not {found!r:.60}" if scalar else ""
    return field, message[0].lower() + message[1:] + shown


def parse_record(model: type[R], raw: bytes, source: str, record: int | str | None = None) -> R:
    """One record from JSON. Types are strict: "12" is not a number. Raises BadInput."""
    _check_count(raw, source, record)
    try:
        return model.model_validate_json(raw, strict=True)
    except ValidationError as error:
        refuse_bytes(raw, source, record)
        field, problem = first_problem(error)
        raise BadInput(source, problem, record=record, field=field) from None
    except RecursionError:
        raise BadInput(source, "is nested too deeply", record=record) from None


def enclosed(
    text: str, opening: re.Pattern[str], closing: Callable[[str], re.Pattern[str]]
) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """(opening, closing) of each piece of `text` between two marks; an opening that nothing closes is passed over.

    `closing` gives the pattern for the first group of an opening. Linear where there are few such marks: one that was
    not closed once is not looked for again.
    """
    unclosed: set[str] = set()
    at = 0
    while (start := opening.search(text, at)) is not None:
        end = None if start[1] in unclosed else closing(start[1]).search(text, start.end())
        if end is None:
            unclosed.add(start[1])
        else:
            yield start, end
        at = (end or start).end()


def refuse_long_keys(text: str, source: str) -> None:
    """Raise BadInput for TOML with a key of many dots."""
    if _LONG_KEY.search(_QUOTED.sub("", text)):
        raise BadInput(source, "holds a key of more than 20 dots")


def refuse_bytes(raw: bytes, source: str, record: int | str | None = None) -> None:
    """Raise BadInput for bytes that are not text of JSON: UTF-16, NUL, another encoding than UTF-8."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or raw.count(b"\x00") * 3 > len(raw):
        raise BadInput(source, "looks like UTF-16", record=record, remedy="save the file as UTF-8")
    if b"\x00" in raw:
        raise BadInput(source, f"holds a NUL byte at byte {raw.index(0) + 1}", record=record)
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise BadInput(
            source, f"is not UTF-8 (byte {error.start + 1})", record=record, remedy="save it as UTF-8"
        ) from None


def lines(stream: BinaryIO, source: str, longest: int = LONGEST_LINE) -> Iterator[tuple[int, bytes]]:
    """(number, line) of each non-blank line. Raises BadInput for a line longer than `longest` bytes."""
    for number, _, line in placed_lines(stream, source, longest):
        yield number, line


def placed_lines(stream: BinaryIO, source: str, longest: int = LONGEST_LINE) -> Iterator[tuple[int, int, bytes]]:
    """As `lines`, with the byte of the stream at which each begins."""
    number = end = 0
    while line := stream.readline(longest + 1):
        number += 1
        start, end = end, end + len(line)
        if len(line) > longest:
            raise BadInput(source, f"is longer than {longest:,} bytes", record=number, remedy="split the record")
        if number == 1 and line.startswith(b"\xef\xbb\xbf"):
            start, line = 3, line[3:]
        if line.strip():
            yield number, start, line


def records(model: type[R], stream: BinaryIO, source: str) -> Iterator[R]:
    """The records of a JSON lines stream. Raises BadInput at the first bad one."""
    for number, line in lines(stream, source):
        yield parse_record(model, line, source, number)


def _check_count(raw: bytes, source: str, record: int | str | None = None) -> None:
    """Raise BadInput for JSON of too many values, which take far more memory than their text."""
    if len(raw) > _MANY_BYTES and (parts := sum(map(raw.count, (b",", b"{", b"[")))) > MOST_VALUES:
        raise BadInput(source, f"holds {parts:,} values, over {MOST_VALUES:,}", record=record, remedy="split it")


def parse_json(raw: bytes, source: str, *, trusted: bool = False) -> object:
    """A whole JSON document. Raises BadInput that names line and column.

    `trusted`: a public data set, which may hold more values than a record of somebody's may.
    """
    if not trusted:
        _check_count(raw, source)
        if len(raw) > _MANY_BYTES and (fields := raw.count(b":")) > MOST_FIELDS:
            raise BadInput(source, f"holds {fields:,} fields, over {MOST_FIELDS:,}", remedy="split it")
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
