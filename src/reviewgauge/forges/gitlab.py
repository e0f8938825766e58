"""GitLab, gitlab.com and self-managed: merge requests, their discussions, approvals, system notes and versions.

Source: https://docs.gitlab.com/api/merge_requests/, `/api/discussions/`, `/api/rest/#pagination` and the system notes
of its source. Answers are put into the shape of `reading`. GitLab lists every push (`versions`), and moves the place of
a discussion with its lines until they change: it then says so in a system note, and the place stays.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import JsonValue

from reviewgauge.core.json_reader import Json, flag, line, node, nodes, number, text
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.repo.forge.access import Address, split_address
from reviewgauge.repo.forge.api import ForgeKind, PullReader
from reviewgauge.repo.forge.client import Forge
from reviewgauge.repo.forge.reading import Raw
from reviewgauge.repo.forge.replies import Broken, Unavailable, next_link
from reviewgauge.repo.tables import pattern, read_table

PUBLIC = "https://gitlab.com"
_API = "/api/v4"
_LONGEST = 2_000  # characters of a system note that are looked at
_REPO = re.compile(r"\w[\w.-]{0,254}(?:/\w[\w.-]{0,254}){1,20}", re.ASCII)
_TABLE = read_table(__package__, "gitlab")
_EVENTS = {kind: pattern(words) for kind, words in _TABLE["events"].items()}
_MARKS = re.compile(r"\{\+[^{}]{0,300}\+\}|\{-|-\}")  # of what changed in a title
_OUTDATED, _BOT = (pattern(_TABLE["patterns"][name]) for name in ("outdated", "bot"))
_STATES = {"approved": "APPROVED", "unapproved": "DISMISSED", "changes_requested": "CHANGES_REQUESTED"}


@dataclass(frozen=True)
class Gitlab(ForgeKind):
    """gitlab.com, or the server at `https://HOST`; groups may be in groups."""

    variable: ClassVar[str] = "GITLAB_TOKEN"
    needs_token: ClassVar[bool] = True
    shares_numbers: ClassVar[bool] = False
    form: ClassVar[str] = "GROUP/NAME, or HOST/GROUP/SUBGROUP/NAME"

    def address(self, api: str) -> Address:
        """With or without `/api/v4`; what stands before it is kept (a relative URL)."""
        root, path = split_address(api or PUBLIC, f"https://HOST{_API}")
        web = root + path.removesuffix(_API)
        return Address(web + _API, web)

    def headers(self, token: str) -> Mapping[str, str]:
        """The token, where it may travel."""
        return {"PRIVATE-TOKEN": token} if token else {}

    def is_repository(self, name: str) -> bool:
        """Groups and name."""
        return _REPO.fullmatch(name) is not None

    def host_of(self, word: str) -> tuple[str, str]:
        """The first of three parts is a host where it has a dot or a port."""
        host, _, rest = word.partition("/")
        return (f"https://{host}", rest) if "/" in rest and re.search(r"[.:]", host) else ("", word)

    def reader(self, forge: Forge, repo: str) -> PullReader:
        """Asks for the project first."""
        return _GitlabReader(forge, repo)

    def check_page(self, url: str, headers: Mapping[str, str], items: Sequence[object]) -> None:
        """The page's own figures, where they are given: over 10,000 items there is no total.

        Discussions are counted otherwise: GitLab leaves out those that the token may not read after it made the page.
        """
        page, size, total, pages = (_figure(headers, name) for name in ("page", "per-page", "total", "total-pages"))
        more = headers.get("x-next-page") or (page is not None and pages is not None and page < pages)
        if more and not next_link(headers):
            raise Broken("it says that there is another page, and not where")
        if None in (page, size, total) or urllib.parse.urlsplit(url).path.endswith("/discussions"):
            return
        assert page is not None and size is not None and total is not None
        due = max(0, min(size, total - (page - 1) * size))
        if len(items) < due:
            raise Broken(f"page {page} holds {len(items)} of the {due} items that it counts")


def _figure(headers: Mapping[str, str], name: str) -> int | None:
    value = headers.get(f"x-{name}", "")
    return int(value) if re.fullmatch(r"\d{1,12}", value) else None


class _GitlabReader(PullReader):
    """Reads by REST."""

    def __init__(self, forge: Forge, repo: str) -> None:
        """Raises Unavailable where the project is gone."""
        self.forge, self.version = forge, repr(forge.now)
        about = node(forge.get(_project(repo), version=self.version))
        self.repo = text(about, "path_with_namespace") or repo
        self.path = f"projects/{number(about, 'id')}"
        self.private, self.branch = text(about, "visibility") != "public", text(about, "default_branch")
        self.url = f"{forge.address.web}/{self.repo}.git"

    def listed(self, state: str) -> Iterator[Json]:
        """By the time of opening; merged ones are closed, too."""
        asked = {"state": "opened" if state == "open" else "all", "order_by": "created_at", "sort": "desc"}
        found = self.forge.pages(f"{self.path}/merge_requests", asked, version=self.version)
        return (_pull(node(item)) for item in found)

    def read(self, pull_number: int, version: str = "") -> Raw:
        """Raises Failed where fewer notes are listed than the merge request counts."""
        path = f"{self.path}/merge_requests/{pull_number}"
        merge = node(self.forge.get(path, version=version))
        version = text(merge, "updated_at") or version
        discussions = self._all(f"{path}/discussions", version)
        notes = [note for one in discussions for note in nodes(one, "notes")]
        said = sum(flag(note, "system") is not True for note in notes)
        if said < (counted := number(merge, "user_notes_count") or 0):
            raise Failed(FailureKind.NETWORK, f"{self.repo}!{pull_number} has {counted} notes, and {said} are listed")
        address = text(merge, "web_url")
        raw: Raw = {"repo": self.repo, "pull": _pull(merge), "languages": self._languages()}
        raw["commits"] = [_commit(item) for item in reversed(self._all(f"{path}/commits", version))]
        raw["versions"] = [
            {"head": one.get("head_commit_sha"), "created_at": one.get("created_at")}
            for one in self._all(f"{path}/versions", version)
        ]
        closing = self._all(f"{path}/closes_issues", version)
        raw["closing"] = [_named(text(item, "references", "full")) for item in closing if number(item, "iid")]
        raw |= _discussed(discussions, address, node(merge, "diff_refs"))
        raw |= _timeline(notes, self.repo)
        return raw | {"reviews": _reviews(notes, self._approvals(path, version))}

    def read_issue(self, repo: str, issue_number: int) -> Raw:
        """Merge requests that mention it are in its system notes."""
        path = f"{self.path if repo.lower() == self.repo.lower() else _project(repo)}/issues/{issue_number}"
        issue = node(self.forge.get(path, version=self.version))
        discussions = self._all(f"{path}/discussions", text(issue, "updated_at"))
        notes = [note for one in discussions for note in nodes(one, "notes")]
        said = [_note(note, text(issue, "web_url")) for note in notes if flag(note, "system") is not True]
        return {"repo": repo, "issue": _pull(issue), "comments": [dict(one) for one in said], **_timeline(notes, repo)}

    def _approvals(self, path: str, version: str) -> list[Json]:
        """Who approved in the end; none where this GitLab does not say: system notes do."""
        try:
            return nodes(self.forge.get(f"{path}/approvals", version=version), "approved_by")
        except Unavailable:
            return []

    def _all(self, path: str, version: str) -> list[Json]:
        return [node(item) for item in self.forge.pages(path, version=version)]

    def _languages(self) -> JsonValue:
        """Hundredths of a per cent: GitLab has no bytes."""
        shares = node(self.forge.get(f"{self.path}/languages", version=self.version))
        return {name: round(share * 100) for name, share in shares.items() if isinstance(share, int | float)}


def _project(repo: str) -> str:
    return f"projects/{urllib.parse.quote(repo, safe='')}"


def _pull(merge: Json) -> dict[str, JsonValue]:
    """A merge request as `pull`, or an issue. Its base is where it left the target branch."""
    state, merged = text(merge, "state"), merge.get("merged_at")
    refs = node(merge, "diff_refs")
    return {
        "number": number(merge, "iid"),
        "title": merge.get("title"),
        "body": merge.get("description"),
        "html_url": merge.get("web_url"),
        "user": _user(node(merge, "author")),
        "state": "open" if state in ("opened", "locked") else "closed",
        "draft": merge.get("draft"),
        "merged": state == "merged",
        "merged_at": merged,
        "created_at": merge.get("created_at"),
        "closed_at": merge.get("closed_at") or merged,
        "updated_at": merge.get("updated_at"),
        "base": {"ref": merge.get("target_branch"), "sha": refs.get("base_sha")},
        "head": {"sha": refs.get("head_sha") or merge.get("sha"), "repo": {"id": merge.get("source_project_id")}}
        | ({} if "source_project_id" not in merge or merge["source_project_id"] is not None else {"repo": None}),
        "merge_commit_sha": merge.get("merge_commit_sha") or merge.get("squash_commit_sha"),
        "labels": [{"name": name} for name in _list(merge.get("labels"))],
    }


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _user(author: Json) -> JsonValue:
    name = text(author, "username")
    is_bot = author.get("bot") is True or _BOT.fullmatch(name) is not None
    return {"login": name, "type": "Bot" if is_bot else "User"}


def _commit(item: Json) -> JsonValue:
    return {
        "sha": item.get("id"),
        "commit": {
            "message": item.get("message"),
            "author": {"date": item.get("authored_date")},
            "committer": {"date": item.get("committed_date")},
        },
        "parents": [{"sha": parent} for parent in _list(item.get("parent_ids"))],
    }


def _named(reference: str) -> JsonValue:
    """`group/name#12` as GraphQL names an issue."""
    repo, _, own = reference.partition("#")
    return {"number": int(own) if re.fullmatch(r"\d{1,9}", own) else None, "repository": {"full_name": repo}}


def _note(note: Json, address: str) -> Json:
    """A note as a comment."""
    return {
        "id": note.get("id"),
        "user": _user(node(note, "author")),
        "body": note.get("body"),
        "created_at": note.get("created_at"),
        "html_url": f"{address}#note_{number(note, 'id')}",
    }


def _discussed(discussions: Sequence[Json], address: str, refs: Json) -> Raw:
    """The comments on lines with their threads, and the conversation."""
    comments, threads, conversation = list[JsonValue](), list[JsonValue](), list[JsonValue]()
    for one in discussions:
        notes = nodes(one, "notes")
        said = [note for note in notes if flag(note, "system") is not True]
        place = _place(node(said[0], "position")) if said else {}
        if not place:
            conversation += [dict(_note(note, address)) for note in said]
            continue
        root = number(said[0], "id")
        moved = any(_OUTDATED.fullmatch(text(note, "body")) for note in notes if flag(note, "system"))
        current = all(node(said[0], "position").get(name) == refs.get(name) for name in ("head_sha", "base_sha"))
        is_outdated = moved or not current
        opening = {**_note(said[0], address), **place, "line": None if is_outdated else place["original_line"]}
        comments += [opening, *({**_note(note, address), **place, "in_reply_to_id": root} for note in said[1:])]
        thread: Raw = {"comments": {"nodes": [{"databaseId": root}]}, "isOutdated": is_outdated}
        if any(flag(note, "resolvable") for note in said):
            resolver = node(said[0], "resolved_by")
            thread["isResolved"] = all(flag(note, "resolved") for note in said if flag(note, "resolvable"))
            thread["resolvedBy"] = {"__typename": "User", **dict(node(_user(resolver)))} if resolver else None
        threads.append(thread)
    return {"comments": comments, "threads": threads, "conversation": conversation}


def _place(position: Json) -> Json:
    """A position as the place of a comment; empty where there is none."""
    new, old = line(position, "new_line"), line(position, "old_line")
    side, end = ("old", old) if new is None and old is not None else ("new", new)
    path = text(position, f"{side}_path") or text(position, "new_path")
    if not path:
        return {}
    start = line(position, "line_range", "start", f"{side}_line")
    return {
        "path": path,
        "side": "LEFT" if side == "old" else "RIGHT",
        "original_line": end,
        "original_start_line": start,
        "original_commit_id": position.get("head_sha"),
        "subject_type": "line" if end is not None else "file",
    }


def _kind(note: Json) -> tuple[str, re.Match[str]] | None:
    """What a system note tells."""
    body = text(note, "body")[:_LONGEST].strip() if flag(note, "system") is True else ""
    tried = ((kind, words.fullmatch(body)) for kind, words in _EVENTS.items())
    return next(((kind, found) for kind, found in tried if found is not None), None)


def _timeline(notes: Sequence[Json], repo: str) -> Raw:
    """The system notes that tell an event, and when the description was last edited."""
    events, edited = list[JsonValue](), ""
    for note in notes:
        told = _kind(note)
        if told is None or told[0] in _STATES:
            continue
        kind, found = told
        if kind == "edited":
            edited = max(edited, text(note, "created_at"))
            continue
        event: Raw = {"event": kind, "created_at": note.get("created_at"), "actor": _user(node(note, "author"))}
        if kind == "renamed":
            event["rename"] = {"from": _MARKS.sub("", found["before"])}
        if kind == "cross-referenced":
            source = node(_named(f"{found['repo'] or repo}#{found['number']}"))
            event["source"] = {**source, "pull_request": {}} if found["mark"] == "!" else dict(source)
        events.append(event)
    return {"timeline": events, "edited": edited}


def _reviews(notes: Sequence[Json], approvals: Sequence[Json]) -> list[JsonValue]:
    """Approvals and requests for changes, from system notes; approvals that none tells follow, without a time."""
    found: list[JsonValue] = []
    for note in notes:
        if (told := _kind(note)) is not None and (state := _STATES.get(told[0])):
            found.append({**_note(note, ""), "html_url": "", "body": "", "state": state})
    known = {text(node(one), "user", "login") for one in found}
    for one in approvals:
        user = node(one, "user")
        if text(user, "username") not in known:
            own: Raw = {"node_id": f"approval-{text(user, 'username')}", "user": _user(user), "state": "APPROVED"}
            found.append({**own, "created_at": one.get("approved_at")})
    return found
