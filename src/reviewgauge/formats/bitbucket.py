"""Bitbucket's pull request comments, of the cloud and of a data centre (read).

Source: Bitbucket Cloud REST 2.0, `GET /repositories/{workspace}/{repo}/pullrequests/{id}/comments`, where `inline.to`
is a line after the change and `inline.from` one before; and Bitbucket Data Center REST 1.0,
`GET .../pull-requests/{id}/activities`, with `commentAnchor`. A file that ends before the last page is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import Node, object_node
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location, Side
from reviewgauge.formats.parsing.comments import Collector, flat, has, json_documents, peek
from reviewgauge.repo.forge.accounts import bot_noise

_LATEST = 253_402_300_799_000  # milliseconds: the end of the year 9999


@dataclass(frozen=True)
class Bitbucket(Format):
    """Pages of comments or activities. One Parsed per pull request and author."""

    suffixes: ClassVar[tuple[str, ...]] = (".bitbucket.json",)

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """Keyed by the pull request's address, where the comments name it. Raises BadInput."""
        found: dict[tuple[str | None, str | None], Collector] = {}
        for node in _values(data, source):
            if node.as_object().get("action") not in (None, "COMMENTED"):
                continue  # a data centre lists approvals and the like beside comments
            said = node.node("comment") if has(node.value, "comment") else node
            user = said.node("user" if has(said.value, "user") else "author")
            author = user.text("nickname") or user.text("name") or user.text("display_name")
            address = node.node("pullrequest").node("links").node("html").text("href")
            collector = found.setdefault((address, author), Collector(source, "bitbucket", key=address, system=author))
            _add(collector, node, said, author)
        return [one.parsed() for one in found.values()] or [Collector(source, "bitbucket").parsed()]

    def recognises(self, data: bytes) -> bool:
        """Values with the fields of a page, or comments with raw content beside their pull request."""
        value = peek(data)
        first = next(flat(value), None)
        page = has(first, "values") and (has(first, "pagelen") or has(first, "isLastPage"))
        return page or has(first, "content", "pullrequest")


def _values(data: bytes, source: str) -> Iterator[Node]:
    pages = [page for document in json_documents(data, source) for page in flat(document)]
    last = pages[-1] if pages else None
    if isinstance(last, dict) and (last.get("next") or last.get("isLastPage") is False):
        raise BadInput(source, "ends before the last page", remedy="fetch the pages that follow, too")
    number = 0
    for page in pages:
        whole = object_node(page, source)
        for value in whole["values"].items() if has(page, "values") else [whole]:
            yield object_node(value.value, source, f"comment [{number}]")
            number += 1


def _add(found: Collector, node: Node, said: Node, author: str | None) -> None:
    body = said.needed("text") if has(said.value, "text") else said["content"].needed("raw")
    claimed = _location(node)
    deleted, reply = said.as_object().get("deleted") is True, said.get("parent") is not None
    reason = "deleted" if deleted else "reply" if reply else bot_noise(body, claimed.path is not None)
    if reason is not None:
        found.skip(str(said.as_object().get("id") or node.record), reason)
        return
    stamp = said.integer("createdDate")
    found.add(
        body,
        claimed,
        record=node.record,
        author=author,
        commit=node.node("commentAnchor").text("toHash"),
        created=datetime.fromtimestamp(min(max(stamp, 0), _LATEST) / 1000, UTC)
        if stamp is not None
        else said.time("created_on"),
    )


def _location(node: Node) -> Location:
    inline, anchor = node.node("inline"), node.node("commentAnchor")
    if anchor.value:
        line, old = anchor.integer("line"), anchor.text("fileType") == "FROM"
        return Location(path=anchor.text("path"), start=line, end=line, side=Side.OLD if old else Side.NEW)
    new, before = inline.integer("to"), inline.integer("from")
    side, end = (Side.OLD, before) if new is None and before is not None else (Side.NEW, new)
    start = inline.integer("start_from" if side is Side.OLD else "start_to")
    path = inline.text("path")
    return Location(path=path, start=end if start is None else start, end=end, side=side if path else None)
