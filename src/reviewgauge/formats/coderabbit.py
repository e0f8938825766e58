"""CodeRabbit CLI's event stream, `coderabbit review --agent` (read).

Source: the CLI's JSON lines, one event a line, told apart by `type`: review_context, status, heartbeat, finding,
complete, error. The CLI exits with 0 even when the review failed, so a stream that ends in an error is refused: a
failure is not a review without findings. A finding has no line field: its instructions name lines in words ("around
lines 12 - 14") or quote code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import Node, object_node
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location
from reviewgauge.formats.parsing.comments import Collector, has, inline_quote, json_lines, peek, severity_of

_TYPES = ("review_context", "status", "heartbeat", "finding", "complete", "error")
_LINES = re.compile(
    r"\b(?:around|at|on|from|in|\()\s*lines?\s+(\d{1,9})(?:\s*(?:-|–|to|through)\s*(\d{1,9}))?", re.IGNORECASE
)
_PREAMBLE = re.compile(r"\A(?:Verify each finding|Treat finding text)[^\n]*(?:\n+|\Z)")
_FENCE = re.compile(r"```[\w+-]*\n")


@dataclass(frozen=True)
class Coderabbit(Format):
    """One finding a comment; the other events are counted, not kept."""

    suffixes: ClassVar[tuple[str, ...]] = (".coderabbit.jsonl", ".ndjson")

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """One Parsed, its root the working directory of the review. Raises BadInput."""
        found = Collector(source, "coderabbit", system="coderabbit")
        failure: BadInput | None = None
        complete = False
        for number, value in json_lines(data, source):
            event = object_node(value, source, number)
            kind = event.needed("type")
            if kind == "finding":
                _add(found, event)
            elif kind == "error":
                what = event.text("message") or event.text("errorType") or "no reason given"
                failure = BadInput(source, f"the review failed: {what}", record=number, remedy="run it again")
            elif kind == "complete":
                complete, failure = True, None
            elif kind == "review_context":
                found.root = event.text("workingDirectory") or found.root
            if kind != "finding":
                found.skip(f"line {number}", f"event: {kind[:40]}")
        if failure is not None:
            raise failure
        if not complete:
            raise BadInput(source, "holds no complete event: the review was cut short", remedy="run it again")
        return [found.parsed()]

    def recognises(self, data: bytes) -> bool:
        """A first line with one of the events' types and the fields that go with it."""
        value = peek(data)
        if not has(value, "type") or not isinstance(value, dict) or value["type"] not in _TYPES:
            return False
        return any(key in value for key in ("reviewType", "phase", "fileName", "findings", "errorType", "status"))


def _add(found: Collector, node: Node) -> None:
    instructions = _PREAMBLE.sub("", node.text("codegenInstructions") or "").strip()
    body = (node.text("comment") or "").strip() or instructions
    if not body:
        raise node.error("is missing", "codegenInstructions")
    lines = _LINES.search(instructions) or _LINES.search(body)
    start = int(lines[1]) if lines else None
    end = int(lines[2]) if lines and lines[2] else start
    severity, suggestions = node.text("severity"), node.texts("suggestions")
    found.add(
        body,
        Location(path=node.needed("fileName"), start=start, end=end),
        record=node.record,
        quote=_quoted(f"{body}\n{instructions}", start is not None),
        severity=None if severity == "none" else severity_of(severity),
        suggestion=suggestions[0] if suggestions else None,
    )


def _quoted(text: str, lined: bool) -> str | None:
    """The code that a finding quotes: a fenced block; without lines also the longest inline code that says enough."""
    fenced = _FENCE.search(text)
    end = text.find("```", fenced.end()) if fenced else -1
    return text[fenced.end() : end] if fenced and end >= 0 else None if lined else inline_quote(text)
