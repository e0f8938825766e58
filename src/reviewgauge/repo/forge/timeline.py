"""The timeline of a pull request or an issue, from REST or GraphQL, and the revisions that it shows.

GitHub keeps no list of pushes. Revisions are put together from the commits of the final state with their dates, both
ends of each forced push, the commits that reviews and comments were made on (`original_commit_id`), and the opening
time. Pushed commits that none of these names are part of the next revision. `pushed` is exact for a forced push; for
others it is the commit's date, bounded by the opening and the first comment, and None where that date is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from reviewgauge.core.json_reader import Json, node, number, text, when
from reviewgauge.core.pull_requests import Event, PullCommit, Revision
from reviewgauge.repo.forge.accounts import account

CROSS_REFERENCE, FORCED, RENAMED = "cross-referenced", "head_ref_force_pushed", "renamed"  # their names in REST
_KINDS = {
    "HeadRefForcePushedEvent": FORCED,
    "BaseRefChangedEvent": "base_ref_changed",
    "CrossReferencedEvent": CROSS_REFERENCE,
    "ConnectedEvent": "connected",
    "DisconnectedEvent": "disconnected",
    "RenamedTitleEvent": RENAMED,
    "MergedEvent": "merged",
    "ClosedEvent": "closed",
    "ReopenedEvent": "reopened",
    "ReadyForReviewEvent": "ready_for_review",
}
_OTHER_KINDS = {"commented", "reviewed", "committed", "line-commented", "commit-commented"}  # read elsewhere, in detail
_ADDRESS = re.compile(r"https?://[^/\s]+/(?:api/v3/)?repos/([^/\s]+/[^/\s]+)(?:/.*)?")


def read_events(timeline: Sequence[Json], graphql: Sequence[Json]) -> tuple[Event, ...]:
    """The events in order of time, without comments, reviews and commits."""
    items = [item for item in timeline if text(item, "event") not in {*_OTHER_KINDS, ""}]
    items += [item for item in graphql if text(item, "__typename")]
    return tuple(sorted(map(_event, items), key=lambda event: event.created.isoformat() if event.created else ""))


def _event(item: Json) -> Event:
    kind = text(item, "__typename")
    source = node(item, "source", "issue") or node(item, "source")
    commits = (text(item, "commit_id"), text(item, "afterCommit", "oid"), text(item, "commit", "oid"))
    return Event(
        kind=text(item, "event") or _KINDS.get(kind, kind),
        created=when(item, "created_at") or when(item, "createdAt"),
        actor=account(item["actor"]) if "actor" in item else None,
        commit=next(filter(None, commits), None),
        source=named(source),
        source_is_pull=isinstance(source.get("pull_request"), dict) or text(source, "__typename") == "PullRequest",
        before=text(item, "rename", "from") or text(item, "previousTitle"),
    )


def named(issue: Json) -> str:
    """`owner/name#12` of an issue or a pull request from REST or GraphQL; empty where it does not say."""
    own = number(issue, "number")
    repo = text(issue, "repository", "full_name") or text(issue, "repository", "nameWithOwner")
    if not repo:
        address = _ADDRESS.fullmatch(text(issue, "repository_url") or text(issue, "url"))
        repo = address[1] if address is not None else ""
    return f"{repo}#{own}" if own is not None and repo else ""


@dataclass
class _Head:
    """One state: `seen` is when it was first mentioned, `exact` when it was force-pushed."""

    seen: datetime | None = None
    exact: datetime | None = None
    forced: bool = False


def read_revisions(
    opened: datetime | None,
    head: str | None,
    commits: Sequence[PullCommit],
    mentions: Sequence[tuple[str | None, datetime | None]],
    events: Sequence[Json],
) -> tuple[Revision, ...]:
    """The revisions, oldest first; `head` is the last. `mentions`: (commit, time) of comments and reviews.

    `events` are those of the timeline, from REST or GraphQL.
    """
    first = first_mentions(mentions)
    heads = {commit: _Head(seen=first.get(commit)) for commit, _ in mentions if commit}
    pushes = _pushes(events)
    for before, after, time in pushes:
        if before:
            known = heads.setdefault(before, _Head())
            known.seen = min(filter(None, (known.seen, time)), default=None)
        if after:
            known = heads.setdefault(after, _Head())
            known.exact, known.forced = time, True
    if not pushes and (earliest := _first_head(opened, commits)) is not None:
        heads.setdefault(earliest, _Head(seen=opened))
    if head:
        heads.setdefault(head, _Head())
    return _ordered(heads, opened, head, commits)


def read_versions(versions: Sequence[Json]) -> tuple[Revision, ...]:
    """The revisions of a forge that lists every push, oldest first; a head that came back counts once."""
    ordered = sorted(versions, key=lambda one: text(one, "created_at"))
    first = {text(one, "head"): when(one, "created_at") for one in reversed(ordered) if text(one, "head")}
    return tuple(Revision(head=head, pushed=first[head]) for head in reversed(first))


def _ordered(
    heads: dict[str, _Head], opened: datetime | None, last: str | None, commits: Sequence[PullCommit]
) -> tuple[Revision, ...]:
    order = {commit.id: at for at, commit in enumerate(commits)}
    dates = {commit.id: commit.committed for commit in commits}
    dated = []
    for commit, known in heads.items():
        pushed = known.exact or push_time(opened, dates.get(commit), known.seen)
        kept = tuple(c.id for c in commits[: order[commit] + 1]) if commit in order else ()
        stood = pushed or known.seen
        place = (commit == last, stood.isoformat() if stood is not None else "", order.get(commit, -1))
        dated.append((place, Revision(head=commit, pushed=pushed, commits=kept, forced=known.forced)))
    return tuple(revision for _, revision in sorted(dated, key=lambda one: one[0]))


def push_time(opened: datetime | None, dated: datetime | None, seen: datetime | None) -> datetime | None:
    """The date of a commit, bounded by the opening and the first mention: authors' clocks may be wrong."""
    if dated is None:
        return None
    found = max(dated, opened) if opened is not None else dated
    return min(found, seen) if seen is not None else found


def first_mentions(mentions: Sequence[tuple[str | None, datetime | None]]) -> dict[str, datetime]:
    """When each commit was first mentioned."""
    found: dict[str, datetime] = {}
    for commit, time in mentions:
        if commit and time is not None:
            found[commit] = min(time, found.get(commit, time))
    return found


def _first_head(opened: datetime | None, commits: Sequence[PullCommit]) -> str | None:
    """The last commit that existed when the pull request was opened."""
    there = [c.id for c in commits if opened is not None and c.committed is not None and c.committed <= opened]
    return there[-1] if there else None


def _pushes(events: Sequence[Json]) -> list[tuple[str, str, datetime | None]]:
    """(before, after, time) of the forced pushes. REST names one commit, which is taken to be the one after."""
    found = []
    for event in events:
        if text(event, "__typename") == "HeadRefForcePushedEvent":
            before, after = text(event, "beforeCommit", "oid"), text(event, "afterCommit", "oid")
            found.append((before, after, when(event, "createdAt")))
        elif text(event, "event") == FORCED:
            found.append((text(event, "before"), text(event, "commit_id"), when(event, "created_at")))
    return found
