"""One comment on the pull request (GitHub) or merge request (GitLab) of a CI job, which its next run replaces.

It is found again by a hidden first line, among the comments of those who may write to the repository: anybody can copy
that line. Sources: https://docs.github.com/en/rest/issues/comments, https://docs.gitlab.com/api/notes/, and the
variables that https://docs.github.com/en/actions/reference/workflows-and-actions/variables and
https://docs.gitlab.com/ci/variables/predefined_variables/ name.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from reviewgauge.core.errors import UserError
from reviewgauge.core.json_reader import node, number, text
from reviewgauge.core.specs import load
from reviewgauge.repo.forge.access import read_token
from reviewgauge.repo.forge.api import ForgeKind
from reviewgauge.repo.forge.replies import Broken, Clock, Limited, TooLarge, Transport, check_status, error_message

LONGEST = 60_000  # characters; GitHub takes 65,536
MOST_PAGES = 50  # of 100 comments
_NAME = re.compile(r"\w+(?:[.-]\w+)*")
_MEMBERS = ("OWNER", "MEMBER", "COLLABORATOR")


@dataclass(frozen=True)
class _Api:
    """Requests to a forge's REST API with a token; each is made once, as the next run of the job comes anyway."""

    root: str
    headers: Mapping[str, str]
    transport: Transport

    def ask(self, method: str, path: str, sent: JsonValue = None) -> JsonValue:
        """The JSON of an answer. Raises UserError."""
        shown = f"{method} {self.root}/{path.partition('?')[0]}"
        try:
            body = None if sent is None else json.dumps(sent).encode()
            reply = self.transport.send(method, f"{self.root}/{path}", self.headers, body)
            check_status(reply, error_message(reply) if reply.status >= 400 else "", shown, Clock().now())
            if reply.status >= 300:
                raise Broken(f"{reply.status}: a redirect, which is not followed")
            found: JsonValue = json.loads(reply.body)
        except Limited as limited:
            raise UserError(str(limited), remedy="the job's next run tries again") from None
        except (Broken, TooLarge) as error:
            raise UserError(f"{shown}: {error}", remedy="the job's next run tries again") from None
        except (ValueError, RecursionError):
            raise UserError(f"{shown}: the answer is not JSON: is this the address of the API?") from None
        return found


class _Discussion(NamedTuple):
    """Where comments are listed and made, where one is replaced and how, and whose comments may be replaced."""

    comments: str
    one: str
    replaces: str
    mine: Callable[[JsonValue], bool]


def first_line(name: str) -> str:
    """The hidden line by which the comment `name` is found again. Raises UserError."""
    if not _NAME.fullmatch(name) or len(name) > 60:
        raise UserError(f"{name!r} is not a name of a comment", remedy="letters and digits, such as gate or gate-swr")
    return f"<!-- reviewgauge {name} -->"


def post_comment(body: str, name: str) -> str:
    """Post `body`, in place of the comment `name` that an earlier run posted; returns what was done.

    The CI job's environment says where. Raises UserError where there is no comment to be made or the forge refuses.
    """
    marker = first_line(name)
    whole = f"{marker}\n{body}"
    if len(whole) > LONGEST:
        whole = whole[:LONGEST].rpartition("\n")[0] + "\n\ncut off: the job has the whole\n"
    gitlab = bool(os.environ.get("GITLAB_CI"))
    kind = load(ForgeKind, "gitlab" if gitlab else "github")
    root = kind.address(os.environ.get("CI_API_V4_URL" if gitlab else "GITHUB_API_URL", ""))
    merge = _merge_request() if gitlab else _pull_request(kind)
    if not (token := read_token(kind.variable, kind.variable)):
        raise UserError(f"there is no token in {kind.variable}")
    if not root.private:
        raise UserError(f"{root.rest} is not https, and the token would travel unencrypted")
    headers = {"User-Agent": "reviewgauge", "Content-Type": "application/json", **kind.headers(token)}
    transport = Transport(root.rest)
    try:
        api = _Api(root.rest, headers, transport)
        found = _notes(api, merge) if gitlab else _issue_comments(merge)
        earlier = next(
            (one for one in _listed(api, found) if text(one, "body").startswith(marker) and found.mine(one)), None
        )
        if earlier is None:
            api.ask("POST", found.comments, {"body": whole})
            return "commented"
        api.ask(found.replaces, f"{found.one}/{number(earlier, 'id')}", {"body": whole})
        return "comment updated"
    finally:
        transport.close()


def _pull_request(kind: ForgeKind) -> tuple[str, int]:
    """The repository and number of the pull request that the job is about."""
    if not os.environ.get("GITHUB_ACTIONS"):
        raise UserError("this is neither a job of GitHub Actions nor of GitLab CI")
    try:
        event: JsonValue = json.loads(Path(os.environ.get("GITHUB_EVENT_PATH", "")).read_text("utf-8"))
    except (OSError, ValueError):
        event = None
    at, repository = number(node(event, "pull_request"), "number"), os.environ.get("GITHUB_REPOSITORY", "")
    if at is None or not kind.is_repository(repository):
        raise UserError("this job is not about a pull request")
    return repository, at


def _merge_request() -> tuple[str, int]:
    """The project and number of the merge request that the job is about."""
    project, at = os.environ.get("CI_PROJECT_ID", ""), os.environ.get("CI_MERGE_REQUEST_IID", "")
    if not (project.isdecimal() and at.isdecimal()):
        raise UserError("this job is not about a merge request")
    return project, int(at)


def _issue_comments(pull: tuple[str, int]) -> _Discussion:
    def mine(comment: JsonValue) -> bool:  # a job's own token may not ask whose it is
        return text(comment, "user", "type") == "Bot" or text(comment, "author_association") in _MEMBERS

    issues = f"repos/{pull[0]}/issues"
    return _Discussion(f"{issues}/{pull[1]}/comments", f"{issues}/comments", "PATCH", mine)


def _notes(api: _Api, merge: tuple[str, int]) -> _Discussion:
    me = number(api.ask("GET", "user"), "id")
    notes = f"projects/{merge[0]}/merge_requests/{merge[1]}/notes"
    return _Discussion(notes, notes, "PUT", lambda note: me is not None and number(note, "author", "id") == me)


def _listed(api: _Api, found: _Discussion) -> Iterator[JsonValue]:
    """All comments, page by page until one is empty: a forge may give fewer to a page than it was asked for."""
    for page in range(1, MOST_PAGES + 1):
        comments = api.ask("GET", f"{found.comments}?per_page=100&page={page}")
        if not isinstance(comments, list):
            raise UserError("the forge's answer is not a list of comments")
        if not comments:
            return
        yield from comments
