"""Codex CLI's structured review: findings with absolute paths and priorities (read).

Source: openai/codex, `ReviewOutputEvent` in `codex-rs/protocol`; the OpenAI cookbook's "Build Code Review with the
Codex SDK" prints the same schema for `codex exec --output-schema`. Also read: the session log (JSON lines), whose last
`exited_review_mode` counts, the object in a fence or in prose, and the text that `codex review` makes of it. The
overall verdict is not a comment.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from textwrap import dedent
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import Node, object_node
from reviewgauge.core.parsing import parse_json
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location, Severity
from reviewgauge.formats.parsing.comments import Collector, decode, has, json_lines, peek

_PRIORITIES = (Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM, Severity.LOW)
_REVIEW = re.compile(r'\{(?=\s*"findings"\s*:)')  # in a model's prose
_RENDERED = re.compile(r"^(?:Full review comments|Review comment):\s*$", re.MULTILINE)
_ITEM = re.compile(r"^- (?:\[[ x]\] )?(\S.*) — (.+):(\d{1,9})-(\d{1,9})\s*$", re.MULTILINE)
_NO_REVIEW = b"Reviewer failed to output a response."
_TAG = re.compile(r"\s*\[P([0-3])\]\s*")


@dataclass(frozen=True)
class Codex(Format):
    """`{findings, overall_correctness, overall_explanation}`, alone, in a session log, or in a model's prose."""

    suffixes: ClassVar[tuple[str, ...]] = (".codex.json",)

    @override
    def read(self, data: bytes, source: str) -> list[Parsed]:
        record, root, output = _output(data, source)
        found = Collector(source, "codex", system="codex", root=root)
        if not has(output.value, "findings"):
            raise output.error("is missing", "findings")
        for i, item in enumerate(output.nodes("findings")):
            place = f"findings[{i}]" if record is None else f"line {record} findings[{i}]"
            _add(found, Node(item.value, source, place))
        if output.text("overall_explanation"):
            found.skip("overall_explanation", "a verdict on the whole change")
        return [found.parsed()]

    def recognises(self, data: bytes) -> bool:
        """Findings with the names that only this schema has."""
        value = peek(data)
        if has(value, "findings") and isinstance(value, dict):
            findings = value["findings"]
            placed = isinstance(findings, list) and bool(findings) and has(findings[0], "code_location")
            return placed or "overall_correctness" in value
        if data.strip() == _NO_REVIEW or (b"eview comment" in data and _rendered(data.decode("utf-8", "replace"))):
            return True
        return b'"exited_review_mode"' in data or (b'"findings"' in data and b'"overall_correctness"' in data)


def _output(data: bytes, source: str) -> tuple[int | None, str | None, Node]:
    """(line, workspace, review) of the file's last review."""
    try:
        value = parse_json(data, source)
    except BadInput as error:
        if b'"exited_review_mode"' in data:
            return _from_log(data, source)
        text = decode(data, source)
        if data.strip() == _NO_REVIEW:
            raise BadInput(source, "holds no review: the reviewer gave no answer", remedy="run it again") from None
        if findings := _rendered(text):
            return None, None, object_node({"findings": findings}, source)
        opened = _REVIEW.search(text)
        try:
            value, _ = json.JSONDecoder().raw_decode(text, opened.start() if opened else len(text))
        except (ValueError, RecursionError):
            raise error from None
    if isinstance(value, dict) and has(value.get("review_output"), "findings"):
        value = value["review_output"]
    return None, None, object_node(value, source)


def _rendered(text: str) -> list[dict[str, object]]:
    """The findings of a review as `codex review` prints it, as objects."""
    header = _RENDERED.search(text)
    items = list(_ITEM.finditer(text, header.end())) if header else []
    ends = [*(item.start() for item in items[1:]), len(text)]
    return [
        {
            "title": item[1],
            "body": dedent(text[item.end() : end]).strip(),
            "code_location": {
                "absolute_file_path": item[2],
                "line_range": {"start": int(item[3]), "end": int(item[4])},
            },
        }
        for item, end in zip(items, ends, strict=False)
    ]


def _from_log(data: bytes, source: str) -> tuple[int | None, str | None, Node]:
    last: tuple[int, Node] | None = None
    root = None
    for number, value in json_lines(data, source):
        line = object_node(value, source, number)
        event = line.node("payload") if has(value, "payload") else line
        root = event.text("cwd") or root if line.as_object().get("type") == "session_meta" else root
        if event.as_object().get("type") == "exited_review_mode":
            last = number, event.node("review_output")
    if last is None or not last[1].value:
        raise BadInput(source, "the session holds no finished review", remedy="was the review interrupted?")
    return last[0], root, last[1]


def _add(found: Collector, node: Node) -> None:
    title, priority = node.text("title") or "", node.integer("priority")
    tag = _TAG.match(title)
    if priority is None and tag is not None:
        priority = int(tag[1])
    body = "\n\n".join(part for part in (title, node.text("body") or "") if part.strip())
    if not body:
        raise node.error("is missing", "body")
    place = node.node("code_location")
    lines = place.node("line_range")
    found.add(
        body,
        Location(path=place.text("absolute_file_path"), start=lines.integer("start"), end=lines.integer("end")),
        record=node.record,
        severity=_PRIORITIES[priority] if priority is not None and 0 <= priority <= 3 else None,
        confidence=node.share("confidence_score"),
    )
