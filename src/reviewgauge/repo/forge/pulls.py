"""Turns raw answers of a forge, from `reading` or `archive`, into records.

What a forge leaves out stays unknown; e-mail addresses are removed. `extra["unreadable"]` counts what cannot be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from pydantic import JsonValue, ValidationError

from reviewgauge.core.errors import BadInput
from reviewgauge.core.history import Account, IssueHistory, PullCommit, PullRequest, Remark, Revision
from reviewgauge.core.json_reader import Json, flag, node, nodes, number, text, when
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.records import ChangedFile, FileStatus, Issue
from reviewgauge.repo.forge.accounts import account
from reviewgauge.repo.forge.answers import without_trailer_addresses
from reviewgauge.repo.forge.threads import read_remark, read_threads
from reviewgauge.repo.forge.timeline import CROSS_REFERENCE, named, read_events, read_revisions
from reviewgauge.repo.git.paths import decode_path

_EMPTY_FILE = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"  # the id of its blob
_STATUSES = {
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
        raise BadInput(
            source, "does not name its repository and number", field="repo" if own is not None else "pull.number"
        )
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
        revisions=_with_states(
            read_revisions(opened, head, commits, _mentions(raw, reviews), timeline), nodes(raw, "states")
        ),
        threads=threads,
        reviews=reviews,
        conversation=tuple(read_remark(item) for item in nodes(raw, "conversation")),
        events=read_events(nodes(raw, "timeline"), nodes(raw, "events")),
        issues=issues,
        files=read_files(nodes(raw, "files")),
        repo_languages=_languages(node(raw, "languages")),
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


def _with_states(revisions: Sequence[Revision], states: Sequence[Json]) -> tuple[Revision, ...]:
    """The revisions, with base, commits, time and files where a dump has them."""
    by_head = {text(state, "head"): state for state in states}
    return tuple(_with_state(one, by_head[one.head]) if one.head in by_head else one for one in revisions)


def _with_state(revision: Revision, state: Json) -> Revision:
    listed = state.get("commits")
    update = {
        "base": text(state, "base") or None,
        "pushed": when(state, "pushed"),
        "commits": tuple(one for one in listed if isinstance(one, str)) if isinstance(listed, list) else (),
    }
    known = {name: value for name, value in update.items() if value}
    return revision.model_copy(update={**known, "files": read_files(nodes(state, "files"))})


def _extra(raw: Json, pull: Json, lost: int) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {
        "updated": text(pull, "updated_at"),
        "edited": (text(raw, "edited") or "never") if isinstance(raw.get("edited"), str) else "",
        "closes": [name for item in nodes(raw, "closing") if (name := named(item))],
    }
    if lost:
        found["unreadable"] = lost
    return {name: value for name, value in found.items() if value}


def _languages(counted: Json) -> dict[str, int]:
    return {name: count for name in counted if (count := number(counted, name)) is not None}


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
    user = node(item, "author")
    return account(dict(user)) if text(user, "login") else Account()


def read_files(files: Sequence[Json]) -> tuple[ChangedFile, ...]:
    """Changed files as `pulls/N/files` and `compare` list them; without a patch it is None. Raises BadInput."""
    wanted = [item for item in files if text(item, "filename") and text(item, "status") != "unchanged"]
    try:
        return tuple(map(_file, wanted))
    except ValidationError as error:
        field, problem = first_problem(error)
        raise BadInput("a changed file", problem, field=field) from None


def _file(item: Json) -> ChangedFile:
    status = _STATUSES.get(text(item, "status"), FileStatus.MODIFIED)
    patch = text(item, "patch") if isinstance(item.get("patch"), str) else None
    untouched = number(item, "changes") == 0
    if (
        patch is None
        and untouched
        and (status in (FileStatus.RENAMED, FileStatus.COPIED) or text(item, "sha") == _EMPTY_FILE)
    ):
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
