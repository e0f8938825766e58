"""The timeline of a pull request or an issue, from REST (`issues/N/timeline`) or GraphQL (`timelineItems`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewgauge.core.history import Event
from reviewgauge.repo.forge.accounts import account
from reviewgauge.repo.forge.json_fields import Json, node, number, text, when

CROSS_REFERENCE, FORCED, RENAMED = "cross-referenced", "head_ref_force_pushed", "renamed"  # as REST calls them
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
_SPOKEN = {"commented", "reviewed", "committed", "line-commented", "commit-commented"}  # told elsewhere, with more
_ADDRESS = re.compile(r"https?://[^/\s]+/(?:api/v3/)?repos/([^/\s]+/[^/\s]+)(?:/.*)?")


def read_events(timeline: Sequence[Json], graphql: Sequence[Json]) -> tuple[Event, ...]:
    """The events in their order; comments, reviews and commits are none of them."""
    found = [_rest(item) for item in timeline if text(item, "event") not in {*_SPOKEN, ""}]
    found += [_graphql(item) for item in graphql if text(item, "__typename")]
    return tuple(sorted(found, key=lambda event: event.created.isoformat() if event.created else ""))


def _rest(item: Json) -> Event:
    issue = node(item, "source", "issue")
    return Event(
        kind=text(item, "event"),
        created=when(item, "created_at"),
        actor=account(item["actor"]) if "actor" in item else None,
        commit=text(item, "commit_id") or None,
        source=named(issue),
        source_is_pull=isinstance(issue.get("pull_request"), dict),
        before=text(item, "rename", "from"),
    )


def _graphql(item: Json) -> Event:
    source = node(item, "source")
    kind = text(item, "__typename")
    return Event(
        kind=_KINDS.get(kind, kind),
        created=when(item, "createdAt"),
        actor=account(item["actor"]) if "actor" in item else None,
        commit=text(item, "afterCommit", "oid") or text(item, "commit", "oid") or None,
        source=named(source),
        source_is_pull=text(source, "__typename") == "PullRequest",
        before=text(item, "previousTitle"),
    )


def named(issue: Json) -> str:
    """`owner/name#12` of an issue or a pull request as REST or GraphQL gives it; empty where it does not say."""
    own = number(issue, "number")
    repo = text(issue, "repository", "full_name") or text(issue, "repository", "nameWithOwner")
    if not repo:
        address = _ADDRESS.fullmatch(text(issue, "repository_url") or text(issue, "url"))
        repo = address[1] if address is not None else ""
    return f"{repo}#{own}" if own is not None and repo else ""
