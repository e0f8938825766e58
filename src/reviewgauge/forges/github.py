"""GitHub, and GitHub Enterprise: REST, with GraphQL for what REST does not tell.

Source: https://docs.github.com/en/rest and https://docs.github.com/en/graphql/reference/objects; for `/api/v3` and
`/api/graphql` https://docs.github.com/en/enterprise-server/rest/using-the-rest-api. Each query pages through one
connection by `$after`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import ClassVar

from pydantic import JsonValue

from reviewgauge.core.json_reader import Json, flag, node, nodes, number, text
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.repo.forge.access import Address, is_local, split_address
from reviewgauge.repo.forge.api import ForgeKind, PullReader
from reviewgauge.repo.forge.client import Forge
from reviewgauge.repo.forge.reading import Raw
from reviewgauge.repo.forge.replies import Unavailable
from reviewgauge.repo.forge.timeline import named

PUBLIC = "https://api.github.com"
_REPO = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_FIRST = 100  # nodes a page
_MOST_PAGES = 200
_QUERIES = files(__package__)
THREADS = _QUERIES.joinpath("threads.graphql").read_text("utf-8")
TIMELINE = _QUERIES.joinpath("timeline.graphql").read_text("utf-8")


@dataclass(frozen=True)
class Github(ForgeKind):
    """github.com, or the Enterprise server at `https://HOST/api/v3`, or `https://HOST` for short."""

    variable: ClassVar[str] = "GITHUB_TOKEN"

    def address(self, api: str) -> Address:
        """An address of this machine is taken as it is."""
        root, path = split_address(api or PUBLIC, "https://HOST/api/v3 for GitHub Enterprise")
        if root + path == PUBLIC:
            return Address(PUBLIC, "https://github.com", f"{PUBLIC}/graphql")
        path = path or ("" if is_local(root) else "/api/v3")
        above = path.removesuffix("/v3") if path.endswith("/api/v3") else path
        return Address(root + path, root, f"{root}{above}/graphql")

    def headers(self, token: str) -> Mapping[str, str]:
        """The version of the API, and the token."""
        found = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        return found | ({"Authorization": f"Bearer {token}"} if token else {})

    def is_repository(self, name: str) -> bool:
        """Owner and name."""
        return _REPO.fullmatch(name) is not None and not any(set(part) <= {"."} for part in name.split("/"))

    def reader(self, forge: Forge, repo: str) -> PullReader:
        """Asks for the repository first."""
        return _GithubReader(forge, repo)


class _GithubReader(PullReader):
    """Reads by REST and, with a token, GraphQL."""

    def __init__(self, forge: Forge, repo: str) -> None:
        """Raises Unavailable where the repository is gone."""
        self.forge, self.version = forge, repr(forge.now)  # within one crawl nothing is asked twice
        self.about = node(forge.get(f"repos/{repo}", version=self.version))
        present = text(self.about, "full_name")
        self.repo = present if forge.kind.is_repository(present) else repo
        self.private, self.branch = self.about.get("private") is True, text(self.about, "default_branch")
        self.url = f"{forge.address.web}/{self.repo}.git"

    def listed(self, state: str) -> Iterator[Json]:
        """The pull requests as `GET pulls` lists them, newest first."""
        asked = {"state": state, "sort": "created", "direction": "desc"}
        return map(node, self.forge.pages(f"repos/{self.repo}/pulls", asked, version=self.version))

    def read(self, pull_number: int, version: str = "") -> Raw:
        """One pull request without files and issues. `version` is its `updated_at` where that is known."""
        path = f"repos/{self.repo}/pulls/{pull_number}"
        pull = node(self.forge.get(path, version=version))
        version = text(pull, "updated_at") or version
        issue_path = f"repos/{self.repo}/issues/{pull_number}"
        commented = number(pull, "review_comments") != 0
        raw: Raw = {"repo": self.repo, "pull": dict(pull)}
        raw["languages"] = self.forge.get(f"repos/{self.repo}/languages", version=self.version)
        raw["commits"] = self._all(f"{path}/commits", version)
        raw["comments"] = self._all(f"{path}/comments", version) if commented else []
        raw["reviews"] = self._all(f"{path}/reviews", version)
        raw["conversation"] = self._all(f"{issue_path}/comments", version) if number(pull, "comments") != 0 else []
        try:
            known = self._graph(pull_number, version, commented) if self.forge.authenticated else {}
        except Unavailable:  # REST has the rest
            self.forge.spent.without_graphql += 1
            known = {}
        return {**raw, **(known or {"timeline": self._all(f"{issue_path}/timeline", version)})}

    def _all(self, path: str, version: str) -> JsonValue:
        return list(self.forge.pages(path, version=version))

    def _graph(self, pull_number: int, version: str, commented: bool) -> Raw:
        """What only GraphQL has."""
        events, pull = self._connection(TIMELINE, "timelineItems", pull_number, version)
        threads = self._connection(THREADS, "reviewThreads", pull_number, version)[0] if commented else []
        closing: list[JsonValue] = [dict(item) for item in nodes(pull, "closingIssuesReferences", "nodes")]
        return {"events": events, "closing": closing, "threads": threads, "edited": text(pull, "lastEditedAt")}

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

    def read_issue(self, repo: str, issue_number: int) -> Raw:
        """An issue with its comments and timeline. Raises Unavailable where it is gone."""
        forge, path = self.forge, f"repos/{repo}/issues/{issue_number}"
        issue = node(forge.get(path, version=self.version))
        found: Raw = {"repo": named(issue).partition("#")[0] or repo, "issue": dict(issue)}
        if "pull_request" not in issue:  # a pull request shares the numbers of issues
            updated = text(issue, "updated_at")
            if number(issue, "comments") != 0:
                found["comments"] = list(forge.pages(f"{path}/comments", version=updated))
            found["timeline"] = list(forge.pages(f"{path}/timeline", version=updated))
        return found
