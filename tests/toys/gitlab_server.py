"""A GitLab for tests: a real HTTP server with documents of its REST API v4, paged as GitLab pages, and git behind it.

    with serve(folder) as forge:
        forge.url                        the address of the server: `/api/v4/...` and `/acme/tools/shop.git`
        forge.documents["/merge_requests/1"]   an answer below the project, which a test may change
        forge.tamper                     changes the (status, headers, items) of a request before they go out

The shapes are those of docs.gitlab.com/api (merge_requests, discussions, merge_request_approvals, rest#pagination).
"""

from __future__ import annotations

import json
import re
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from git_project import head, run_git
from local_forge import git
from recorded_forge import git_answer

TOKEN = "glpat-a_token_for_tests"
NAME = "acme/tools/shop"
Sent = tuple[int, dict[str, str], Any]
Tamper = Callable[[str, Sent], Sent]


def person(name: str) -> dict[str, Any]:
    return {"id": len(name), "username": name, "name": name.title(), "state": "active", "locked": False}


@dataclass
class Gitlab:
    """A running GitLab. `asked` is every request of the API in order."""

    folder: Path
    documents: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    tamper: Tamper = lambda path, sent: sent
    url: str = ""
    heads: list[str] = field(default_factory=list)
    base: str = ""

    @property
    def git_dir(self) -> Path:
        return self.folder / f"{NAME}.git"


BEFORE = "def total(items):\n    return sum(items)\n"
_LOOP = "    for i in range(len(items) + 1):\n        amount += items[i]\n"
FIRST = f"def total(items):\n    amount = 0\n{_LOOP}    return amount\n"
SECOND = '"""Sums."""\n\n' + FIRST.replace("len(items) + 1", "len(items)")


def _fill(forge: Gitlab) -> None:
    """One merge request with two pushes; a discussion on the line that the second one mended, and one that stands."""
    folder = forge.git_dir
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    forge.base = _pushed(folder, "start", BEFORE, "2025-02-28T09:00:00Z")
    git(folder, "checkout", "-qb", "feature")
    forge.heads = [
        _pushed(folder, "Sum by hand", FIRST, "2025-03-01T08:00:00Z"),
        _pushed(folder, "Stop at the last one", SECOND, "2025-03-02T08:00:00Z"),
    ]
    git(folder, "checkout", "-q", "main")
    git(folder, "branch", "-qD", "feature")
    git(folder, "update-ref", "refs/merge-requests/1/head", forge.heads[1])
    web = f"https://gitlab.example.com/{NAME}"
    refs = {"base_sha": forge.base, "start_sha": forge.base, "head_sha": forge.heads[1]}
    merge = {
        "id": 900001, "iid": 1, "project_id": 5, "title": "Sum by hand", "description": "Closes #41", "state": "merged",
        "created_at": "2025-03-01T09:00:00.000Z", "updated_at": "2025-03-03T09:00:00.000Z",
        "merged_at": "2025-03-03T09:00:00.000Z", "closed_at": None, "target_branch": "main", "source_branch": "feature",
        "user_notes_count": 4, "author": person("ann"), "source_project_id": 5, "target_project_id": 5,
        "labels": ["pricing"], "draft": False, "sha": forge.heads[1], "merge_commit_sha": None,
        "squash_commit_sha": None, "web_url": f"{web}/-/merge_requests/1", "changes_count": "1", "diff_refs": refs,
    }  # fmt: skip
    opened = {**merge, "iid": 2, "state": "opened", "merged_at": None, "created_at": "2025-03-02T09:00:00.000Z"}
    forge.documents = {
        "": {"id": 5, "path_with_namespace": NAME, "default_branch": "main", "visibility": "public", "web_url": web},
        "/languages": {"Python": 97.5, "Shell": 2.5},
        "/merge_requests": [opened, merge],
        "/merge_requests/1": merge,
        "/merge_requests/1/commits": [_commit(folder, one) for one in reversed(forge.heads)],
        "/merge_requests/1/versions": [_version(forge, at) for at in (1, 0)],
        "/merge_requests/1/closes_issues": [{"id": 7, "iid": 41, "references": {"full": f"{NAME}#41"}}],
        "/merge_requests/1/approvals": {
            "approved_by": [{"user": person("mel")}, {"user": person("joe"), "approved_at": "2025-03-02T15:00:00.000Z"}]
        },
        "/merge_requests/1/discussions": _discussions(forge),
        "/issues/41": {
            "id": 7,
            "iid": 41,
            "title": "Totals are wrong",
            "description": "By one item.",
            "state": "closed",
            "author": person("eve"),
            "created_at": "2025-02-01T09:00:00.000Z",
            "updated_at": "2025-03-03T09:00:00.000Z",
            "closed_at": "2025-03-03T09:00:00.000Z",
            "web_url": f"{web}/-/issues/41",
            "labels": [],
        },
        "/issues/41/discussions": [
            _talk("i1", [_note(301, "eve", "It happens on Mondays.", "2025-02-01T10:00:00.000Z")]),
            _talk("i2", [_note(302, "ann", "mentioned in merge request !1", "2025-03-01T09:00:00.000Z", system=True)]),
        ],
    }


def _pushed(folder: Path, message: str, content: str, date: str) -> str:
    (folder / "app.py").write_text(content)
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-qm", message, date=date)
    return head(folder)


def _commit(folder: Path, own: str) -> dict[str, Any]:
    subject, when = run_git(folder, "show", "-s", "--format=%s%n%cI", own).split("\n")[:2]
    return {
        "id": own, "short_id": own[:8], "title": subject, "message": f"{subject}\n", "author_name": "n",
        "author_email": "e@example.org", "authored_date": when, "committed_date": when, "parent_ids": [],
    }  # fmt: skip


def _version(forge: Gitlab, at: int) -> dict[str, Any]:
    return {
        "id": 100 + at, "head_commit_sha": forge.heads[at], "base_commit_sha": forge.base,
        "start_commit_sha": forge.base, "created_at": f"2025-03-0{at + 1}T09:00:00.000Z", "merge_request_id": 900001,
        "state": "collected", "real_size": "1",
    }  # fmt: skip


def _note(own: int, author: str, body: str, when: str, **more: Any) -> dict[str, Any]:
    resolvable = {"resolvable": "resolved" in more, **more}
    return {
        "id": own,
        "type": "DiffNote" if "position" in more else None,
        "body": body,
        "author": person(author),
        "created_at": when,
        "updated_at": when,
        "system": False,
        "noteable_type": "MergeRequest",
        "noteable_iid": 1,
        **resolvable,
    }


def _talk(own: str, notes: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": own.ljust(40, "0"), "individual_note": len(notes) == 1, "notes": notes}


def _discussions(forge: Gitlab) -> list[dict[str, Any]]:
    def at(commit: str, line: int, start: int | None = None) -> dict[str, Any]:
        sides = [
            {"line_code": f"a_{n}_{n}", "type": "new", "old_line": None, "new_line": n} for n in (start or line, line)
        ]
        shas = {"base_sha": forge.base, "start_sha": forge.base, "head_sha": commit}
        where = {
            "old_path": "app.py", "new_path": "app.py", "position_type": "text", "old_line": None, "new_line": line,
        }  # fmt: skip
        return {**shas, **where, "line_range": {"start": sides[0], "end": sides[1]}}

    first, last = at(forge.heads[0], 3), at(forge.heads[1], 7, 6)
    changed = "changed this line in [version 2 of the diff](/acme/tools/shop/-/merge_requests/1/diffs?diff_id=101)"
    solved = {"resolved": True, "resolved_by": person("ann"), "resolved_at": "2025-03-02T09:30:00.000Z"}
    pushed = "added 1 commit\n\n<ul><li>0a1b2c3d - Stop at the last one</li></ul>"
    return [
        _talk("d1", [_note(201, "bob", "This reads past the end.", "2025-03-01T10:00:00.000Z", position=first,
            **solved), _note(202, "ann", "Fixed.", "2025-03-02T09:20:00.000Z", position=first, **solved), _note(203,
            "ann", changed, "2025-03-02T09:00:00.000Z", system=True)]),
        _talk("d2", [_note(204, "bob", "Why not sum()?", "2025-03-01T11:00:00.000Z", position=last, resolved=False)]),
        _talk("d3", [_note(205, "mel", "approved this merge request", "2025-03-02T12:00:00.000Z", system=True)]),
        _talk("d4", [_note(206, "ann", pushed, "2025-03-02T09:00:00.000Z", system=True)]),
        _talk("d5", [_note(207, "ann", "requested review from @bob", "2025-03-01T09:10:00.000Z", system=True)]),
        _talk("d6", [_note(208, "ann", "changed title from **{-Draft: -}Sum** to **Sum{+ by hand+}**",
            "2025-03-01T09:20:00.000Z", system=True)]),
        _talk("d7", [_note(209, "eve", "When is this out?", "2025-03-02T13:00:00.000Z")]),
    ]  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._handle(b"")

    def do_POST(self) -> None:
        self._handle(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _handle(self, body: bytes) -> None:
        forge = self.server.forge
        names = {name.lower(): value for name, value in self.headers.items()}
        if ".git/" in self.path:
            answer = git_answer(forge.folder, self.command, self.path, names, body)
            self._say(answer.status, dict(answer.headers), answer.body)
            return
        forge.asked.append(self.path)
        if names.get("private-token") != TOKEN:
            self._say(401, {}, b'{"message":"401 Unauthorized"}')
            return
        status, headers, items = forge.tamper(self.path, _answer(forge, self.path))
        self._say(status, headers, json.dumps(items).encode())

    def _say(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in {"Content-Type": "application/json", **headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _answer(forge: Gitlab, path: str) -> Sent:
    where, _, query = path.partition("?")
    found = re.fullmatch(rf"/api/v4/projects/(?:5|{re.escape(urllib.parse.quote(NAME, safe=''))})(/.*)?", where)
    document = forge.documents.get(found[1] or "") if found else None
    if document is None:
        return 404, {}, {"message": "404 Not Found"}
    if not isinstance(document, list):
        return 200, {}, document
    wanted = dict(urllib.parse.parse_qsl(query))
    if (state := wanted.get("state", "all")) != "all":
        document = [one for one in document if one["state"] == state]
    size, page = int(wanted.get("per_page", 20)), int(wanted.get("page", 1))
    pages = max(1, -(-len(document) // size))
    headers = {"X-Page": page, "X-Per-Page": size, "X-Total": len(document), "X-Total-Pages": pages, "X-Next-Page": ""}
    links = []
    for rel, to in (("first", 1), ("last", pages), *((("next", page + 1),) if page < pages else ())):
        links.append(f'<{forge.url}{where}?{urllib.parse.urlencode({**wanted, "page": to})}>; rel="{rel}"')
        headers |= {"X-Next-Page": to} if rel == "next" else {}
    sent = {name: str(value) for name, value in headers.items()} | {"Link": ", ".join(links)}
    return 200, sent, document[(page - 1) * size : page * size]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    forge: Gitlab

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not news."""


@contextmanager
def serve(folder: Path) -> Iterator[Gitlab]:
    """A running GitLab whose repository lies below `folder`."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.forge = Gitlab(folder, url=f"http://127.0.0.1:{server.server_port}")
    _fill(server.forge)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server.forge
    finally:
        server.shutdown()
        server.server_close()
