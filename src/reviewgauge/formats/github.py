"""GitHub's pull request review comments, as its REST API lists them (read).

Source: GitHub REST API, `GET /repos/{owner}/{repo}/pulls/{pull_number}/comments` and `.../reviews`, also pages
joined by `gh api --paginate`. Comments are held to `original_line` and `original_commit_id`, where they were made.
Replies, command triggers, check runs, summaries and status posts are not review comments. Whether a thread was
resolved is not in this API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.json_reader import Node, object_node
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location, Side
from reviewgauge.formats.parsing.comments import Collector, flat, has, json_documents, peek
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.forge.accounts import bot_noise, split_suggestion
from reviewgauge.repo.forge.pulls import SIDES, commented_line

_CHECKS = {"annotation_level", "check_suite", "check_run_id"}


@dataclass(frozen=True)
class Github(Format):
    """A list of review comments, or of reviews. One Parsed per pull request and author."""

    suffixes: ClassVar[tuple[str, ...]] = (".github.json",)

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """Keyed by the pull request's URL, else by the original commit. Raises BadInput."""
        collectors: dict[tuple[str | None, str | None], Collector] = {}
        nodes = [object_node(value, source, f"comment [{number}]") for number, value in enumerate(_items(data, source))]
        if nodes and not any(node.as_object().keys() & {"body", *_CHECKS} for node in nodes):
            raise nodes[0].error("is missing", "body")
        for node in nodes:
            key, author = _key(node), node.node("user").text("login") or None
            if (key, author) not in collectors:
                collectors[key, author] = Collector(source, "github", key=key, system=author)
            _add(collectors[key, author], node)
        return [found.parsed() for found in collectors.values()]

    def recognises(self, data: bytes) -> bool:
        """Comments with a body and GitHub's own fields; an empty list is what the API says of no comments."""
        value = peek(data)
        if value == []:
            return True
        while isinstance(value, list) and value and isinstance(value[0], list):
            value = value[0]
        if isinstance(value, dict) and isinstance(value.get("comments"), list):
            value = value["comments"]
        first = value[0] if isinstance(value, list) and value else value
        return has(first, "body") and any(
            has(first, key) for key in ("diff_hunk", "original_commit_id", "pull_request_url", "user", "commit_id")
        )


def _items(data: bytes, source: str) -> Iterator[object]:
    """The entries, also those of a list of pages, or under `comments`."""
    for document in json_documents(data, source):
        listed = has(document, "comments") and not has(document, "body")
        yield from flat(object_node(document, source).as_object()["comments"] if listed else document)


def _key(node: Node) -> str | None:
    page = (node.text("html_url") or "").partition("#")[0]
    if "/pull/" in page:
        return page
    if api := node.text("pull_request_url"):
        return re.sub(r"^https://api\.github\.com/repos/(.+)/pulls/(\d+)$", r"https://github.com/\1/pull/\2", api)
    return node.text("original_commit_id") or node.text("commit_id")


def _add(found: Collector, node: Node) -> None:
    item = str(node.as_object().get("id") or node.record)
    if node.as_object().keys() & _CHECKS:
        found.skip(item, "check run")
        return
    body = node.text("body") or ""
    if node.integer("in_reply_to_id") is not None:
        found.skip(item, "reply")
        return
    claimed = _location(node)
    reason = bot_noise(body, claimed.path is not None)
    if reason is not None:
        found.skip(item, reason)
        return
    text, suggestion, _ = split_suggestion(body)
    found.add(
        text,
        claimed,
        record=node.record,
        quote=_quote(node, claimed),
        suggestion=suggestion,
        author=node.node("user").text("login"),
        commit=node.text("original_commit_id") or node.text("commit_id"),
        created=node.time("created_at") or node.time("submitted_at"),
    )


def _location(node: Node) -> Location:
    path = node.text("path")
    side = SIDES.get(node.text("side") or "")
    if node.text("subject_type") == "file":
        return Location(path=path, side=side)
    end, start = node.integer("original_line"), node.integer("original_start_line")
    if end is None:
        end, start = node.integer("line"), node.integer("start_line")
    if start is None or (side is not None and SIDES.get(node.text("start_side") or "", side) is not side):
        start = end  # a range from one side to the other has no common numbering: its last line stands for it
    position = node.integer("original_position") or node.integer("position")
    if end is None and position is None and (last := commented_line(node.text("diff_hunk") or "", side)) is not None:
        start, side = last
        end = start
    return Location(path=path, start=start, end=end, side=side, position=position if end is None else None)


def _quote(node: Node, claimed: Location) -> str | None:
    """The commented lines themselves, where the `diff_hunk` shows them: they find the place after later pushes."""
    hunks = parse_patch(node.text("diff_hunk") or "")
    if not hunks or claimed.start is None or claimed.end is None:
        return None
    old = claimed.side is Side.OLD
    numbered = [(line.old if old else line.new, line.text) for line in hunks[-1].lines]
    texts = [text for number, text in numbered if number is not None and claimed.start <= number <= claimed.end]
    return "\n".join(texts) if texts and numbered[-1][0] == claimed.end else None
