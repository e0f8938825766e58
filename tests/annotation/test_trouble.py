"""What goes wrong around the service: databases that go away, full disks, clocks, slow and large requests."""

from __future__ import annotations

import resource
import socket
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from annotation_client import Answered, Client, entered, served
from annotation_toys import (
    Postgres,
    answers_for,
    desk_of,
    judged_by,
    next_of,
    small_cases,
    small_project,
    small_reviews,
)
from raters_drill import serving
from reviewgauge.annotation.items import make_items
from reviewgauge.annotation.pages import visits
from reviewgauge.annotation.schemas.schema import load_schema
from reviewgauge.annotation.store import database as databases
from reviewgauge.annotation.store.accounts import begin_session, find_session
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import create_project, find_project, status
from reviewgauge.annotation.store.queue import LEASE
from reviewgauge.annotation.store.tables import meta
from reviewgauge.api.annotate import annotate
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile, Review


def hand_in(client: Client, page: Answered, reason: str = "kept") -> Answered:
    form = {name: page.field(name) for name in ("csrf", "key", "replaces")}
    return client.send(page.path, {**form, "q:-1:grade": 3, "reason": reason}, follow=False)


def judged(store: Database) -> int:
    return sum(batch.judgements for batch in status(store, find_project(store)).batches)


# --- databases -------------------------------------------------------------------------------------------------------


def test_postgres_stops_and_starts_in_the_middle(postgres_server: Postgres, where: str) -> None:
    if where != postgres_server.url:
        pytest.skip("a file does not stop")
    with Database.open(where, create=True) as store, served(store, small_project(store)) as (origin, _):
        ann = entered(store, origin)
        page = ann.send("/next")
        postgres_server.stop()
        try:
            for answer in (hand_in(ann, page), ann.send("/next", follow=False)):
                assert (answer.status, "Nothing was lost" in answer.text) == (503, True)
        finally:
            postgres_server.start()
        assert hand_in(ann, page).status == 303
        assert judged(store) == 1


def test_a_file_that_another_program_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "BUSY", 0.2)
    with Database.open(tmp_path / "store.db", create=True) as store, served(store, small_project(store)) as (origin, _):
        ann = entered(store, origin)
        page = ann.send("/next")
        other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answer = hand_in(ann, page)
        assert (answer.status, "Nothing was lost" in answer.text) == (503, True)
        assert ann.send(page.path).status == 200  # what only reads goes on
        other.execute("ROLLBACK")
        other.close()
        assert hand_in(ann, page).status == 303
        assert judged(store) == 1


@pytest.mark.processes
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    where = str(tmp_path / "store.db")
    with Database.open(where, create=True) as store:
        small_project(store)
        with serving(where, 0) as (process, origin):
            ann = entered(store, origin)
            page = ann.send("/next")
            unlimited = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
            answer = hand_in(ann, page)
            assert (answer.status, "Nothing was lost" in answer.text) == (503, True)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, unlimited)
            assert hand_in(ann, page).status == 303
        assert judged(store) == 1


@pytest.mark.parametrize("other", ["0", "2"])
def test_a_store_of_another_format_is_refused(where: str, other: str) -> None:
    with Database.open(where, create=True) as database, database.writing() as connection:
        connection.execute(meta.update().values(value=other))
    for create in (False, True):
        with pytest.raises(UserError, match=f"the format '{other}'.*reads '1'.*annotate export"):
            Database.open(where, create=create)


def test_work_that_began_keeps_its_schema(tmp_path: Path) -> None:
    file, cases = tmp_path / "mine.toml", small_cases()
    text = """name = "mine"\ntitle = "Mine"\nunit = "change"\nraters = 1\nguidelines = "Be fair."
        [[questions]]\ndimension = "good"\ntext = "Good?"\noptions = [{ value = "yes" }, { value = "no" }]\n"""
    file.write_text(text)
    annotate(tmp_path / "store.db", cases, schema=file)
    file.write_text(text.replace('"no"', '"never"').replace("Good?", "Bad?"))
    with Database.open(tmp_path / "store.db") as store:
        before = find_project(store)
        desk = desk_of(store, before, "Ann")
        slot = next_of(desk)
        desk.submit(slot, "the-first-one", answers_for(before.schema_, 0, 1))
    for schema in (file, "grade"):
        with pytest.raises(UserError, match="there is a project 'main'"):
            annotate(tmp_path / "store.db", cases, small_reviews(cases), schema=schema)
    with Database.open(tmp_path / "store.db") as store:
        assert (find_project(store), judged(store)) == (before, 1)


# --- clocks ----------------------------------------------------------------------------------------------------------


def test_a_clock_that_jumps_loses_nothing(database: Database) -> None:
    now = [1_000_000.0]
    database.clock = lambda: now[0]
    project = small_project(database, count=1, raters=1)
    ann, bob = desk_of(database, project, "Ann"), desk_of(database, project, "Bob")
    session = begin_session(database, ann.account)
    now[0] += 20 * 86_400  # ahead, by mistake
    slot = next_of(ann)
    assert find_session(database, session) is None
    begin_session(database, bob.account)
    now[0] -= 20 * 86_400  # and back
    assert find_session(database, session) is not None
    assert bob.next() == slot  # a lease of three weeks binds nobody
    for desk in (ann, bob):
        desk.submit(slot, f"judged-{desk.account.name}", answers_for(project.schema_, 0))
    assert [len(judged_by(desk)) for desk in (ann, bob)] == [1, 1]
    assert judged_by(bob)[0].at == now[0] < now[0] + LEASE


# --- requests --------------------------------------------------------------------------------------------------------


def test_large_forms_are_refused_and_those_of_strangers_earlier(store: Database) -> None:
    with served(store, small_project(store)) as (origin, _):
        ann = entered(store, origin)
        page = ann.send("/next")
        form = {"csrf": page.field("csrf"), "key": page.field("key"), "q:-1:grade": 3}
        for path, data, size in ((page.path, form, 3_000_000), ("/login", {}, 20_000), ("/invitation/x", {}, 20_000)):
            assert sent_whole(origin, ann, path, {**data, "reason": "x" * size}) in (413, None)
        assert judged(store) == 0
        assert hand_in(ann, page).status == 303


def sent_whole(origin: str, client: Client, path: str, form: dict[str, object]) -> int | None:
    """The status; None where the connection was closed before all was sent."""
    try:
        return client.send(path, form, follow=False).status
    except OSError:
        return None


def test_slow_requests_are_closed(store: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(store, small_project(store)) as (origin, _), monkeypatch.context() as hasty:
        hasty.setattr("reviewgauge.views.serving.PATIENCE", 0.3)
        hasty.setattr(visits, "SLOWEST_FORM", 0.3)
        host = urlsplit(origin).netloc
        head = f"POST /login HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nContent-Length: 100\r\n\r\nname="
        for sent, status_code in (("", b""), (f"GET / HTTP/1.1\r\nHost: {host}\r\n", b""), (head, b"408")):
            name, _, port = host.partition(":")
            with socket.create_connection((name, int(port))) as raw:
                raw.sendall(sent.encode())
                answer = raw.recv(100)
                assert answer[9:12] == status_code
        hasty.undo()  # a busy machine needs longer for an honest form
        assert entered(store, origin).send("/next").status == 200


@pytest.mark.drill
@pytest.mark.processes
def test_code_that_holds_a_lexer_for_ever_is_plain_and_the_service_ends(tmp_path: Path) -> None:
    where, schema = str(tmp_path / "store.db"), load_schema("grade")
    codes = {"a.tnt": "~~~~", "b.tnt": "~~~~~", "c.mcschema": "<!--<!--<!--", "d.tnt": "~~~~~~", "e.tnt": "~~~~~~~"}
    cases = []
    for (path, code), case in zip(codes.items(), small_cases(5), strict=True):
        file = ChangedFile(path=path, patch=f"@@ -0,0 +1 @@\n+{code}\n")
        cases.append(case.model_copy(update={"change": case.change.model_copy(update={"files": (file,)})}))
    with Database.open(where, create=True) as store, ExitStack() as opened:
        create_project(store, "hostile", schema, make_items(schema, cases, small_reviews(cases)), raters=1)
        process, origin = opened.enter_context(serving(where, 0))
        people = [entered(store, origin, name) for name in ("Ann", "Bob", "Cid", "Dan", "Eve")]
        with ThreadPoolExecutor() as threads:
            pages = list(threads.map(lambda one: one.send("/next"), people[:4]))
            assert [(page.status, "~~~~" in page.text or "&lt;!--" in page.text) for page in pages] == [(200, True)] * 4
            assert hand_in(people[0], pages[0]).status == 303
            last = threads.submit(people[4].send, "/next")
            process.terminate()
            process.wait(60)
            with suppress(OSError):
                last.result()


@pytest.mark.drill
@pytest.mark.processes
def test_clients_that_never_read_keep_nobody_out_and_do_not_hold_the_service(tmp_path: Path) -> None:
    where, schema = str(tmp_path / "store.db"), load_schema("grade")
    (case,) = small_cases(1)
    long = ChangedFile(path="a.txt", patch="@@ -0,0 +1,1500 @@\n" + f"+{'<' * 90}\n" * 1500)
    case = case.model_copy(update={"change": case.change.model_copy(update={"files": (long,)})})
    with Database.open(where, create=True) as store, ExitStack() as opened:
        create_project(store, "long", schema, make_items(schema, [case], small_reviews([case])), raters=1)
        process, origin = opened.enter_context(serving(where, 0))
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (100, 100))
        ann = entered(store, origin)
        page = ann.send("/next")
        assert len(page.text) > 500_000
        host, _, port = urlsplit(origin).netloc.partition(":")
        cookie = f"{visits.COOKIE}={ann.cookies[visits.COOKIE]}"
        for _ in range(110):
            raw = opened.enter_context(socket.create_connection((host, int(port)), timeout=60))
            raw.sendall(f"GET {page.path} HTTP/1.1\r\nHost: {host}:{port}\r\nCookie: {cookie}\r\n\r\n".encode())
        assert hand_in(ann, page).status == 303
        process.terminate()
        process.wait(60)


def test_text_that_no_encoding_has_is_shown(store: Database) -> None:
    odd = "lone \ud800 \udc80 \u202e \x1b[31m \ufffe end"
    cases = small_cases(1)
    file = ChangedFile(path="pay.py", patch=f"@@ -1 +1,2 @@\n-{odd}\n+{odd}\r\n+\x85\x0b\n")
    change = cases[0].change.model_copy(update={"title": odd, "description": odd, "files": (file,)})
    case = cases[0].model_copy(update={"change": change})
    comments = [one.model_copy(update={"body": odd, "quote": odd}) for one in small_reviews(cases)[0].comments]
    schema = load_schema("grade")
    data = make_items(schema, [case], [Review(case=case.id, system="s", comments=tuple(comments))])
    with served(store, create_project(store, "odd", schema, data, raters=1)) as (origin, _):
        ann = entered(store, origin)
        page = ann.send("/next")
        assert page.status == 200
        assert "U+D800" in page.text
        assert "U+202E" in page.text
        assert hand_in(ann, page, reason="\0 \x1b[31m %ED%A0%80 \u202e").status == 303
        assert ann.send(page.path).status == 200
