"""A forge that keeps the comments on one pull request (GitHub's API) or merge request (GitLab's), on the loopback."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

TOKEN = "a-token-that-must-stay-secret"
ME = {"id": 7, "login": "robot", "type": "Bot"}
PAGE = 30  # comments to a page, whatever was asked for
_GITHUB = re.compile(r"/api/v3/repos/shop/app/issues/(?:12/comments|comments/(?P<id>\d+))")
_GITLAB = re.compile(r"/api/v4/projects/5/merge_requests/12/notes(?:/(?P<id>\d+))?")


class CommentForge(ThreadingHTTPServer):
    """`comments` are its state; `refuses` is a status and headers that it answers everything with."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.comments: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.refuses: tuple[int, dict[str, str], bytes] | None = None
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def add(self, body: str, author: dict[str, Any], association: str = "NONE") -> dict[str, Any]:
        number = 100 + len(self.comments)
        made = {"id": number, "body": body, "user": author, "author": author, "author_association": association}
        self.comments.append(made)
        return made

    def variables(self, forge: str, folder: Path) -> dict[str, str]:
        """The variables of a job of this forge about its pull request."""
        root = f"http://127.0.0.1:{self.server_port}/api"
        if forge == "gitlab":
            project = {"CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "12", "GITLAB_TOKEN": TOKEN}
            return {"GITLAB_CI": "true", "CI_API_V4_URL": f"{root}/v4", **project}
        event = folder / "event.json"
        event.write_text(json.dumps({"number": 12, "pull_request": {"number": 12}}), encoding="utf-8")
        repository = {"GITHUB_REPOSITORY": "shop/app", "GITHUB_EVENT_PATH": str(event), "GITHUB_TOKEN": TOKEN}
        return {"GITHUB_ACTIONS": "true", "GITHUB_API_URL": f"{root}/v3", **repository}

    def enter_job(self, forge: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """This process becomes such a job, whatever it runs in."""
        for name in [name for name in os.environ if name.startswith(("GITHUB_", "GITLAB_", "CI_"))]:
            monkeypatch.delenv(name)
        for name, value in self.variables(forge, folder).items():
            monkeypatch.setenv(name, value)


@contextmanager
def comment_forge() -> Iterator[CommentForge]:
    forge = CommentForge()
    try:
        yield forge
    finally:
        forge.shutdown()
        forge.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: CommentForge

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path.endswith("/user"):
            self._say(200, ME)
        elif self._match(path) is not None:
            page = int(re.findall(r"\bpage=(\d+)", query)[0])
            self._say(200, self.server.comments[(page - 1) * PAGE : page * PAGE])

    def do_POST(self) -> None:
        if self._match(self.path) is not None:
            self._say(201, self.server.add(self._sent(), ME))

    def _replace(self) -> None:
        if (found := self._match(self.path)) is not None:
            one = next(one for one in self.server.comments if one["id"] == int(found["id"]))
            one["body"] = self._sent()
            self._say(200, one)

    do_PATCH = do_PUT = _replace  # noqa: N815  (http.server's names)

    def _match(self, path: str) -> re.Match[str] | None:
        gitlab = self.headers.get("PRIVATE-TOKEN") == TOKEN
        found = (_GITLAB if gitlab else _GITHUB).fullmatch(path)
        if not gitlab and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._say(401, {"message": "Bad credentials"})
        elif found is None or self.command == ("PATCH" if gitlab else "PUT"):
            self._say(404, {"message": "Not Found"})
        else:
            return found
        return None

    def _sent(self) -> str:
        body: str = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        return body

    def _say(self, status: int, value: object) -> None:
        self.server.asked.append(f"{self.command} {self.path.partition('?')[0].rpartition('/api/')[2]}")
        status, headers, content = self.server.refuses or (status, {}, json.dumps(value).encode())
        self.send_response(status)
        for name, text in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass
