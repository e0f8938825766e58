"""The part of GitHub's GraphQL schema that a crawl of pull requests asks: types, fields, and what they answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fake_forge.accounts import GONE, Json, association, number_of, stamp
from fake_forge.documents import Documents, prose
from fake_forge.git_side import MadeCommit, MadePull
from fake_forge.graphql import Connection, Object, Refused, connection
from fake_forge.review_comments import comment_id, place
from fake_forge.script import Issue, Pull, Thread
from fake_forge.timeline import of_issue, of_pull

_EVENTS = {
    "cross-referenced": "CrossReferencedEvent",
    "head_ref_force_pushed": "HeadRefForcePushedEvent",
    "renamed": "RenamedTitleEvent",
    "merged": "MergedEvent",
    "closed": "ClosedEvent",
    "labeled": "LabeledEvent",
    "commented": "IssueComment",
    "reviewed": "PullRequestReview",
    "committed": "PullRequestCommit",
}
Find = Callable[[str], Documents | None]


def root(find: Find, limit: Callable[[], Json]) -> Object:
    """The query type. `find` gives the answers on a repository by its name."""

    def repository(owner: str, name: str, followRenames: bool = True) -> Object:  # noqa: N803  GitHub's name
        documents = find(f"{owner}/{name}")
        if documents is None:
            raise Refused(f"Could not resolve to a Repository with the name '{owner}/{name}'.", "NOT_FOUND")
        return _repository(documents)

    return {
        "__typename": "Query",
        "repository": repository,
        "rateLimit": lambda: {"__typename": "RateLimit", "cost": 1, "nodeCount": 0, **limit()},
        "viewer": {"__typename": "User", "login": "crawler"},
    }


def _repository(documents: Documents) -> Object:
    made = documents.made

    def pull(number: int) -> Object:
        if number not in made.pulls:
            raise Refused(f"Could not resolve to a PullRequest with the number of {number}.", "NOT_FOUND")
        return _pull(documents, made.pulls[number])

    def issue(number: int) -> Object:
        for one in documents.project.issues:
            if one.number == number:
                return _issue(documents, one)
        raise Refused(f"Could not resolve to an Issue with the number of {number}.", "NOT_FOUND")

    def either(number: int) -> Object:
        return pull(number) if number in made.pulls else issue(number)

    return {
        "__typename": "Repository",
        "nameWithOwner": documents.project.name,
        "isPrivate": False,
        "isArchived": False,
        "isFork": False,
        "stargazerCount": documents.project.stars,
        "pullRequest": pull,
        "issue": issue,
        "issueOrPullRequest": either,
        "pullRequests": connection("PullRequest", lambda: [_pull(documents, one) for one in made.pulls.values()]),
        "primaryLanguage": {"__typename": "Language", "name": documents.repository()["language"]},
    }


def _actor(login: str) -> Object | None:
    if login == GONE:
        return None
    bot = login.endswith("[bot]")
    return {
        "__typename": "Bot" if bot else "User",
        "__interfaces": ("Actor", "Node"),
        "login": login.removesuffix("[bot]"),
        "id": f"U_{number_of('user', login)}",
    }


def _pull(documents: Documents, made: MadePull) -> Object:
    pull = made.script
    closed = None if pull.end == "open" else pull.at(pull.ended)
    merged = pull.end in ("merged", "squashed")
    return {
        "__typename": "PullRequest",
        "__interfaces": ("Node", "ReferencedSubject"),
        "id": f"PR_{number_of('pull', documents.project.name, str(pull.number))}",
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "url": f"https://github.com/{documents.project.name}/pull/{pull.number}",
        "state": "MERGED" if merged else "CLOSED" if closed else "OPEN",
        "merged": merged,
        "mergedAt": stamp(closed) if merged else None,
        "closed": closed is not None,
        "closedAt": stamp(closed),
        "createdAt": stamp(pull.opened),
        "updatedAt": stamp(closed or pull.opened),
        "lastEditedAt": stamp(pull.at(pull.edited)) if pull.edited is not None else None,
        "isDraft": pull.draft,
        "author": _actor(pull.author),
        "authorAssociation": association(pull.author),
        "headRefOid": made.heads[-1].id,
        "baseRefOid": made.bases[-1].id,
        "baseRefName": "main",
        "mergeCommit": _commit(made.merged_as) if made.merged_as else None,
        "repository": _stub(documents),
        "reviewThreads": lambda first=None, after=None: Connection(
            "PullRequestReviewThread", [_thread(documents, made, one) for one in pull.threads]
        ),
        "closingIssuesReferences": connection(
            "Issue", lambda: [_issue_stub(documents, one) for one in closing(documents, pull)]
        ),
        "timelineItems": _timeline(documents, lambda: of_pull(documents, made), made),
        "commits": connection(
            "PullRequestCommit",
            lambda: [{"__typename": "PullRequestCommit", "commit": _commit(one)} for one in made.commits()],
        ),
    }


def closing(documents: Documents, pull: Pull) -> list[Issue]:
    """The issues that GitHub links for closing: a closing word before the number in the description."""
    words = r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+"
    found = {int(n) for n in re.findall(words + r"(?:[\w.-]+/[\w.-]+)?#(\d+)", prose(pull.body), re.IGNORECASE)}
    return [one for one in documents.project.issues if one.number in found]


def _stub(documents: Documents) -> Object:
    owner, name = documents.project.name.split("/")
    return {
        "__typename": "Repository",
        "nameWithOwner": documents.project.name,
        "name": name,
        "owner": _actor(owner),
    }


def _issue_stub(documents: Documents, issue: Issue) -> Object:
    return {
        "__typename": "Issue",
        "__interfaces": ("Node", "ReferencedSubject"),
        "id": f"I_{number_of('issue', documents.project.name, str(issue.number))}",
        "number": issue.number,
        "title": issue.title,
        "body": issue.body,
        "state": "CLOSED" if issue.closed else "OPEN",
        "stateReason": "COMPLETED" if issue.closed else None,
        "closed": issue.closed is not None,
        "closedAt": stamp(issue.closed),
        "createdAt": stamp(issue.opened),
        "author": _actor(issue.author),
        "url": f"https://github.com/{documents.project.name}/issues/{issue.number}",
        "repository": _stub(documents),
    }


def _issue(documents: Documents, issue: Issue) -> Object:
    return {
        **_issue_stub(documents, issue),
        "timelineItems": _timeline(documents, lambda: of_issue(documents, issue), None),
        "comments": connection(
            "IssueComment", lambda: [_said(one) for one in documents.issue_comments(issue.number) or ()]
        ),
    }


def _said(one: Json) -> Object:
    return {
        "__typename": "IssueComment",
        "databaseId": one["id"],
        "body": one["body"],
        "createdAt": one["created_at"],
        "author": _actor(one["user"]["login"]) if one["user"] else None,
        "authorAssociation": one["author_association"],
        "url": one["html_url"],
    }


def _commit(one: MadeCommit) -> Object:
    return {
        "__typename": "Commit",
        "oid": one.id,
        "message": one.message,
        "committedDate": stamp(one.when),
        "authoredDate": stamp(one.when),
        "parents": connection("Commit", lambda: [{"__typename": "Commit", "oid": p.id} for p in one.parents]),
    }


def _thread(documents: Documents, made: MadePull, thread: Thread) -> Object:
    placed = place(documents, made, thread)
    at = made.script.threads.index(thread)
    comments = [
        {
            "__typename": "PullRequestReviewComment",
            "__interfaces": ("Node", "Comment", "Reactable"),
            "id": f"PRRC_{comment_id(documents, made, thread, n)}",
            "databaseId": comment_id(documents, made, thread, n),
            "fullDatabaseId": str(comment_id(documents, made, thread, n)),
            "body": said.body,
            "createdAt": stamp(made.script.at(said.hours)),
            "author": _actor(said.author),
            "authorAssociation": association(said.author),
            "path": thread.path,
            "diffHunk": placed.hunk,
            "outdated": placed.outdated,
            "isMinimized": False,
            "commit": {"__typename": "Commit", "oid": placed.now_commit},
            "originalCommit": {"__typename": "Commit", "oid": placed.commit},
        }
        for n, said in enumerate(thread.said)
    ]
    return {
        "__typename": "PullRequestReviewThread",
        "__interfaces": ("Node",),
        "id": f"PRRT_{number_of('thread', documents.project.name, str(made.script.number), str(at))}",
        "isResolved": bool(thread.resolved_by),
        "resolvedBy": _actor(thread.resolved_by) if thread.resolved_by else None,
        "isOutdated": placed.outdated,
        "isCollapsed": bool(thread.resolved_by) or placed.outdated,
        "path": thread.path,
        "line": placed.now_line,
        "startLine": placed.now_start,
        "originalLine": placed.line,
        "originalStartLine": placed.start,
        "diffSide": thread.side,
        "startDiffSide": thread.side if thread.until else None,
        "subjectType": "LINE" if thread.at else "FILE",
        "comments": connection("PullRequestReviewComment", lambda: comments),
    }


def _timeline(
    documents: Documents, items: Callable[[], Sequence[Json]], made: MadePull | None
) -> Callable[..., Connection]:
    def of(
        first: int | None = None,
        after: str | None = None,
        itemTypes: Sequence[str] | None = None,  # noqa: N803  GitHub's name
        since: str | None = None,
    ) -> Connection:
        wanted = None if itemTypes is None else {_camel(name) for name in itemTypes}
        found = [_event(documents, one, made) for one in items() if one["event"] in _EVENTS]
        return Connection("TimelineItems", [one for one in found if wanted is None or one["__typename"] in wanted])

    return of


def _named(documents: Documents, number: int) -> Object:
    if number in documents.made.pulls:
        return _pull(documents, documents.made.pulls[number])
    return _issue_stub(documents, next(one for one in documents.project.issues if one.number == number))


def _camel(name: str) -> str:
    return "".join(part.title() for part in name.split("_"))


def _event(documents: Documents, one: Json, made: MadePull | None) -> Object:
    kind = _EVENTS[one["event"]]
    actor = one.get("actor") or one.get("user")
    found: dict[str, Any] = {
        "__typename": kind,
        "__interfaces": ("Node",),
        "id": str(one.get("node_id", "")),
        "createdAt": one.get("created_at") or one.get("submitted_at"),
        "actor": _actor(actor["login"]) if actor and "login" in actor else None,
    }
    if kind == "CrossReferencedEvent":
        source = one["source"]["issue"]
        found |= {
            "isCrossRepository": False,
            "willCloseTarget": False,
            "referencedAt": one["created_at"],
            "source": _named(documents, source["number"]),
        }
    elif kind == "HeadRefForcePushedEvent" and made is not None:
        after = next(n for n, head in enumerate(made.heads) if head.id == one["commit_id"])
        found |= {"beforeCommit": _commit(made.heads[after - 1]), "afterCommit": _commit(made.heads[after])}
    elif kind in ("IssueComment", "PullRequestReview"):
        author: Mapping[str, Any] | None = one["user"]
        found |= {"author": _actor(author["login"]) if author else None, "body": one["body"], "databaseId": one["id"]}
    elif kind == "RenamedTitleEvent":
        found |= {"previousTitle": one["rename"]["from"], "currentTitle": one["rename"]["to"]}
    elif kind == "LabeledEvent":
        found |= {"label": {"__typename": "Label", "name": one["label"]["name"]}}
    elif kind == "MergedEvent":
        found |= {"commit": _commit(made.merged_as) if made is not None and made.merged_as else None}
    elif kind == "PullRequestCommit":
        found |= {"commit": _commit(documents.made.commits[one["sha"]])}
    return found
