"""Gerrit's comments on a change, those of robots too (read).

Source: Gerrit's REST API, `GET /changes/ID/comments` and `/robotcomments` (CommentInfo, RobotCommentInfo): lists by
path, behind the line `)]}'`. Replies are not review comments; those on the patch set and the commit message have no
place. `side` is PARENT for the code before the change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.json_reader import Node, clean, object_node
from reviewgauge.core.parsing import parse_json
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location, Side
from reviewgauge.formats.parsing.comments import Collector, has, peek

_PREFIX = b")]}'"
_NO_FILE = ("/PATCHSET_LEVEL", "/COMMIT_MSG", "/MERGE_LIST")


@dataclass(frozen=True)
class Gerrit(Format):
    """The comments of one change. One Parsed per robot or author."""

    suffixes: ClassVar[tuple[str, ...]] = (".gerrit.json",)

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """The file does not name its change. Raises BadInput."""
        found: dict[str | None, Collector] = {}
        files = object_node(parse_json(data.strip().removeprefix(_PREFIX), source), source)
        for path, listed in files.entries():
            for number, value in enumerate(listed.items()):
                node = object_node(value.value, source, f"{clean(path)} [{number}]")
                author = (
                    node.text("robot_id") or node.node("author").text("username") or node.node("author").text("name")
                )
                _add(found.setdefault(author, Collector(source, "gerrit", system=author)), clean(path), node, author)
        return [one.parsed() for one in found.values()] or [Collector(source, "gerrit").parsed()]

    def recognises(self, data: bytes) -> bool:
        """Gerrit's first line, or lists by path of messages with Gerrit's own fields."""
        value = peek(data)
        lists = list(value.values()) if isinstance(value, dict) else []
        first = next((one[0] for one in lists if isinstance(one, list) and one), None)
        return data.lstrip().startswith(_PREFIX) or (has(first, "message", "updated") and not has(first, "file"))


def _add(found: Collector, path: str, node: Node, author: str | None) -> None:
    body = node.needed("message")
    node["updated"]
    if node.text("in_reply_to") is not None or not body.strip():
        found.skip(str(node.record), "reply" if body.strip() else "empty")
        return
    fixes = node.nodes("fix_suggestions")
    replaced = fixes[0].nodes("replacements") if fixes else []
    found.add(
        body,
        Location() if path in _NO_FILE else _location(path, node),
        record=node.record,
        suggestion=replaced[0].text("replacement") if len(replaced) == 1 else None,
        author=author,
        commit=node.text("commit_id"),
        created=node.time("updated"),
        extra={"unresolved": node.as_object().get("unresolved") is True},
    )


def _location(path: str, node: Node) -> Location:
    covered, line = node.node("range"), node.integer("line")
    start, end = covered.integer("start_line"), covered.integer("end_line")
    if start is not None and end is not None and end > start and covered.integer("end_character") == 0:
        end -= 1
    side = Side.OLD if node.text("side") == "PARENT" else Side.NEW
    return Location(path=path, start=line if start is None else start, end=line if end is None else end, side=side)
