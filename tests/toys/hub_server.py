"""A server that speaks as much of the Hugging Face hub's API as its own client library asks for."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "a" * 40
TOKEN = "hf_of_the_test"


class Hub(ThreadingHTTPServer):
    """One commit of each repository, a mapping of files by its name (of a data set: `datasets/ORG/NAME`).

    It remembers what was fetched. The files of a repository in `gated` need TOKEN.
    """

    def __init__(self, repositories: Mapping[str, Mapping[str, bytes]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories = dict(repositories)
        self.gated: set[str] = set()
        self.fetched: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """`/api/models/ORG/NAME/revision/REVISION`, `.../tree/...` and `/ORG/NAME/resolve/REVISION/FILE`, with the headers
    that count; the same of data sets.
    """

    server: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        path = self.path.partition("?")[0].strip("/").removeprefix("api/").removeprefix("models/")
        kind = "datasets/" * path.startswith("datasets/")
        parts = path.removeprefix(kind).split("/")
        name = kind + "/".join(parts[:2])
        files = self.server.repositories.get(name)
        revision = [*parts, "main", "main"][3]
        if files is None:
            return self.say(404, b"", "RepoNotFound")
        if revision not in ("main", COMMIT):
            return self.say(404, b"", "RevisionNotFound")
        if parts[2] == "tree":
            rows = [{"type": "file", "oid": "0", "size": len(data), "path": name} for name, data in files.items()]
            return self.say(200, json.dumps(rows).encode())
        if parts[2] == "revision":
            named = {"id": "/".join(parts[:2]), "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}
            return self.say(200, json.dumps(named).encode())
        if name in self.server.gated and self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self.say(403, b"", "GatedRepo")
        file = "/".join(parts[4:])
        if file not in files:
            return self.say(404, b"", "EntryNotFound")
        if body:
            self.server.fetched.append(file)
        return self.say(200, files[file], body=body)

    def say(self, status: int, content: bytes, code: str = "", body: bool = True) -> None:
        self.send_response(status)
        for name, value in {"X-Error-Code": code, "X-Error-Message": code}.items() if code else ():
            self.send_header(name, value)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(repositories: Mapping[str, Mapping[str, bytes]]) -> Iterator[Hub]:
    """A hub that holds these."""
    with Hub(repositories) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def hub_environment(home: Path, url: str, **more: str) -> dict[str, str]:
    """The environment of a process whose hub is at `url` and whose cache is in `home`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return {**kept, "HF_HOME": str(home), "HF_ENDPOINT": url, "HF_HUB_DISABLE_TELEMETRY": "1", **more}
