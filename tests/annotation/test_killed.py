"""The server is killed while raters hand in: what was answered is stored, once, and nobody's is another's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sql

from annotation_client import Client
from annotation_toys import add_rater, small_project
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import Account, begin_session
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.tables import judgements

pytestmark = [pytest.mark.processes, pytest.mark.slow]
RATERS, ITEMS, KILLS = 5, 24, 3


@contextmanager
def server(where: str, port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves, and its origin."""
    words = [sys.executable, "-m", "reviewgauge", "annotate", "serve", where, "--port", str(port)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("open http"), line
            yield process, line.split()[1].partition("/enter/")[0]
        finally:
            process.kill()


def work(client: Client, acknowledged: dict[str, int], stop: threading.Event) -> None:
    """Judge until nothing is left; send again, with the same key, what got no answer."""
    while not stop.is_set():
        try:
            page = client.send("/next")
            if page.status != 200 or not page.path.startswith("/judge/"):
                if page.status == 200:
                    return
                continue
            key, grade = page.field("key"), page.slot % 5 + 1
            form = {"csrf": page.field("csrf"), "key": key, "replaces": "0", "q:-1:grade": grade, "reason": key}
        except OSError:
            time.sleep(0.05)
            continue
        while not stop.is_set():
            try:
                if client.send(page.path, form, follow=False).status == 303:
                    acknowledged[key] = grade
                    break
            except OSError:
                time.sleep(0.05)


def test_no_judgement_is_lost_or_doubled(where: str) -> None:
    with Database.open(where, create=True) as database:
        project = small_project(database, count=ITEMS, raters=RATERS, batch=ITEMS)
        raters = [add_rater(database, f"R{n}") for n in range(RATERS)]
        acknowledged, stop = {rater.id: dict[str, int]() for rater in raters}, threading.Event()
        clients = {rater.id: _client(database, rater) for rater in raters}
        threads = []
        port = 0
        for kills in range(KILLS + 1):
            with server(where, port) as (process, origin):
                port = int(origin.rpartition(":")[2])
                for rater in raters if kills == 0 else ():
                    clients[rater.id].origin = origin
                    words = (clients[rater.id], acknowledged[rater.id], stop)
                    threads.append(threading.Thread(target=work, args=words, daemon=True))
                    threads[-1].start()
                if kills < KILLS:
                    before = sum(map(len, acknowledged.values()))
                    _until(lambda before=before: sum(map(len, acknowledged.values())) > before + 20)
                    os.kill(process.pid, signal.SIGKILL)
                else:
                    _until(lambda: not any(thread.is_alive() for thread in threads))
        stop.set()
        with database.reading() as connection:
            stored = votes.everything(connection, None, project.id)
            assert connection.execute(sql.select(sql.func.count()).select_from(judgements)).scalar() == len(stored)
        places = {(one.item, one.rater, one.round) for one in stored}
        assert len(places) == len(stored)
        assert sum(one.round == votes.INDEPENDENT for one in stored) == RATERS * ITEMS  # the rest are talks
        for rater in raters:
            mine = {one.client_key: one.answers[0].value for one in stored if one.rater == rater.id}
            assert mine == acknowledged[rater.id]
            assert all(one.reason == one.client_key for one in stored)


def _client(database: Database, rater: Account) -> Client:
    client = Client("")
    client.cookies["reviewgauge_session"] = begin_session(database, rater)
    return client


def _until(done: object, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not done():  # type: ignore[operator]
        assert time.monotonic() < end, "took too long"
        time.sleep(0.02)
