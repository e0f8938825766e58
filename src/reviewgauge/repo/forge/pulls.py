"""Turns raw answers of a forge, as `reading` gives them, into records.

What a forge leaves out stays unknown; e-mail addresses are removed. `extra["unreadable"]` counts what cannot be read.
Threads are put together from comments on lines (REST, `pulls/N/comments`); who resolved them is in GraphQL's
`reviewThreads`, joined by the id of the first comment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from pydantic import JsonValue, ValidationError

from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import Json, flag, line, node, nodes, number, text, when
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.pull_requests import Account, IssueHistory, PullCommit, PullRequest, Remark, Thread
from reviewgauge.core.records import ChangedFile, FileStatus, Issue, Side
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.forge.accounts import account
from reviewgauge.repo.forge.answers import without_trailer_addresses
from reviewgauge.repo.forge.timeline import CROSS_REFERENCE, named, read_events, read_revisions, read_versions
from reviewgauge.repo.paths import decode_path

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


_EMPTY_FILE = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"  # the id of its blob
STATUSES = {
    "added": FileStatus.ADDED,
    "removed": FileStatus.DELETED,
    "renamed": FileStatus.RENAMED,
    "copied": FileStatus.COPIED,
    "changed": FileStatus.TYPE_CHANGED,
}


def read_pull(raw: Json, source: str = "pull request") -> PullRequest:
    """The pull request in `raw` (see `reading`). Raises BadInput, with `source`, for anything else."""
    pull = node(raw, "pull")
    own = number(pull, "number")
    repo = text(raw, "repo") or text(pull, "base", "repo", "full_name")
    if own is None or not repo:
        field = "repo" if own is not None else "pull.number"
        raise BadInput(source, "does not name its repository and number", field=field)
    try:
        return _pull(raw, pull, repo, own)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise BadInput(source, problem, record=f"{repo}#{own}", field=field) from None


def _pull(raw: Json, pull: Json, repo: str, own: int) -> PullRequest:
    commits = tuple(commit for item in nodes(raw, "commits") if (commit := _commit(item)) is not None)
    threads, lost = read_threads(nodes(raw, "comments"), nodes(raw, "threads"))
    reviews = tuple(read_remark(item) for item in nodes(raw, "reviews") if text(item, "state") != "PENDING")
    issues, unread = _issues(raw)
    timeline = [*nodes(raw, "timeline"), *nodes(raw, "events")]
    opened, head = when(pull, "created_at"), text(pull, "head", "sha") or None
    return PullRequest(
        repo=repo,
        number=own,
        title=text(pull, "title"),
        body=text(pull, "body"),
        url=text(pull, "html_url"),
        author=account(pull.get("user"), text(pull, "author_association")),
        state=text(pull, "state"),
        draft=bool(flag(pull, "draft")),
        merged=bool(flag(pull, "merged")) or when(pull, "merged_at") is not None,
        created=opened,
        closed=when(pull, "closed_at"),
        merged_at=when(pull, "merged_at"),
        base_ref=text(pull, "base", "ref"),
        base=text(pull, "base", "sha") or None,
        head=head,
        merge_commit=text(pull, "merge_commit_sha") or None,
        fork_gone="head" in pull and not node(pull, "head", "repo"),
        labels=tuple(filter(None, (text(label, "name") for label in nodes(pull, "labels")))),
        commits=commits,
        revisions=read_versions(nodes(raw, "versions"))
        or read_revisions(opened, head, commits, _mentions(raw, reviews), timeline),
        threads=threads,
        reviews=reviews,
        conversation=tuple(read_remark(item) for item in nodes(raw, "conversation")),
        events=read_events(nodes(raw, "timeline"), nodes(raw, "events")),
        issues=issues,
        files=read_files(nodes(raw, "files")),
        repo_languages={
            name: count for name in node(raw, "languages") if (count := number(raw, "languages", name)) is not None
        },
        extra=_extra(raw, pull, lost + unread),
    )


def _mentions(raw: Json, reviews: Sequence[Remark]) -> list[tuple[str | None, datetime | None]]:
    """(commit, time) of every comment and review on a state of the pull request."""
    lines = [
        (text(item, "original_commit_id") or None, when(item, "created_at"))
        for item in nodes(raw, "comments")
        if number(item, "in_reply_to_id") is None  # a reply repeats the commit of the first comment
    ]
    return [*lines, *((review.commit, review.created) for review in reviews)]


def _extra(raw: Json, pull: Json, lost: int) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {
        "updated": text(pull, "updated_at"),
        "edited": (text(raw, "edited") or "never") if isinstance(raw.get("edited"), str) else "",
        "closes": [name for item in nodes(raw, "closing") if (name := named(item))],
    }
    if nodes(raw, "versions"):
        found["versions"] = len(nodes(raw, "versions"))
    if lost:
        found["unreadable"] = lost
    return {name: value for name, value in found.items() if value}


def _commit(item: Json) -> PullCommit | None:
    own = text(item, "sha")
    if not own:
        return None
    return PullCommit(
        id=own,
        message=without_trailer_addresses(text(item, "commit", "message")),
        author=_author(item),
        authored=when(item, "commit", "author", "date"),
        committed=when(item, "commit", "committer", "date"),
        parents=tuple(filter(None, (text(parent, "sha") for parent in nodes(item, "parents")))),
        files=read_files(nodes(item, "files")) if "files" in item else None,
    )


def _author(item: Json) -> Account:
    """The author of a commit; an empty account, not a ghost, where the forge knows none."""
    return account(item["author"]) if text(item, "author", "login") else Account()


def read_files(files: Sequence[Json]) -> tuple[ChangedFile, ...]:
    """Changed files as `pulls/N/files` and `compare` list them; without a patch it is None. Raises BadInput."""
    wanted = [item for item in files if text(item, "filename") and text(item, "status") != "unchanged"]
    try:
        return tuple(map(_file, wanted))
    except ValidationError as error:
        field, problem = first_problem(error)
        raise BadInput("a changed file", problem, field=field) from None


def _file(item: Json) -> ChangedFile:
    status = STATUSES.get(text(item, "status"), FileStatus.MODIFIED)
    patch = text(item, "patch") if isinstance(item.get("patch"), str) else None
    untouched = number(item, "changes") == 0
    moved = status in (FileStatus.RENAMED, FileStatus.COPIED)
    if patch is None and untouched and (moved or text(item, "sha") == _EMPTY_FILE):
        patch = ""
    old = text(item, "previous_filename")
    return ChangedFile(
        path=decode_path(text(item, "filename").encode()),
        old_path=decode_path(old.encode()) if old else None,
        status=status,
        patch=patch,
        binary=patch is None and untouched,
    )


def _issues(raw: Json) -> tuple[tuple[IssueHistory, ...], int]:
    """The readable issues, and the number of others."""
    found: list[IssueHistory] = []
    given = nodes(raw, "issues")
    for item in given:
        with suppress(ValidationError):
            found.append(read_issue_history(item))
    return tuple(found), len(given) - len(found)


def read_issue_history(raw: Json) -> IssueHistory:
    """An issue as `reading.read_issue` gives it."""
    issue = node(raw, "issue")
    events = read_events(nodes(raw, "timeline"), nodes(raw, "events"))
    references = [event.source for event in events if event.kind == CROSS_REFERENCE and event.source_is_pull]
    return IssueHistory(
        repo=text(raw, "repo") or named(issue).partition("#")[0] or "unknown",
        issue=Issue(number=number(issue, "number") or 0, title=text(issue, "title"), body=text(issue, "body")),
        state=text(issue, "state"),
        is_pull=isinstance(issue.get("pull_request"), dict),
        author=account(issue.get("user"), text(issue, "author_association")),
        created=when(issue, "created_at"),
        closed=when(issue, "closed_at"),
        comments=tuple(read_remark(item) for item in nodes(raw, "comments")),
        references=tuple(dict.fromkeys(filter(None, references))),
    )
