"""Raters at once: people judge over HTTP while the server is killed again and again.

Each rater takes an invitation, keeps a session, reads pages, waits, and hands in; now and then they try the address of
somebody else's work. Half of the kills hit the server between a click and its answer. A rater whose click got no answer
sends it again, as people do. What must hold:

- every judgement that was answered is stored, as it was sent, and once;
- nothing is stored that nobody sent;
- no page shows the words of another rater, but those of a discussion;
- the address of another's work answers 404.
"""

from __future__ import annotations

import http.client
import math
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import reviewgauge
from reviewgauge.annotation.items import make_items
from reviewgauge.annotation.schemas.schema import load_schema
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import Role, all_accounts, invite
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import create_project, find_project
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Span

FILES = 5  # of a change
RETRY = 0.5  # seconds until a click that got no answer is made again
SNOOPS = 0.05  # of pages are somebody else's
TALK = re.compile(r"Item \d+ · batch \d+ · discussion")
MARK = re.compile(r"words-of-(\w+)-")


@dataclass
class Drill:
    """What the raters and the one who kills share. `broken` names each promise that was not kept."""

    seconds: float
    most: int  # judgements that there are to make
    think: float
    served: float = 0.0  # seconds before `began`, without the time that a server takes to start
    began: float = math.inf
    sent: dict[str, tuple[str, int]] = field(default_factory=dict)  # by key: who, and the grade
    answered: dict[str, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    origin: str = ""
    kill: Callable[[], None] | None = None  # armed: the next click hits
    slots: list[int] = field(default_factory=list)

    def done(self) -> float:
        """The share of the time or of the work that is over, whichever is more."""
        time_over = (self.served + max(0.0, time.monotonic() - self.began)) / self.seconds
        return max(time_over, len(self.answered) / self.most)


class Rater(threading.Thread):
    """One person with a browser."""

    def __init__(self, drill: Drill, name: str, invitation: str) -> None:
        super().__init__(daemon=True)
        self.drill, self.who, self.invitation = drill, name, invitation
        self.random, self.cookie = random.Random(name), ""
        self.connection: http.client.HTTPConnection | None = None

    def run(self) -> None:
        """Join, then judge until the time is over or nothing is left."""
        drill = self.drill
        time.sleep(self.random.uniform(0, drill.think))
        try:
            self.join_in()
            page, path = self.open("/next")
            drill.counts["first pages"] += 1
            while path.startswith("/judge/") and drill.done() < 1:
                time.sleep(self.random.uniform(0.5, 1.5) * drill.think)
                if drill.slots and self.random.random() < SNOOPS:
                    self.snoop()
                page, path = self.judge(page, path)
        except Exception as error:
            drill.broken.append(f"{self.who} saw {type(error).__name__}: {error}")

    def join_in(self) -> None:
        """Take the invitation; a kill may come between."""
        form = {"name": self.who, "password": f"password of {self.who}"}
        while not self.cookie:
            self.send(f"/invitation/{self.invitation}", form)
            if not self.cookie:  # the account was made, and the answer lost
                self.send("/login", form)

    def judge(self, page: str, path: str) -> tuple[str, str]:
        """Hand in an item; the page that comes next, and its address."""
        drill = self.drill
        if 'id="begin"' in page:  # of a discussion
            page, path = self.open(path.partition("?")[0])
        slot, key = int(path.partition("/judge/")[2].partition("?")[0]), _field(page, "key")
        grade = slot % 3 + 1 + (self.random.random() < 0.05)
        form = {"csrf": _field(page, "csrf"), "key": key, "replaces": _field(page, "replaces"), "q:-1:grade": grade}
        form |= {"action": "confirm" if 'value="confirm"' in page else "judge"}
        drill.sent[key] = (self.who, grade)
        drill.slots.append(slot)
        status, text, _ = self.send(path, {**form, "reason": f"words-of-{self.who}-{key}", "seconds": "1.5"})
        if status != 303:
            drill.broken.append(f"a judgement was answered {status}: {text[:300]}")
        drill.answered[key] = grade
        return self.open("/next")

    def open(self, path: str) -> tuple[str, str]:
        """A page, and where its redirects led."""
        status, text, location = self.send(path)
        while status == 303:
            path = location
            status, text, location = self.send(path)
        if status != 200:
            self.drill.broken.append(f"{path} was answered {status}")
        if {*MARK.findall(text)} - {self.who} and not TALK.search(text):
            self.drill.broken.append(f"{path} shows {self.who} the words of another rater")
        return text, path

    def snoop(self) -> None:
        """Try an address that may be somebody else's."""
        slot = self.random.choice(self.drill.slots)
        status, text, _ = self.send(f"/judge/{slot}")
        if status == 404:
            self.drill.counts["refused"] += 1
        if {*MARK.findall(text)} - {self.who} and not TALK.search(text):
            self.drill.broken.append(f"the address of slot {slot} shows {self.who} the words of another rater")

    def send(self, path: str, form: Mapping[str, object] | None = None) -> tuple[int, str, str]:
        """Status, text and location of an answer; sent again until there is one."""
        while True:
            reused = self.connection is not None
            try:
                answer = self._send(path, form)
                if answer[0] != 503:
                    return answer
                time.sleep(RETRY)
            except (OSError, http.client.HTTPException):
                if not reused:  # an idle connection that the server had closed is no outage
                    time.sleep(RETRY)

    def _send(self, path: str, form: Mapping[str, object] | None) -> tuple[int, str, str]:
        drill = self.drill
        body = None if form is None else urlencode(form).encode()
        headers = {"Cookie": self.cookie, "Origin": drill.origin} if self.cookie else {"Origin": drill.origin}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection, self.connection = self.connection, None
        if connection is None:
            connection = http.client.HTTPConnection(urlsplit(drill.origin).netloc, timeout=60)
        try:
            connection.request("GET" if body is None else "POST", path, body, headers)
            if body is not None and path.startswith("/judge/"):
                self._perhaps_kill()
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise
        self.connection = connection
        cookie = answer.headers.get("Set-Cookie", "")
        if cookie.startswith("reviewgauge_session="):
            self.cookie = cookie.partition(";")[0]
        return answer.status, text, answer.headers.get("Location", "")

    def _perhaps_kill(self) -> None:
        kill, self.drill.kill = self.drill.kill, None
        if kill is not None:
            time.sleep(self.random.choice((0.0, 0.002, 0.01, 0.03)))
            kill()


def _field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    if found is None:
        raise ValueError(f"no field {name} in {page[:200]}")
    return found[1]


# --- the server ------------------------------------------------------------------------------------------------------


@contextmanager
def serving(where: str, port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves, and its origin."""
    words = [sys.executable, "-m", "reviewgauge", "annotate", "serve", where, "--port", str(port)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line.startswith("open http"):
                raise RuntimeError(f"the server said {line!r}")
            yield process, line.split()[1].partition("/enter/")[0]
        finally:
            process.kill()


def drill(
    where: str, *, raters: int, changes: int, lines: int, seconds: float, kills: int, think: float, each: int = 3
) -> tuple[Drill, list[votes.Judgement]]:
    """Make a project in an empty database, let them judge, and read what is stored."""
    with Database.open(where, create=True) as database:
        make_project(database, changes, lines, each)
        invitations = [invite(database, Role.RATER) for _ in range(raters)]
    found = Drill(seconds, changes * each, think)
    people = [Rater(found, f"R{n}", invitation) for n, invitation in enumerate(invitations)]
    port = 0
    for kill in range(kills + 1):
        with serving(where, port) as (process, found.origin):
            port = int(found.origin.rpartition(":")[2])
            found.began = time.monotonic()
            if kill == 0:
                people[0].start()
                _wait_until(lambda: found.counts["first pages"] or not _alive(people[:1]))
                for rater in people[1:]:
                    rater.start()
            if kill == kills:
                for rater in people:
                    rater.join(seconds + 120)
                    if rater.is_alive():
                        found.broken.append(f"{rater.who} never ended")
                break
            share = (kill + 1) / (kills + 1)
            _wait_until(lambda share=share: found.done() >= share or not _alive(people))  # type: ignore[misc]
            end = partial(os.kill, process.pid, signal.SIGKILL)
            if kill % 2:
                end()
            else:
                found.kill = end
                _wait_until(lambda process=process: process.poll() is not None or not _alive(people))  # type: ignore[misc]
            found.served, found.began = found.served + time.monotonic() - found.began, math.inf
            found.counts["kills"] += 1
    return found, check(where, found)


def _alive(people: Sequence[Rater]) -> bool:
    return any(rater.is_alive() for rater in people)


def _wait_until(done: Callable[[], object]) -> None:
    while not done():
        time.sleep(0.02)


def check(where: str, found: Drill) -> list[votes.Judgement]:
    """What is stored, held against what was sent and answered."""
    with Database.open(where) as database, database.reading() as connection:
        names = {one.id: one.name for one in all_accounts(connection)}
        project = find_project(database).id
        people = all_accounts(connection)
        stored = [one for rater in people for one in votes.all_own(connection, rater, project, most=len(found.sent))]
    by_key = {one.client_key: one for one in stored}
    for key, grade in found.answered.items():
        one = by_key.get(key)
        if one is None:
            found.broken.append(f"the judgement {key} was answered, and is not stored")
        elif (names[one.rater], one.reason) != (found.sent[key][0], _words(found, key)) or (
            one.answers and one.answers[0].value != grade  # who confirms a consensus answers nothing
        ):
            found.broken.append(f"the judgement {key} is stored otherwise than it was sent")
    found.broken += [f"nobody sent {key}" for key in by_key.keys() - found.sent.keys()]
    places = Counter((one.item, one.rater, one.round) for one in stored)
    found.broken += [f"judged twice: {place}" for place, count in places.items() if count > 1]
    return stored


def _words(found: Drill, key: str) -> str:
    return f"words-of-{found.sent[key][0]}-{key}"


def make_project(database: Database, changes: int, lines: int, each: int) -> None:
    """Changes of so many lines, drawn from this package's own code."""
    folder = Path(reviewgauge.__file__).parent
    code = [line for file in sorted(folder.rglob("*.py")) for line in file.read_text("utf-8").splitlines()]
    draw, cases = random.Random(0), []
    for n in range(changes):
        files = [_file(draw, code, f"src/module_{n}_{at}.py", lines // FILES) for at in range(FILES)]
        change = Change(repo="acme/shop", title=f"Change {n}", files=tuple(files))
        cases.append(Case(id=f"shop#{n}", change=change))
    comment = Comment(id="1", body="What if this is empty?", span=Span(path="src/module_0_0.py", start=3))
    reviews = [Review(case=case.id, system="one", comments=(comment,)) for case in cases]
    schema = load_schema("grade")
    create_project(database, "load", schema, make_items(schema, cases, reviews), raters=each)


def _file(draw: random.Random, code: Sequence[str], path: str, lines: int) -> ChangedFile:
    start = draw.randrange(len(code) - lines)
    marked = [draw.choice("  +-") + line for line in code[start : start + lines]]
    old, new = (sum(line[0] != mark for line in marked) for mark in "+-")
    return ChangedFile(path=path, patch="\n".join([f"@@ -1,{old} +1,{new} @@", *marked]) + "\n")
