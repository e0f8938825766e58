"""ReviewBench's `findings.json`: what one agent found in one pull request (read).

Source: https://github.com/review-bench/ReviewBench, `AGENT_CONTRACT.md` and `scripts/eval/input-validation.ts`:
`{pr: {repo, pr_number, base, head}, agent, findings: [{file, start_line, end_line, message, producer}]}`. Also read:
`corpus/test/findings.json`, `{pr_key: [finding]}`. Lines count in the file at the head; there is no side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import Node, clean, kind_of, object_node
from reviewgauge.core.parsing import parse_json
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location, Side
from reviewgauge.formats.parsing.comments import Collector, has, peek, severity_of


@dataclass(frozen=True)
class ReviewBench(Format):
    """One object of an agent on a pull request."""

    suffixes: ClassVar[tuple[str, ...]] = ("findings.json",)

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """One Parsed per pull request, keyed by its address, or by its `pr_key` in a test set. Raises BadInput."""
        root = object_node(parse_json(data, source), source)
        if not has(root.value, "findings") and not has(root.value, "pr"):
            return _test_set(root)
        pull = root["pr"]
        repo, number = pull.needed("repo").rstrip("/"), pull["pr_number"].as_integer()
        if "://" not in repo:
            raise pull.error(f"{repo!r:.80} is not an address such as https://github.com/owner/name", "repo")
        found = Collector(source, "review_bench", key=f"{repo}/pull/{number}", system=root.text("agent"))
        commit = pull.needed("head")
        for i, item in enumerate(root["findings"].items()):
            _add(found, object_node(item.value, source, f"findings[{i}]"), commit)
        return [found.parsed()]

    def recognises(self, data: bytes) -> bool:
        """Findings beside a pull request, or lists of findings by pull request."""
        value = peek(data)
        if has(value, "pr", "findings") and isinstance(value, dict):
            return has(value["pr"], "pr_number")
        lists = list(value.values()) if isinstance(value, dict) else []
        first = next((items[0] for items in lists if isinstance(items, list) and items), None)
        return all(isinstance(items, list) for items in lists) and has(first, "file", "start_line", "message")


def _test_set(root: Node) -> list[Parsed]:
    parsed = []
    for key, items in root.as_object().items():
        if not isinstance(items, list):
            raise BadInput(root.source, f"should be a list, not {kind_of(items)}", record=clean(key))
        found = Collector(root.source, "review_bench", key=clean(key))
        for i, item in enumerate(items):
            _add(found, object_node(item, root.source, f"{clean(key)} [{i}]"), None)
        parsed.append(found.parsed())
    if not parsed:
        raise root.error("is missing", "findings")
    return parsed


def _add(found: Collector, node: Node, commit: str | None) -> None:
    path, body = node.needed("file"), node.needed("message")
    start, end = node.integer("start_line"), node.integer("end_line")
    if start is None or end is None:
        raise node.error("is missing", "start_line" if start is None else "end_line")
    if not body.strip():
        found.skip(str(node.record), "empty")
        return
    word = node.as_object().get("severity")
    found.add(
        body,
        Location(path=path, start=start, end=end, side=Side.NEW),
        record=node.record,
        category=node.text("category"),
        severity=severity_of(word) if isinstance(word, str) else None,
        author=node.text("producer"),
        commit=commit,
    )
