"""GitLab's merge request discussions, as its REST API lists them (read).

Source: GitLab REST API v4, `GET /projects/:id/merge_requests/:iid/discussions`, also pages joined by
`glab api --paginate`. The first note of a discussion is the comment; replies, system notes and status posts of bots are
not. An active discussion moves with its lines: its position counts in `head_sha`, wherever it was made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.json_reader import Node, object_node
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location, Side
from reviewgauge.formats.parsing.comments import Collector, flat, has, json_documents, peek
from reviewgauge.repo.forge.accounts import bot_noise, split_suggestion


@dataclass(frozen=True)
class Gitlab(Format):
    """A list of discussions, of one merge request. One Parsed per author."""

    suffixes: ClassVar[tuple[str, ...]] = (".gitlab.json", ".discussions.json")

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """The file does not name its merge request. Raises BadInput."""
        found: dict[str | None, Collector] = {}
        for node in _discussions(data, source):
            for number, note in enumerate(node.nodes("notes")):
                author = note.node("author").text("username")
                _add(found.setdefault(author, Collector(source, "gitlab", system=author)), note, number)
        return [one.parsed() for one in found.values()]

    def recognises(self, data: bytes) -> bool:
        """Discussions with notes; the first of one list, or of a list of pages."""
        first = next(flat(peek(data)), None)
        return has(first, "id", "individual_note", "notes")


def _discussions(data: bytes, source: str) -> Iterator[Node]:
    documents = json_documents(data, source)
    for number, value in enumerate(entry for document in documents for entry in flat(document)):
        found = object_node(value, source, f"discussion [{number}]")
        found["notes"]
        yield found


def _add(found: Collector, note: Node, number: int) -> None:
    item = str(note.as_object().get("id") or note.record)
    body, position = note.text("body") or "", note.node("position")
    claimed = _location(position)
    system = note.as_object().get("system") is True
    reason = "system note" if system else "reply" if number else bot_noise(body, claimed.path is not None)
    if reason is not None:
        found.skip(item, reason)
        return
    text, suggestion, lines = split_suggestion(body)
    resolved = note.as_object().get("resolved")
    found.add(
        text,
        claimed,
        record=note.record,
        suggestion=suggestion,
        author=note.node("author").text("username"),
        commit=position.text("head_sha"),
        created=note.time("created_at"),
        extra={**lines, **({"resolved": resolved} if isinstance(resolved, bool) else {})},
    )


def _location(position: Node) -> Location:
    new, old = position.integer("new_line"), position.integer("old_line")
    side = Side.OLD if new is None and old is not None else Side.NEW
    path = position.text("old_path" if side is Side.OLD else "new_path") or position.text("old_path")
    if path is None:
        return Location()
    end = old if side is Side.OLD else new
    start = position.node("line_range").node("start").integer("old_line" if side is Side.OLD else "new_line")
    return Location(path=path, start=end if start is None else start, end=end, side=side)
