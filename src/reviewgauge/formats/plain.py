"""A plain table of comments, `path, line, body`, as CSV, a JSON list or JSON lines (read).

Source: this project. Columns are found by the header; `end_line`, `side`, `severity`, `case` and `system` are optional,
others are kept in `extra`. Lines count in the code after the change, or before it where `side` is `old`. A comment
without a line is about the file, one without a path about the whole change.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import Node, object_node
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location, Side
from reviewgauge.formats.parsing.comments import Collector, decode, flat, json_documents, peek, severity_of

_NEEDED = ("path", "line", "body")
_OPTIONAL = ("end_line", "side", "severity", "case", "system")
_SEPARATORS = ",;\t"


@dataclass(frozen=True)
class Plain(Format):
    """One comment a row. One Parsed per case and system."""

    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".json", ".jsonl")

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """Keyed by the column `case`, where there is one. Raises BadInput."""
        found: dict[tuple[str | None, str | None], Collector] = {}
        for row in _rows(data, source):
            key, system = row.text("case") or None, row.text("system") or None
            _add(found.setdefault((key, system), Collector(source, "plain", key=key, system=system)), row)
        return [one.parsed() for one in found.values()] or [Collector(source, "plain").parsed()]

    def recognises(self, data: bytes) -> bool:
        """A header, or the keys of a first object, that are these columns and no others."""
        first = next(flat(peek(data)), None)
        try:
            names = list(first) if isinstance(first, dict) else _header(decode(data[:4096], ""))[0]
        except BadInput:
            return False
        return set(_NEEDED) <= set(names) <= {*_NEEDED, *_OPTIONAL}


def _header(text: str) -> tuple[list[str], str]:
    """The columns of the first line, in lower case, and what separates them."""
    line = text.lstrip().partition("\n")[0]
    separator = max(_SEPARATORS, key=line.count)
    return [name.strip().strip('"').lower() for name in line.split(separator)], separator


def _rows(data: bytes, source: str) -> Iterator[Node]:
    """Each row as an object, with a number; cells of a CSV are text, and empty ones are absent."""
    if data.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"[", b"{"):
        entries = [entry for document in json_documents(data, source) for entry in flat(document)]
        yield from (object_node(entry, source, f"row {number}") for number, entry in enumerate(entries, 1))
        return
    text = decode(data, source).lstrip()
    names, separator = _header(text)
    if lost := [name for name in _NEEDED if name not in names]:
        raise BadInput(source, "has no such column", field=lost[0], remedy=f"the header needs {', '.join(_NEEDED)}")
    rows = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    try:
        next(rows)
        for number, cells in enumerate(rows, 2):
            if cells and len(cells) != len(names):
                raise BadInput(source, f"has {len(cells)} cells, the header {len(names)}", record=f"row {number}")
            row = {name: cell for name, cell in zip(names, cells, strict=False) if cell.strip()}
            if row:
                yield Node(row, source, f"row {number}")
    except csv.Error as error:
        raise BadInput(source, f"is not CSV: {error}", remedy="quote cells that hold quotes or lines") from None


def _add(found: Collector, row: Node) -> None:
    start, end = (_line(row, name) for name in ("line", "end_line"))
    path, body, side = row.text("path") or None, row.needed("body"), row.text("side") or Side.NEW
    if side not in (Side.NEW, Side.OLD):
        raise row.error(f"{side!r:.40} is neither old nor new", "side")
    if not body.strip():
        found.skip(str(row.record), "empty")
        return
    known = {*_NEEDED, *_OPTIONAL}
    found.add(
        body,
        Location(path=path, start=start, end=start if end is None else end, side=Side(side)),
        record=row.record,
        severity=severity_of(row.text("severity")),
        extra={name: value for name, value in row.as_object().items() if name not in known},
    )


def _line(row: Node, name: str) -> int | None:
    """A line number; a CSV has it as text."""
    value = row.get(name)
    line = None if value is None else value.as_integer()
    if line is not None and line < 1:
        raise row.error("should be 1 or more", name)
    return line
