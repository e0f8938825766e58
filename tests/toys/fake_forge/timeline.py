"""Reviews and the timeline of pull requests and issues, in the order of time."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from fake_forge.accounts import Json, association, number_of, speaker, stamp, user
from fake_forge.git_side import MadePull
from fake_forge.review_comments import review_of
from fake_forge.script import Issue

if TYPE_CHECKING:
    from fake_forge.documents import Documents

Dated = tuple[datetime, Json]


def reviews(documents: Documents, made: MadePull) -> list[Json]:
    """Submitted reviews: those with a verdict, and one for each reviewer and push that only left comments."""
    found: dict[int, tuple[datetime, Json]] = {}
    pull = made.script
    for verdict in pull.verdicts:
        identity = review_of(documents, made, verdict.author, verdict.on)
        when = pull.at(verdict.hours)
        found[identity] = (when, _review(documents, made, identity, verdict.author, verdict.on, when))
        found[identity][1].update(state=verdict.state, body=verdict.body)
    for thread in pull.threads:
        for said in thread.said:
            identity = review_of(documents, made, said.author, thread.on)
            when = pull.at(said.hours)
            if identity not in found:
                found[identity] = (when, _review(documents, made, identity, said.author, thread.on, when))
    return [one for _, one in sorted(found.values(), key=lambda pair: pair[0])]


def _review(documents: Documents, made: MadePull, identity: int, author: str, on: int, when: datetime) -> Json:
    number = made.script.number
    html = f"https://github.com/{documents.project.name}/pull/{number}#pullrequestreview-{identity}"
    return {
        "id": identity,
        "node_id": f"PRR_{identity}",
        "user": speaker(author),
        "body": "",
        "state": "COMMENTED",
        "html_url": html,
        "pull_request_url": f"{documents.base}/pulls/{number}",
        "author_association": association(author),
        "_links": {"html": {"href": html}},
        "submitted_at": stamp(when),
        "commit_id": made.heads[on].id,
    }


def of_pull(documents: Documents, made: MadePull) -> list[Json]:
    """The timeline of a pull request."""
    pull = made.script
    found: list[Dated] = [(one.when, _committed(documents, made, n)) for n, one in enumerate(made.commits())]
    for number, push in enumerate(pull.pushes):
        if push.forced:
            when = pull.at(push.hours)
            found.append((when, _event(documents, made, "head_ref_force_pushed", pull.author, when, push_of=number)))
    for index, said in enumerate(pull.talk):
        comment = documents.issue_comment(pull.number, said, pull.opened, index)
        found.append((pull.at(said.hours), {**comment, "event": "commented", "actor": comment["user"]}))
    for review in reviews(documents, made):
        found.append((_time(review["submitted_at"]), {**review, "event": "reviewed"}))
    for label in pull.labels:
        labelled = _event(documents, made, "labeled", "mel", pull.opened)
        found.append((pull.opened, {**labelled, "label": {"name": label, "color": "ededed"}}))
    for other, when, who in documents.mentions(pull.number):
        found.append((when, _cross_referenced(other, when, who, documents)))
    for hours, title in pull.renamed:
        renamed = _event(documents, made, "renamed", pull.author, pull.at(hours))
        found.append((pull.at(hours), {**renamed, "rename": {"from": title, "to": pull.title}}))
    if pull.end != "open":
        when = pull.at(pull.ended)
        if made.merged_as is not None:
            merged = _event(documents, made, "merged", "mel", when)
            found.append((when, {**merged, "commit_id": made.merged_as.id}))
        found.append((when, _event(documents, made, "closed", "mel", when)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def of_issue(documents: Documents, issue: Issue) -> list[Json]:
    """The timeline of an issue."""
    found: list[Dated] = []
    for index, said in enumerate(issue.talk):
        comment = documents.issue_comment(issue.number, said, issue.opened, index)
        found.append((_time(comment["created_at"]), {**comment, "event": "commented", "actor": comment["user"]}))
    for other, when, who in documents.mentions(issue.number):
        found.append((when, _cross_referenced(other, when, who, documents)))
    if issue.closed is not None:
        closed = _event(documents, None, "closed", "mel", issue.closed, number=issue.number)
        found.append((issue.closed, closed))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _committed(documents: Documents, made: MadePull, index: int) -> Json:
    commit = documents.commit(made.commits()[index], with_files=False)
    inner = commit["commit"]
    return {
        "sha": commit["sha"],
        "node_id": commit["node_id"],
        "url": inner["url"],
        "html_url": commit["html_url"],
        "author": inner["author"],
        "committer": inner["committer"],
        "tree": inner["tree"],
        "message": inner["message"],
        "parents": commit["parents"],
        "verification": inner["verification"],
        "event": "committed",
    }


def _event(
    documents: Documents,
    made: MadePull | None,
    kind: str,
    actor: str,
    when: datetime,
    *,
    number: int = 0,
    push_of: int | None = None,
) -> Json:
    of = str(made.script.number if made is not None else number)
    identity = number_of("event", documents.project.name, of, kind, str(when))
    commit = made.heads[push_of].id if made is not None and push_of is not None else None
    return {
        "id": identity,
        "node_id": f"EV_{identity}",
        "url": f"{documents.base}/issues/events/{identity}",
        "actor": user(actor),
        "event": kind,
        "commit_id": commit,
        "commit_url": f"{documents.base}/commits/{commit}" if commit else None,
        "created_at": stamp(when),
        "performed_via_github_app": None,
    }


def _cross_referenced(issue: Json, when: datetime, who: str, documents: Documents) -> Json:
    return {
        "actor": user(who),
        "created_at": stamp(when),
        "updated_at": stamp(when),
        "source": {"type": "issue", "issue": {**issue, "repository": documents.repository()}},
        "event": "cross-referenced",
    }
