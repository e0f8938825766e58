"""A forge that says what one said: a real HTTP server of recorded REST and GraphQL answers, with the git behind them.

    with serve(tmp_path, "crawl") as forge:
        forge.url                    the address of the REST API, with GraphQL at /graphql and git at /owner/name.git
        forge.troubles.append(...)   what goes wrong: `missing`, `broken`, `revoked` ...
        forge.documents["pulls/1"]   an answer, which a test may change

Each recording is a JSON file of answers by path, with the objects of its repository as a pack beside it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import subprocess
import threading
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOKEN = "ghp_a_token_for_tests"
RECORDINGS = Path(__file__).with_name("recorded_forges")
_ALLOWED = {"uploadpack.allowAnySHA1InWant": "true", "uploadpack.allowFilter": "true", "gc.auto": "0"}
_NOT_FOUND = {"message": "Not Found", "status": "404"}


@dataclass(frozen=True)
class Answer:
    """What goes back. Status 0 closes the connection without a word; `delay` is seconds before it goes out."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass
class Trouble:
    """Strikes requests whose path matches `on`, from the one after the first `after` on, `times` times."""

    answer: Answer
    on: str = ""
    times: int = 1
    after: int = 0
    revokes: str = ""

    def strike(self, path: str, tokens: set[str]) -> Answer | None:
        """The answer that goes out instead of the right one; None where this does not strike."""
        if self.times <= 0 or not re.search(self.on, path):
            return None
        self.after -= 1
        if self.after >= 0:
            return None
        self.times -= 1
        tokens.discard(self.revokes)
        return self.answer


def secondary_limit(on: str = "", retry_after: int = 60) -> Trouble:
    """Too many requests at once."""
    words = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return Trouble(_json({"message": words}, 403, {"Retry-After": str(retry_after)}), on)


def revoked(token: str, on: str = "", after: int = 0) -> Trouble:
    """The token is taken back: this request is refused, and every later one with it."""
    return Trouble(_json({"message": "Bad credentials"}, 401), on, after=after, revokes=token)


def missing(on: str) -> Trouble:
    """It is not there, or not for this token."""
    return Trouble(_json(_NOT_FOUND, 404), on, times=10**9)


def broken(on: str = "", times: int = 1) -> Trouble:
    """The server fails, with a page that is not JSON."""
    return Trouble(Answer(502, b"<html><title>Unicorn!</title></html>", {"Content-Type": "text/html"}), on, times)


def refused_graphql(message: str, kind: str = "", times: int = 1, after: int = 0) -> Trouble:
    """GraphQL answers an error and no data, with status 200."""
    error = {"message": message, "path": ["repository", "pullRequest"], **({"type": kind} if kind else {})}
    return Trouble(_json({"data": None, "errors": [error]}), "graphql", times, after)


def hung_up(on: str = "") -> Trouble:
    """The line dies before an answer."""
    return Trouble(Answer(0), on)


def slow(on: str, seconds: float) -> Trouble:
    """The server fails, and takes its time over it."""
    body = json.dumps({"message": "We couldn't respond to your request in time."}).encode()
    return Trouble(Answer(504, body, delay=seconds), on)


@dataclass(frozen=True)
class Asked:
    """One request that was answered. `path` has its query."""

    method: str
    path: str
    status: int


@dataclass
class Forge:
    """A running forge. `asked` is every request in order, but those of git."""

    folder: Path
    name: str
    former: list[str]
    documents: dict[str, Any]
    graph: dict[str, Any]
    found: list[dict[str, Any]]
    tokens: set[str] = field(default_factory=lambda: {TOKEN})
    troubles: list[Trouble] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def paths(self, containing: str = "") -> list[str]:
        """The paths that were asked for."""
        return [one.path for one in self.asked if containing in one.path]

    @property
    def git_dir(self) -> Path:
        """The repository."""
        return self.folder / f"{self.name}.git"

    def reset(self) -> None:
        """Forget what was asked and what went wrong."""
        self.troubles.clear()
        self.asked.clear()
        self.tokens = {TOKEN}


@contextmanager
def serve(folder: Path, recording: str) -> Iterator[Forge]:
    """A running forge with what was recorded under that name; its repository lies below `folder`."""
    said = json.loads(gzip.decompress((RECORDINGS / f"{recording}.json.gz").read_bytes()))
    refs = said.pop("refs")
    server = _Server()
    server.forge = Forge(folder, **said, url=f"http://127.0.0.1:{server.server_port}")
    _unpack(server.forge.git_dir, RECORDINGS / f"{recording}.pack", refs)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server.forge
    finally:
        server.shutdown()
        server.server_close()


def _unpack(git_dir: Path, pack: Path, refs: str) -> None:
    for part in ("objects/pack", "refs/heads"):
        (git_dir / part).mkdir(parents=True)
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n")
    (git_dir / "packed-refs").write_text(refs)
    settings = "".join(f"[{key.partition('.')[0]}]\n\t{key.partition('.')[2]} = {on}\n" for key, on in _ALLOWED.items())
    (git_dir / "config").write_text(f"[core]\n\tbare = true\n{settings}")
    with pack.open("rb") as stream:
        subprocess.run(["git", "index-pack", "--stdin"], cwd=git_dir, stdin=stream, capture_output=True, check=True)


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
        chunked = self.headers.get("Transfer-Encoding", "").lower() == "chunked"
        self._handle(self._chunks() if chunked else self.rfile.read(int(self.headers.get("Content-Length", 0))))

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
        names = {name.lower(): value for name, value in self.headers.items()}
        if re.match(r"/[^/]+/[^/]+\.git/", path):
            answer = git_answer(forge.folder, self.command, path, names, body)
        else:
            with forge.lock:
                answer = self._answer(forge, path, names, body)
                forge.asked.append(Asked(self.command, path, answer.status))
                limit = {"X-RateLimit-Remaining": str(5000 - len(forge.asked))}
                limit["X-RateLimit-Reset"] = str(int(time.time()) + 3600)
                answer = replace(answer, headers={**limit, **answer.headers})
        time.sleep(answer.delay)
        if answer.status == 0:
            self.close_connection = True
            return
        self.send_response_only(answer.status)
        headers = {"Content-Type": "application/json; charset=utf-8", "Date": formatdate(usegmt=True), **answer.headers}
        if answer.status != 304:
            headers["Content-Length"] = str(len(answer.body))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def _answer(self, forge: Forge, path: str, names: Mapping[str, str], body: bytes) -> Answer:
        given = names.get("authorization", "")
        if given and given.removeprefix("Bearer ") not in forge.tokens:
            return _json({"message": "Bad credentials", "status": "401"}, 401)
        for trouble in forge.troubles:
            if (wrong := trouble.strike(path, forge.tokens)) is not None:
                return wrong
        if path.endswith("/graphql"):
            sent = json.loads(body)
            return _graphql(forge.graph, sent["query"], sent["variables"])
        found = _rest(forge, path)
        if found.status != 200:
            return found
        etag = f'W/"{hashlib.sha256(found.body).hexdigest()[:32]}"'
        if names.get("if-none-match") == etag:
            return Answer(304)
        return Answer(200, found.body, {**found.headers, "ETag": etag})


def _rest(forge: Forge, path: str) -> Answer:
    where, _, query = path.partition("?")
    wanted = dict(urllib.parse.parse_qsl(query))
    if (match := re.fullmatch(r"/repos/([^/]+/[^/]+)/languages", where)) is not None:
        for one in forge.found:
            if one["full_name"] == match[1]:
                return _json(one["_languages"])
    match = re.fullmatch(r"/repos/([^/]+/[^/]+)(?:/(.*))?", where)
    name, rest = (match[1], match[2] or "") if match is not None else ("", "")
    if name in forge.former:
        target = f"{forge.url}/repositories/1/{rest}".rstrip("/") + (f"?{query}" if query else "")
        return _json({"message": "Moved Permanently", "url": target}, 301, {"Location": target})
    if (match := re.fullmatch(r"/repositories/1(?:/(.*))?", where)) is not None:
        name, rest = forge.name, match[1] or ""
    document = forge.documents.get(urllib.parse.unquote(rest)) if name == forge.name else None
    if document is None:
        return _json(_NOT_FOUND, 404)
    if rest == "pulls":
        known = [one for one in document if wanted["state"] in ("all", one["state"])]
        document = sorted(known, key=lambda one: (one["created_at"], one["number"]), reverse=True)
    return _paged(document, wanted, forge.url + where) if isinstance(document, list) else _json(document)


def _paged(items: list[Any], wanted: Mapping[str, str], address: str) -> Answer:
    size, page = int(wanted.get("per_page", 30)), int(wanted.get("page", 1))
    some = items[(page - 1) * size : page * size]
    query = urllib.parse.urlencode({**wanted, "page": page + 1})
    links = {"Link": f'<{address}?{query}>; rel="next"'} if page * size < len(items) else {}
    return _json(some, 200, links)


def _graphql(graph: Mapping[str, Any], query: str, asked: Mapping[str, Any]) -> Answer:
    """A page of the connection that the query pages through, with all that was recorded beside it."""
    pull = graph[str(asked["number"])]
    name = next(name for name in ("reviewThreads", "timelineItems") if f"{name}(" in query)
    start = int(asked["after"] or 0)
    end = start + asked["first"]
    page = {"hasNextPage": end < len(pull[name]), "endCursor": str(end)}
    answer = {**pull, name: {"pageInfo": page, "nodes": pull[name][start:end]}}
    return _json({"data": {"repository": {"pullRequest": answer}}})


def git_answer(folder: Path, method: str, path: str, names: Mapping[str, str], body: bytes) -> Answer:
    """Git over HTTP, through git's own `http-backend`."""
    where, _, query = path.partition("?")
    environment = {
        "PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_PROJECT_ROOT": str(folder), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": where, "QUERY_STRING": query,
        "REQUEST_METHOD": method, "CONTENT_TYPE": names.get("content-type", ""), "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": names.get("content-encoding", ""), "GIT_PROTOCOL": names.get("git-protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }  # fmt: skip
    done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    found = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    status = found.pop("Status", "200" if found else "500")  # git may end with an error behind a whole answer
    return Answer(int(status.split()[0]), content, found)


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, json.dumps(value).encode(), headers or {})
