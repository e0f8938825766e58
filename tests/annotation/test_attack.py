"""What somebody with an account, or without one, tries on a served project: no answer of 500, nothing of others."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from annotation_client import Client, entered, served
from annotation_toys import desk_of, judge_all, judged_by, next_of, small_project
from reviewgauge.annotation.store.accounts import Role, invite
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import status
from reviewgauge.core.errors import UserError

ODD = ["²", "-1", "9" * 30, "\0", "a\r\nX: y", "NaN", "../../etc/passwd", "\udcff"]
ADDRESSES = ["/judge/{}", "/judge/{}/lines", "/next?saved={}", "/judge/1?view={}", "/judge/1?part={}", "/?saved={}"]
ADDRESSES += ["/judge/1/lines?file={0}&old={0}&new={0}&count={0}", "/static/{}", "/enter/{}", "/invitation/{}"]
FIELDS = ["key", "replaces", "seconds", "action", "reason", "q:0:claim", "q:-1:missing", "confirmed", "csrf"]


def raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("odd", ODD)
def test_odd_words_everywhere_break_nothing(database: Database, odd: str) -> None:
    store = database
    with served(store, small_project(store, "claims", count=1)) as (origin, _):
        ann, owner = entered(store, origin, "Ann"), entered(store, origin, "Olga", Role.OWNER)
        page = ann.send("/next")
        csrf, of_owner = page.field("csrf"), owner.send("/project").field("csrf")
        tried: list[tuple[Client, str, dict[str, Any] | None]]
        tried = [(ann, address.format(quote(raw(odd))), None) for address in ADDRESSES]
        base: dict[str, Any] = {
            "csrf": csrf, "key": page.field("key"), "replaces": "0", "q:0:claim": "correct", "q:1:claim": "correct",
        }  # fmt: skip
        tried += [(ann, page.path, {**base, field: raw(odd)}) for field in FIELDS]
        tried += [(ann, "/conflicts", {"csrf": csrf, "slot": raw(odd)})]
        actions = {"invite": "role", "end_batch": "batch", "close": "account", "guidelines": "text"}
        for action, field in {**actions, "withdraw": "invitation"}.items():
            tried.append((owner, "/project", {"csrf": of_owner, "action": action, field: raw(odd)}))
        tried.append((owner, "/project", {"csrf": of_owner, "action": raw(odd)}))
        tried.append((Client(origin), "/login", {"name": raw(odd), "password": raw(odd)}))
        token = invite(store, Role.RATER)
        tried.append((Client(origin), f"/invitation/{token}", {"name": raw(odd), "password": "a long password"}))
        for client, path, form in tried:
            answer = client.send(path, form, follow=False)
            assert answer.status < 500, (path, form)
            assert "X" not in answer.headers
            assert "root:" not in answer.text


def test_a_rater_gets_nothing_of_others_by_any_address(store: Database) -> None:
    project = small_project(store, count=3, raters=2, batch=3)
    ann = desk_of(store, project, "Ann")
    judge_all(ann, 4, most=2)
    slots = [one.slot for one in judged_by(ann)]
    held = next_of(ann)
    with served(store, project) as (origin, _):
        bob, expert = entered(store, origin, "Bob"), entered(store, origin, "Eve", Role.EXPERT)
        home = bob.send("/")
        for client in (bob, expert):
            for slot in (*slots, held):
                for path in (
                    f"/judge/{slot}",
                    f"/judge/{slot}?part=1",
                    f"/judge/{slot}/lines?file=1&old=1&new=1&count=9",
                ):
                    assert client.send(path).status == 404
            for path in ("/project", "/project?account=1"):
                assert client.send(path).status == 404
        csrf, nobody = home.field("csrf"), Client(origin)
        assert {nobody.send(path).path for path in ("/", "/next", "/project", "/conflicts", f"/judge/{held}")} == {
            "/login"
        }
        assert bob.send("/project", {"csrf": csrf, "action": "invite", "role": "owner"}).status == 404
        form = {"csrf": csrf, "key": "a-key-of-bob", "replaces": "1", "q:-1:grade": 1, "reason": "stolen"}
        for slot in (*slots, held, 10**6):
            for action in ("judge", "skip", "flag", "confirm", "no_consensus"):
                assert bob.send(f"/judge/{slot}", {**form, "action": action}).status == 404
            assert bob.send("/conflicts", {"csrf": csrf, "slot": slot}).status >= 400
        absent, others = bob.send("/judge/999999"), bob.send(f"/judge/{slots[0]}")
        assert absent.text == others.text  # which does not tell whether it exists
        assert len(judged_by(ann)) == 2
        assert status(store, project).batches[0].judgements == 2


def answer_to(origin: str, request: str) -> str:
    host, _, port = urlsplit(origin).netloc.partition(":")
    with socket.create_connection((host, int(port))) as raw_connection:
        raw_connection.sendall(request.format(host=f"{host}:{port}").encode())
        found = b""
        while piece := raw_connection.recv(10_000):
            found += piece
    return found.decode()


@pytest.mark.parametrize(("request_text", "codes"), [
    ("GET /login HTTP/1.1\r\nHost: {host}@evil.example\r\nConnection: close\r\n\r\n", ("421",)),
    ("GET /login HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: {host}\r\nConnection: close\r\n\r\n", ("421",)),
    ("GET http://evil.example/login HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", ("421",)),
    ("GET /login HTTP/1.0\r\n\r\n", ("421", "400")),
    ("TRACE / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", ("405",)),
    ("POST /login HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", ("403",)),
    ("GET /static/../app.py HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", ("404",)),
    ("GET /static/%2e%2e%2fapp.py HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", ("404",)),
    ("GET /login HTTP/1.1\r\nHost: {host}\r\nX: " + "x" * 2_000_000 + "\r\n\r\n", ("400", "431")),
    ("GET /" + "x" * 2_000_000 + " HTTP/1.1\r\nHost: {host}\r\n\r\n", ("400", "414")),
    ("POST /login HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nTransfer-Encoding: chunked\r\n"
        "Content-Length: 5\r\nConnection: close\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n", ("400", "403")),
])  # fmt: skip
def test_requests_that_no_browser_sends_for_us(store: Database, request_text: str, codes: tuple[str, ...]) -> None:
    with served(store, small_project(store, count=1)) as (origin, _):
        try:
            answer = answer_to(origin, request_text)
        except ConnectionError:  # closed while it was still sent
            return
        assert answer[9:12] in codes, answer[:300]
        assert answer.count("HTTP/1.1 ") == 1


def test_no_password_of_a_database_is_told(tmp_path: Path) -> None:
    for where in ("postgresql://ann:s3cret@localhost:1/x", "postgresql://ann:s3cret@[::bad/x"):
        with pytest.raises(UserError) as raised:
            Database.open(where)
        assert "s3cret" not in str(raised.value)
