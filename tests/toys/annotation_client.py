"""A browser without pictures: cookies, forms and redirects against a running annotation service."""

from __future__ import annotations

import http.client
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import unescape
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from annotation_toys import add_rater
from reviewgauge.annotation.pages.app import open_service
from reviewgauge.annotation.pages.visits import COOKIE
from reviewgauge.annotation.store.accounts import Role, begin_session, invite
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import Project
from reviewgauge.views.serving import OpenService, server_of

PASSWORD = "a long password"


class Answered(NamedTuple):
    status: int
    text: str
    headers: Mapping[str, str]
    path: str

    def field(self, name: str) -> str:
        """The value of a hidden field."""
        found = re.search(rf'name="{name}" value="([^"]*)"', self.text)
        assert found is not None, self.text[:500]
        return unescape(found[1])

    @property
    def slot(self) -> int:
        return int(self.path.partition("/judge/")[2].partition("?")[0])


class Client:
    """One person."""

    def __init__(self, origin: str) -> None:
        self.origin, self.cookies = origin, dict[str, str]()

    def send(
        self, path: str, form: Mapping[str, object] | None = None, *, follow: bool = True, **headers: str
    ) -> Answered:
        """GET, or POST with a form; redirects are followed."""
        given = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        body = None
        if form is not None:
            body = urlencode(form, doseq=True).encode()
            given |= {"Content-Type": "application/x-www-form-urlencoded", "Origin": self.origin}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(urlsplit(self.origin).netloc)
        try:
            connection.request("GET" if body is None else "POST", path, body, {k: v for k, v in given.items() if v})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        if follow and answer.status == 303:
            return self.send(answer.headers["Location"])
        return Answered(answer.status, text, dict(answer.headers), path)


@contextmanager
def served(database: Database, project: Project) -> Iterator[tuple[str, str]]:
    """(origin, the local owner's link) of a service in this process."""
    service = open_service(database, project)
    with serving_pages(service):
        yield service.link.partition("/enter/")[0], service.link


@contextmanager
def serving_pages(service: OpenService) -> Iterator[None]:
    """A service that answers, in this process."""
    server = server_of(service.app)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.run, args=([service.listener],), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(10)


def entered(store: Database, origin: str, name: str = "Ann", role: Role = Role.RATER) -> Client:
    """Somebody new, who is logged in."""
    client = Client(origin)
    client.cookies[COOKIE] = begin_session(store, add_rater(store, name, role))
    return client


def joined(store: Database, origin: str, name: str, role: Role = Role.RATER) -> Client:
    """Somebody who took an invitation."""
    client = Client(origin)
    token = invite(store, role)
    assert client.send(f"/invitation/{token}", {"name": name, "password": PASSWORD}).status == 200
    return client


def saved(client: Client, page: Answered, grade: int, **more: str) -> Answered:
    if 'id="begin"' in page.text:  # of a discussion
        page = client.send(page.path.partition("?")[0])
    hidden = {name: page.field(name) for name in ("csrf", "key", "replaces")}
    action = "confirm" if 'value="confirm"' in page.text else "judge"
    form = {**hidden, "q:-1:grade": grade, "seconds": "2.5", "reason": "", "action": action, **more}
    return client.send(page.path, form)
