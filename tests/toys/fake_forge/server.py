"""The forge itself: a real HTTP server that answers REST, GraphQL and git for scripted projects, within limits.

    with serve(tmp_path, PROJECT) as forge:
        forge.url                    the address of the REST API, with GraphQL at /graphql and git at /owner/name.git
        forge.troubles.append(...)   what goes wrong, see `troubles`

Every answer carries rate-limit headers and an ETag; lists come in pages with a `Link` header.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from fake_forge import git_http, routes
from fake_forge.accounts import Json
from fake_forge.documents import Documents
from fake_forge.git_side import make_project
from fake_forge.graphql import execute
from fake_forge.graphql_types import root
from fake_forge.script import Project
from fake_forge.troubles import Answer, Trouble

TOKEN = "ghp_a_token_for_tests"


@dataclass(frozen=True)
class Asked:
    """One request that came in. `path` has its query; `resource` is the limit that it counts against."""

    method: str
    path: str
    headers: Mapping[str, str]
    resource: str
    status: int = 0


@dataclass
class Limit:
    """What a token may ask of one resource."""

    limit: int = 5000
    remaining: int = 5000
    resets: float = 0.0


@dataclass
class Forge:
    """A running forge. `asked` is every request in order; `clock` says what time it is there."""

    folder: Path
    projects: dict[str, Documents]
    moved: dict[str, str]
    tokens: set[str] = field(default_factory=lambda: {TOKEN})
    troubles: list[Trouble] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    limits: dict[tuple[str, str], Limit] = field(default_factory=dict)
    clock: Callable[[], float] = time.time
    found: list[Json] = field(default_factory=list)
    url: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def paths(self, containing: str = "") -> list[str]:
        """The paths that were asked for."""
        return [one.path for one in self.asked if containing in one.path]

    def git_dir(self, name: str) -> Path:
        """The repository of a project."""
        return self.folder / f"{name}.git"

    def limit(self, token: str, resource: str) -> Limit:
        """What is left to `token`."""
        most = {"core": 5000 if token else 60, "search": 30 if token else 10, "graphql": 5000}[resource]
        found = self.limits.setdefault((token, resource), Limit(most, most))
        if found.resets <= self.clock():
            found.remaining, found.resets = found.limit, self.clock() + 3600
        return found


@contextmanager
def serve(folder: Path, *projects: Project) -> Iterator[Forge]:
    """A running forge with these projects; their repositories lie below `folder`."""
    server = _Server()
    address = f"http://127.0.0.1:{server.server_port}"
    made = {one.name: Documents(make_project(one, folder / f"{one.name}.git"), address) for one in projects}
    moved = {old: one.name for one in projects for old in one.former}
    server.forge = Forge(folder, made, moved, url=address)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server.forge
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    forge: Forge

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._handle(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            self._handle(self._chunks())
        else:
            self._handle(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _handle(self, body: bytes) -> None:
        forge = self.server.forge
        path = self.path.removeprefix("/api/v3") if self.path.startswith("/api/v3/") else self.path
        if re.match(r"/[^/]+/[^/]+\.git/", path):
            self._write(git_http.answer(forge.folder, self.command, path, dict(self.headers), body))
            return
        names = {name.lower(): value for name, value in self.headers.items()}
        graphql = path in ("/graphql", "/api/graphql")
        resource = "graphql" if graphql else "search" if path.startswith("/search/") else "core"
        asked = Asked(self.command, path, names, resource)
        with forge.lock:
            answer = self._answer(forge, asked, body)
            forge.asked.append(Asked(asked.method, path, names, resource, answer.status))
        time.sleep(answer.delay)
        self._write(answer)

    def _answer(self, forge: Forge, asked: Asked, body: bytes) -> Answer:
        given = asked.headers.get("authorization", "")
        token = given.removeprefix("Bearer ").removeprefix("token ")
        if given and token not in forge.tokens:
            return _json(
                {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest", "status": "401"},
                401,
            )
        for trouble in forge.troubles:
            if (wrong := trouble.strike(asked.path, forge.clock(), forge.tokens)) is not None:
                return wrong
        limit = forge.limit(token, asked.resource)
        if limit.remaining <= 0:
            return _limited(limit, asked.resource, forge.clock())
        if asked.resource == "graphql":
            if not token:
                return _json({"message": "This endpoint requires you to be authenticated."}, 401)
            answer = _graphql(forge, limit, body)
        else:
            answer = routes.answer(forge.projects, forge.moved, forge.found, forge.url, asked.path)
        return self._with_headers(forge, asked, limit, answer)

    def _with_headers(self, forge: Forge, asked: Asked, limit: Limit, answer: Answer) -> Answer:
        etag = f'W/"{hashlib.sha256(answer.body).hexdigest()[:32]}"'
        same = answer.status == 200 and asked.method == "GET" and asked.headers.get("if-none-match") == etag
        if not same:  # an unchanged answer costs nothing
            limit.remaining -= 1
        headers = {
            **answer.headers,
            **_limit_headers(limit, asked.resource),
            "Date": formatdate(forge.clock(), usegmt=True),
        }
        if answer.status == 200 and asked.method == "GET":
            headers["ETag"] = etag
        return Answer(304, b"", headers) if same else Answer(answer.status, answer.body, headers, answer.delay)

    def _write(self, answer: Answer) -> None:
        if answer.status == 0:
            self.close_connection = True
            return
        self.send_response_only(answer.status)
        for name, value in {"Content-Type": "application/json; charset=utf-8", **answer.headers}.items():
            self.send_header(name, value)
        if answer.status != 304:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)


def _json(value: Json, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode())


def _graphql(forge: Forge, limit: Limit, body: bytes) -> Answer:
    try:
        sent = json.loads(body)
    except ValueError:
        return _json({"message": "Problems parsing JSON"}, 400)

    def find(name: str) -> Documents | None:
        return forge.projects.get(forge.moved.get(name, name))

    left = {"limit": limit.limit, "remaining": limit.remaining - 1, "used": limit.limit - limit.remaining + 1}
    return _json(execute(sent["query"], sent.get("variables") or {}, root(find, lambda: left)))


def _limit_headers(limit: Limit, resource: str) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": str(limit.limit),
        "X-RateLimit-Remaining": str(max(0, limit.remaining)),
        "X-RateLimit-Used": str(limit.limit - limit.remaining),
        "X-RateLimit-Reset": str(int(limit.resets)),
        "X-RateLimit-Resource": resource,
    }


def _limited(limit: Limit, resource: str, now: float) -> Answer:
    body: Json
    if resource == "graphql":
        body = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."}]}
        return Answer(
            200, json.dumps(body).encode(), {**_limit_headers(limit, resource), "Date": formatdate(now, usegmt=True)}
        )
    body = {"message": "API rate limit exceeded for user ID 1.", "documentation_url": "https://docs.github.com/rest"}
    return Answer(
        403, json.dumps(body).encode(), {**_limit_headers(limit, resource), "Date": formatdate(now, usegmt=True)}
    )
