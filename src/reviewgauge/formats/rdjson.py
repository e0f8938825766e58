"""reviewdog's diagnostics, rdjson and rdjsonl (read).

Source: reviewdog's `proto/rdf/reviewdog.proto`. Columns there are UTF-8 bytes (ruff prints characters), so only
lines count. An end is exclusive when it has a column: one at column 1 ends on the line before.
A range without columns includes its last line. There is one file for one change, and no side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.json_reader import Node, object_node
from reviewgauge.core.parsing import parse_json
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location, Severity
from reviewgauge.formats.parsing.comments import Collector, has, json_lines, peek
from reviewgauge.repo.diff.edits import EDITS

_NUMBERS = ("UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO")
_READ = {"ERROR": Severity.HIGH, "WARNING": Severity.MEDIUM, "INFO": Severity.INFO}


@dataclass(frozen=True)
class Rdjson(Format):
    """One object with `diagnostics`, or one diagnostic a line."""

    suffixes: ClassVar[tuple[str, ...]] = (".rdjson", ".rdjsonl")

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """One Parsed; its system is the result's source. Raises BadInput."""
        found = Collector(source, "rdjson")
        if has(peek(data), "diagnostics") or not has(peek(data), "message"):
            result = object_node(parse_json(data, source), source)
            if not has(result.value, "diagnostics"):
                raise result.error("is missing", "diagnostics")
            found.system = result.node("source").text("name") or None
            for i, item in enumerate(result.nodes("diagnostics")):
                node = Node(item.value, source, f"diagnostics[{i}]")
                _add(found, node, _severity(node) or _severity(result))
        else:
            for number, value in json_lines(data, source):
                node = object_node(value, source, number)
                found.system = found.system or node.node("source").text("name") or None
                _add(found, node, _severity(node))
        return [found.parsed()]

    def recognises(self, data: bytes) -> bool:
        """An object with diagnostics, or lines that are diagnostics."""
        value = peek(data)
        return has(value, "diagnostics") or (has(value, "message", "location") and not has(value, "ruleId"))


def _severity(node: Node) -> str | None:
    value = node.as_object().get("severity")
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_NUMBERS):
        value = _NUMBERS[value]  # protocol buffers allow the number
    elif value is not None and value not in _NUMBERS:
        raise node.error(f"should be one of {', '.join(_NUMBERS)}, not {value!r:.40}", "severity")
    return None if value in (None, _NUMBERS[0]) else str(value)


def _add(found: Collector, node: Node, severity: str | None) -> None:
    location = node.node("location")
    span = location.node("range")
    start, end = span.node("start"), span.node("end")
    first, last = start.integer("line"), end.integer("line")
    if first is not None and last is not None and last > first and end.integer("column") == 1:
        last -= 1
    suggestions = node.nodes("suggestions")
    found.add(
        node.needed("message"),
        Location(path=location.text("path"), start=first, end=last),
        record=node.record,
        category=node.node("code").text("value"),
        severity=_READ.get(severity or ""),
        suggestion=suggestions[0].text("text") if suggestions else None,
        author=node.node("source").text("name"),
        extra=_edits(location.text("path"), suggestions),
    )


def _edits(path: str | None, suggestions: Sequence[Node]) -> dict[str, object]:
    """The suggestions as edits with their places; empty without a range. A range without columns is whole lines."""
    found: list[dict[str, object]] = []
    for one in suggestions:
        start, end = (one.node("range").node(name) for name in ("start", "end"))
        first = start.integer("line")
        if path is None or first is None:
            return {}
        edit = {"path": path, "start": first, "end": end.integer("line") or first, "text": one.text("text") or ""}
        for name, column in (("start_column", start.integer("column")), ("end_column", end.integer("column"))):
            edit |= {} if column is None else {name: column}
        found.append(edit)
    return {EDITS: found} if found else {}
