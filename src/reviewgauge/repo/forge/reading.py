"""Reads everything about a pull request from a forge as one JSON object, in the shape of the archive.

    {"repo": "owner/name", "pull": {}, "commits": [], "comments": [], "reviews": [], "conversation": [],
     "timeline": [], "threads": [], "events": [], "closing": [], "edited": "", "files": [], "merge_base": "",
     "states": [], "issues": [], "languages": {}}

`pull` is the answer of `GET pulls/N`; `commits`, `comments` (on lines), `reviews` and `files` those below it;
`conversation` and `timeline` those of `issues/N/comments` and `issues/N/timeline`; `threads`, `events` and `closing`
are nodes of GraphQL (`reviewThreads`, `timelineItems`, `closingIssuesReferences`), and `edited` is its `lastEditedAt`,
empty for never: REST has none of these. GraphQL needs a token; with one, `timeline` is not requested. `files` and
`merge_base` (the commit that they start from) are of the final state; `states` are the other commented ones with
`head`, `base`, `pushed`, `commits` and `files`, where git has them. `issues` hold `issue`, `comments` and `timeline`.

Source: https://docs.github.com/en/graphql/reference/objects. Each query pages through one connection by `$after`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

from pydantic import JsonValue

from reviewgauge.core.json_reader import Json, flag, node, nodes, number, text
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.repo.forge.access import is_repository
from reviewgauge.repo.forge.client import Forge
from reviewgauge.repo.forge.replies import Unavailable
from reviewgauge.repo.forge.timeline import named

Raw = dict[str, JsonValue]
_FIRST = 100  # nodes a page
_MOST_PAGES = 200
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class PullReader:
    """Reads pull requests of one repository. `repo` is its current name, also where an old one was given."""

    def __init__(self, forge: Forge, repo: str, version: str = "") -> None:
        """`version` names the crawl. Raises Unavailable where the repository is gone."""
        self.forge, self.version = forge, version
        self.about = node(forge.get(f"repos/{repo}", version=version))
        present = text(self.about, "full_name")
        self.repo = present if is_repository(present) else repo
        self._languages: JsonValue = None
        self._graphql = forge.authenticated

    def listed(self, *, state: str = "all", version: str = "") -> Iterator[Json]:
        """The pull requests as `GET pulls` lists them, newest first."""
        asked = {"state": state, "sort": "created", "direction": "desc"}
        for item in self.forge.pages(f"repos/{self.repo}/pulls", asked, version=version):
            yield node(item)

    def read(self, pull_number: int, version: str = "") -> Raw:
        """One pull request without files and issues. `version` is its `updated_at` where that is known."""
        path = f"repos/{self.repo}/pulls/{pull_number}"
        pull = node(self.forge.get(path, version=version))
        version = text(pull, "updated_at") or version
        issue_path = f"repos/{self.repo}/issues/{pull_number}"
        commented = number(pull, "review_comments") != 0
        raw: Raw = {"repo": self.repo, "pull": dict(pull), "languages": self.languages}
        raw["commits"] = self._all(f"{path}/commits", version)
        raw["comments"] = self._all(f"{path}/comments", version) if commented else []
        raw["reviews"] = self._all(f"{path}/reviews", version)
        raw["conversation"] = self._all(f"{issue_path}/comments", version) if number(pull, "comments") != 0 else []
        if not self._graph(raw, pull_number, version, commented):
            self.forge.spent.without_graphql += self.forge.authenticated
            raw["timeline"] = self._all(f"{issue_path}/timeline", version)
        return raw

    def files(self, raw: Raw) -> JsonValue:
        """The changed files of the final state; large ones have no patch."""
        pull_number, version = number(raw, "pull", "number"), text(raw, "pull", "updated_at")
        return self._all(f"repos/{self.repo}/pulls/{pull_number}/files", version)

    def compared(self, base: str, head: str) -> Json:
        """The comparison of `head` with its merge base with `base`: `merge_base_commit`, `files`, `commits`.

        Empty where one of them is not a full commit id.
        """
        if not _ID.fullmatch(base) or not _ID.fullmatch(head):
            return {}
        return node(self.forge.get(f"repos/{self.repo}/compare/{base}...{head}", version="content"))

    @property
    def languages(self) -> JsonValue:
        """Bytes of code by language."""
        if self._languages is None:
            self._languages = self.forge.get(f"repos/{self.repo}/languages", version=self.version)
        return self._languages

    def _all(self, path: str, version: str) -> JsonValue:
        return list(self.forge.pages(path, version=version))

    def _graph(self, raw: Raw, pull_number: int, version: str, commented: bool) -> bool:
        """Add what only GraphQL has; False where it is not available."""
        if not self._graphql:
            return False
        try:
            events, pull = self._connection(TIMELINE, "timelineItems", pull_number, version)
            threads = self._connection(THREADS, "reviewThreads", pull_number, version)[0] if commented else []
        except Unavailable as error:  # REST has the rest
            self._graphql = not error.of_server
            return False
        closing: list[JsonValue] = [dict(item) for item in nodes(pull, "closingIssuesReferences", "nodes")]
        raw |= {"events": events, "closing": closing, "threads": threads, "edited": text(pull, "lastEditedAt")}
        return True

    def _connection(self, query: str, name: str, pull_number: int, version: str) -> tuple[list[JsonValue], Json]:
        """All nodes of a connection, and the pull request of the first page."""
        owner, _, repo = self.repo.partition("/")
        found: list[JsonValue] = []
        pull: Json = {}
        after: str | None = None
        for _ in range(_MOST_PAGES):
            variables: Raw = {"owner": owner, "name": repo, "number": pull_number, "first": _FIRST, "after": after}
            page = node(self.forge.graphql(query, variables, version=version), "repository", "pullRequest")
            if not isinstance(node(page, name).get("nodes"), list):  # unknown is not the same as none
                raise Failed(FailureKind.REQUEST, f"GraphQL gives no {name} of {self.repo}#{pull_number}")
            pull = pull or page
            found += [dict(item) for item in nodes(page, name, "nodes")]
            after = text(page, name, "pageInfo", "endCursor")
            if not flag(page, name, "pageInfo", "hasNextPage") or not after:
                break
        return found, pull


def read_issue(forge: Forge, repo: str, issue_number: int, *, version: str = "") -> Raw:
    """An issue with its comments and timeline. Raises Unavailable where it is gone.

    `version` names the crawl: within one, an issue is requested once.
    """
    path = f"repos/{repo}/issues/{issue_number}"
    issue = node(forge.get(path, version=version))
    repo = named(issue).partition("#")[0] or repo
    updated = text(issue, "updated_at")
    if "pull_request" in issue:  # a pull request, which shares the numbers of issues
        return {"repo": repo, "issue": dict(issue), "comments": [], "timeline": []}
    return {
        "repo": repo,
        "issue": dict(issue),
        "comments": list(forge.pages(f"{path}/comments", version=updated)) if number(issue, "comments") != 0 else [],
        "timeline": list(forge.pages(f"{path}/timeline", version=updated)),
    }


THREADS = files(__package__).joinpath("threads.graphql").read_text("utf-8")
TIMELINE = files(__package__).joinpath("timeline.graphql").read_text("utf-8")
