"""Reads everything about a pull request as one JSON object: from a forge, or out of a dump, which is lines of these.

    {"repo": "owner/name", "pull": {}, "commits": [], "comments": [], "reviews": [], "conversation": [],
     "timeline": [], "threads": [], "events": [], "closing": [], "edited": "", "files": [], "merge_base": "",
     "issues": [], "languages": {}}

`pull` is the answer of `GET pulls/N`; `commits`, `comments` (on lines) and `reviews` those below it;
`conversation` and `timeline` those of `issues/N/comments` and `issues/N/timeline`; `threads`, `events` and `closing`
are nodes of GraphQL (`reviewThreads`, `timelineItems`, `closingIssuesReferences`), and `edited` is its `lastEditedAt`,
empty for never: REST has none of these. GraphQL needs a token; with one, `timeline` is not requested. `files` (as
`GET pulls/N/files`) and `merge_base` (the commit that they start from) are of the final state, and a build takes them
from git. `issues` hold `issue`, `comments` and `timeline`.

Source: https://docs.github.com/en/graphql/reference/objects. Each query pages through one connection by `$after`.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO, cast

from pydantic import JsonValue

from reviewgauge.core.errors import BadInput, UserError, one_line
from reviewgauge.core.files import files_below
from reviewgauge.core.json_reader import Json, flag, node, nodes, number, text
from reviewgauge.core.parsing import lines, parse_json
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.repo.forge.access import is_repository
from reviewgauge.repo.forge.answers import without_addresses
from reviewgauge.repo.forge.client import Forge
from reviewgauge.repo.forge.replies import Unavailable
from reviewgauge.repo.forge.timeline import named

Raw = dict[str, JsonValue]
_FIRST = 100  # nodes a page
_MOST_PAGES = 200
_ENDINGS = (".jsonl", ".jsonl.gz")
_QUERIES = files(__package__)
THREADS = _QUERIES.joinpath("threads.graphql").read_text("utf-8")
TIMELINE = _QUERIES.joinpath("timeline.graphql").read_text("utf-8")


class PullReader:
    """Reads pull requests of one repository. `repo` is its current name, also where an old one was given."""

    def __init__(self, forge: Forge, repo: str) -> None:
        """Raises Unavailable where the repository is gone."""
        self.forge, self.version = forge, repr(forge.now)  # within one crawl nothing is asked twice
        self.about = node(forge.get(f"repos/{repo}", version=self.version))
        present = text(self.about, "full_name")
        self.repo = present if is_repository(present) else repo

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


def read_issue(reader: PullReader, repo: str, issue_number: int) -> Raw:
    """An issue with its comments and timeline. Raises Unavailable where it is gone."""
    forge, path = reader.forge, f"repos/{repo}/issues/{issue_number}"
    issue = node(forge.get(path, version=reader.version))
    found: Raw = {"repo": named(issue).partition("#")[0] or repo, "issue": dict(issue), "comments": [], "timeline": []}
    if "pull_request" not in issue:  # a pull request shares the numbers of issues
        updated = text(issue, "updated_at")
        if number(issue, "comments") != 0:
            found["comments"] = list(forge.pages(f"{path}/comments", version=updated))
        found["timeline"] = list(forge.pages(f"{path}/timeline", version=updated))
    return found


# --- dumps ---------------------------------------------------------------------------------------------------------


def read_archive(path: Path) -> Iterator[tuple[str, Raw]]:
    """(file and line, pull request) of a dump: a file of JSON lines (`.jsonl`, `.jsonl.gz`), or a folder of such files.

    It is hostile input: links are not followed, nothing is unpacked to disk, and a line that is too long is refused
    before it is held in memory. E-mail addresses are removed. Raises UserError for what is not a dump, and BadInput.
    """
    if path.is_dir():
        found = {file.relative_to(path).as_posix(): file for file in files_below(path) if not file.is_symlink()}
    elif path.is_file() and path.name.endswith(_ENDINGS):
        found = {path.name: path}
    else:
        problem = f"{path} is not a dump of pull requests" if path.exists() else f"there is no archive at {path}"
        raise UserError(problem, remedy="a .jsonl or .jsonl.gz file, or a folder (unpack a .zip or .tar first)")
    for name in sorted(name for name in found if name.endswith(_ENDINGS)):
        with found[name].open("rb") as stream:
            try:
                opened = cast(BinaryIO, gzip.GzipFile(fileobj=stream)) if name.endswith(".gz") else stream
                for line, raw in lines(opened, name):
                    where = f"{name}, line {line}"
                    value = parse_json(raw, where)
                    if not isinstance(value, dict):
                        raise BadInput(where, "is not an object")
                    yield where, cast(Raw, without_addresses(cast(JsonValue, value)))
            except RecursionError:
                raise BadInput(where, "is nested too deeply") from None
            except (OSError, EOFError, zlib.error) as error:
                problem = f"cannot be unpacked ({one_line(str(error), 100)})"
                raise BadInput(name, problem, remedy="is the file complete?") from None


def write_archive_line(stream: BinaryIO | gzip.GzipFile, raw: Json) -> None:
    """Add one pull request to a file of JSON lines."""
    stream.write(json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n")
