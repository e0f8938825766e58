"""The states of a pull request that people could see, as far as a forge remembers them.

GitHub keeps no list of pushes. What is known is put together: the commits of the final state with their dates, both
ends of each forced push, the commits that reviews and comments were made on (`original_commit_id`), and when the pull
request was opened. A commit that nobody looked at and that no forced push names is not told apart from the next one.
A head's `pushed` is exact for a forced push; for others it is the date of its commit, but not before the pull request
was opened and not after somebody spoke about it. Where not even the commit's date is known, it is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from reviewgauge.core.history import PullCommit, Revision
from reviewgauge.repo.forge.events import FORCED
from reviewgauge.repo.forge.json_fields import Json, text, when


@dataclass
class _Head:
    """One state: `seen` is the first time that somebody spoke about it, `exact` when it was pushed by force."""

    seen: datetime | None = None
    exact: datetime | None = None
    forced: bool = False


def read_revisions(
    opened: datetime | None,
    head: str | None,
    commits: Sequence[PullCommit],
    spoken: Sequence[tuple[str | None, datetime | None]],
    events: Sequence[Json],
) -> tuple[Revision, ...]:
    """The revisions, oldest first; `head` is the last of them. `spoken`: (commit, time) of comments and reviews.

    `events` are the timeline's, as REST or GraphQL gives them.
    """
    first = first_words(spoken)
    heads = {commit: _Head(seen=first.get(commit)) for commit, _ in spoken if commit}
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


def _ordered(
    heads: dict[str, _Head], opened: datetime | None, last: str | None, commits: Sequence[PullCommit]
) -> tuple[Revision, ...]:
    order = {commit.id: at for at, commit in enumerate(commits)}
    dates = {commit.id: commit.committed for commit in commits}
    made = []
    for commit, known in heads.items():
        pushed = known.exact or push_time(opened, dates.get(commit), known.seen)
        kept = tuple(c.id for c in commits[: order[commit] + 1]) if commit in order else ()
        stood = pushed or known.seen
        place = (commit == last, stood.isoformat() if stood is not None else "", order.get(commit, -1))
        made.append((place, Revision(head=commit, pushed=pushed, commits=kept, forced=known.forced)))
    return tuple(revision for _, revision in sorted(made, key=lambda one: one[0]))


def push_time(opened: datetime | None, dated: datetime | None, seen: datetime | None) -> datetime | None:
    """The date of a commit, held between the opening and the first word about it: the clocks of authors go wrong."""
    if dated is None:
        return None
    found = max(dated, opened) if opened is not None else dated
    return min(found, seen) if seen is not None else found


def first_words(spoken: Sequence[tuple[str | None, datetime | None]]) -> dict[str, datetime]:
    """When somebody first spoke about each commit."""
    found: dict[str, datetime] = {}
    for commit, time in spoken:
        if commit and time is not None:
            found[commit] = min(time, found.get(commit, time))
    return found


def _first_head(opened: datetime | None, commits: Sequence[PullCommit]) -> str | None:
    """The last commit that was there when the pull request was opened."""
    there = [c.id for c in commits if opened is not None and c.committed is not None and c.committed <= opened]
    return there[-1] if there else None


def _pushes(events: Sequence[Json]) -> list[tuple[str, str, datetime | None]]:
    """(before, after, time) of the forced pushes. REST names one commit only, which is taken for the one after."""
    found = []
    for event in events:
        if text(event, "__typename") == "HeadRefForcePushedEvent":
            before, after = text(event, "beforeCommit", "oid"), text(event, "afterCommit", "oid")
            found.append((before, after, when(event, "createdAt")))
        elif text(event, "event") == FORCED:
            found.append((text(event, "before"), text(event, "commit_id"), when(event, "created_at")))
    return found
