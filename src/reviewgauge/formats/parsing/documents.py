"""Documents of review tools: their text, their JSON lines, and the fields that a format does not know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache

from pydantic import JsonValue

from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import LARGEST, Node, clean
from reviewgauge.core.parsing import parse_json

KEPT = 2000  # characters of an unknown field that are kept aside
_DEEPEST = 6


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


def unknown_fields(node: Node, *known: str) -> dict[str, JsonValue]:
    """The fields of `node` that the format does not know, where they are small."""
    fields = node.as_object().items()
    return {clean(key): kept for key, value in fields if key not in known and (kept := tidy(value)) is not None}


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
