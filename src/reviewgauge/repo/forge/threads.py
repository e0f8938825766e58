"""Builds review threads from the comments of a pull request, at the lines where they were made.

Source: GitHub REST, `GET /repos/{owner}/{repo}/pulls/{pull_number}/comments`; whether a thread was resolved and by whom
comes from GraphQL's `reviewThreads`, joined by the id of the first comment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from reviewgauge.core.history import Remark, Thread
from reviewgauge.core.json_reader import Json, flag, line, node, nodes, number, text, when
from reviewgauge.core.records import Side
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.forge.accounts import account
from reviewgauge.repo.git.paths import decode_path

SIDES: Mapping[str, Side] = {"LEFT": Side.OLD, "RIGHT": Side.NEW}
_REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def read_threads(comments: Sequence[Json], resolutions: Sequence[Json]) -> tuple[tuple[Thread, ...], int]:
    """The threads in order of opening, and the number of comments whose place is not valid.

    Replies to a deleted comment are a thread of their own, as on the forge.
    """
    groups: dict[int, list[Json]] = {}
    for comment in comments:
        own = number(comment, "id")
        if own is not None:
            groups.setdefault(number(comment, "in_reply_to_id") or own, []).append(comment)
    known = _resolutions(resolutions)
    found, lost = [], 0
    for root, group in groups.items():
        group.sort(key=lambda comment: (text(comment, "created_at"), number(comment, "id") or 0))
        first = next((comment for comment in group if number(comment, "id") == root), group[0])
        ordered = [first, *(comment for comment in group if comment is not first)]
        ids = [number(comment, "id") or 0 for comment in ordered]
        try:
            found.append(_thread(root, ordered, next((known[n] for n in ids if n in known), {})))
        except ValidationError:
            lost += len(ordered)
    return tuple(sorted(found, key=lambda thread: (_stamp(thread), int(thread.id)))), lost


def _stamp(thread: Thread) -> str:
    created = thread.remarks[0].created
    return created.isoformat() if created is not None else ""


def _resolutions(threads: Sequence[Json]) -> dict[int, Json]:
    """GraphQL's threads by the ids of their comments."""
    return {
        own: thread
        for thread in threads
        for comment in nodes(thread, "comments", "nodes")
        if (own := number(comment, "databaseId")) is not None
    }


def _thread(root: int, ordered: Sequence[Json], resolution: Json) -> Thread:
    first = ordered[0]
    start, end, side = place(first)
    whole_file = text(first, "subject_type") == "file"
    outdated = flag(resolution, "isOutdated")
    if outdated is None and "position" in first:
        outdated = not whole_file and line(first, "position") is None and line(first, "line") is None
    resolver = node(resolution, "resolvedBy")
    return Thread(
        id=str(root),
        path=decode_path(text(first, "path").encode()),
        side=side,
        start=start,
        line=end,
        commit=text(first, "original_commit_id") or text(first, "commit_id") or None,
        hunk=text(first, "diff_hunk"),
        position=line(first, "position"),
        original_position=line(first, "original_position"),
        now_line=line(first, "line"),
        whole_file=whole_file,
        outdated=outdated,
        resolved=flag(resolution, "isResolved"),
        resolved_by=account(dict(resolver)) if resolver else None,
        remarks=tuple(read_remark(comment) for comment in ordered),
    )


def place(comment: Json) -> tuple[int | None, int | None, Side]:
    """(first line, last line, side) of a comment; lines are None for a whole file.

    Where only the hunk is known, its last line is the commented one.
    """
    side = SIDES.get(text(comment, "side"))
    if text(comment, "subject_type") == "file":
        return None, None, side or Side.NEW
    end, start = line(comment, "original_line"), line(comment, "original_start_line")
    if end is None:
        shown = commented_line(text(comment, "diff_hunk"), side)
        return (shown[0], *shown) if shown is not None else (None, None, side or Side.NEW)
    if start is None or start > end or SIDES.get(text(comment, "start_side"), side) is not side:
        start = end  # a range across sides has no common numbering: its last line is taken
    return start, end, side or Side.NEW


def commented_line(diff_hunk: str, side: Side | None) -> tuple[int, Side] | None:
    """The last line of a comment's `diff_hunk`, which is the commented one; None without lines."""
    hunks = parse_patch(diff_hunk)
    if not hunks or not hunks[-1].lines:
        return None
    last = hunks[-1].lines[-1]
    if last.new is not None and side is not Side.OLD:
        return last.new, Side.NEW
    return (last.old, Side.OLD) if last.old is not None else None


def read_remark(comment: Json) -> Remark:
    """A remark from a line comment, a comment of the conversation, or a submitted review."""
    counts = {name: number(comment, "reactions", name) or 0 for name in _REACTIONS}
    return Remark(
        id=str(number(comment, "id") or text(comment, "node_id") or "unnamed"),
        author=account(comment.get("user"), text(comment, "author_association")),
        body=text(comment, "body"),
        created=when(comment, "created_at") or when(comment, "submitted_at"),
        commit=text(comment, "original_commit_id") or text(comment, "commit_id") or None,
        state=text(comment, "state"),
        url=text(comment, "html_url"),
        reactions={name: count for name, count in counts.items() if count},
    )
