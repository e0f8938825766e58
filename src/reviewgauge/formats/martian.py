"""Martian code-review-benchmark's `candidates.json`: what each tool said on each pull request (read).

Source: withmartian/code-review-benchmark, `results/*/candidates.json`: `{pr_url: {tool: [{text, path, line,
source}]}}`. In the published files paths and lines are null. One line a comment, no side, no severity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import Node, clean, kind_of, object_node
from reviewgauge.core.parsing import parse_json
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location
from reviewgauge.formats.parsing.comments import Collector, has, peek


@dataclass(frozen=True)
class Martian(Format):
    """Every tool's candidate comments on every pull request, in one object."""

    suffixes: ClassVar[tuple[str, ...]] = (".candidates.json",)

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """One Parsed per pull request and tool, keyed by the URL. Raises BadInput."""
        parsed = []
        for url, tools in object_node(parse_json(data, source), source).as_object().items():
            for tool, items in object_node(tools, source, clean(url)).as_object().items():
                record = f"{clean(url)} {clean(tool)}"
                if not isinstance(items, list):
                    raise BadInput(source, f"should be a list, not {kind_of(items)}", record=record)
                found = Collector(source, "martian", key=clean(url), system=clean(tool))
                for i, item in enumerate(items):
                    _add(found, object_node(item, source, f"{record} [{i}]"))
                parsed.append(found.parsed())
        if not parsed:
            raise BadInput(source, "names no change and no tool")
        return parsed

    def recognises(self, data: bytes) -> bool:
        """An object of objects of lists of objects with a text."""
        value = peek(data)
        if not isinstance(value, dict) or not value:
            return False
        tools = next(iter(value.values()))
        if not isinstance(tools, dict) or not tools:
            return False
        items = next((items for items in tools.values() if items), None)
        lists = all(isinstance(entry, list) for entry in tools.values())
        return lists and (items is None or (isinstance(items, list) and has(items[0], "text")))


def _add(found: Collector, node: Node) -> None:
    line = node.integer("line")
    body = node.needed("text")
    if not body.strip():
        found.skip(str(node.record), "empty")
        return
    found.add(
        body,
        Location(path=node.text("path"), start=line, end=line),
        record=node.record,
        extra={"source": node.text("source")},
    )
