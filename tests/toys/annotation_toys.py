"""Small annotation projects, raters, and a PostgreSQL of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from reviewgauge.annotation.items import make_items
from reviewgauge.annotation.schemas.schema import Answer, QuestionKind, Schema, asked, is_asked, load_schema
from reviewgauge.annotation.store.accounts import Account, Role, new_account
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import Judgement
from reviewgauge.annotation.store.projects import Project, create_project
from reviewgauge.annotation.store.rater_session import RaterSession
from reviewgauge.core.records import Case, Change, ChangedFile, Claim, Comment, Review, Span

PATCH = (
    "@@ -1,3 +1,4 @@ def pay\n def pay(cart):\n-    return cart.total\n"
    "+    total = cart.total\n+    return total\t \n # end"
)


def small_cases(count: int = 4) -> list[Case]:
    return [
        Case(
            id=f"shop#{n}",
            change=Change(
                repo="acme/shop",
                title=f"Change {n}",
                files=(ChangedFile(path="pay.py" if n % 2 else "pay.go", patch=PATCH),),
            ),
            references=(Comment(id="r1", body="Total may be None.", span=Span(path="pay.py", start=2)),),
            claims=(Claim(id="1", body="Adds a variable."), Claim(id="2", body="Removes a loop.")),
        )
        for n in range(1, count + 1)
    ]


def small_reviews(cases: list[Case]) -> list[Review]:
    comment = Comment(id="gpt-9", body="What if the cart is empty?", span=Span(path="pay.py", start=3), author="gpt")
    return [Review(case=case.id, system="gpt", comments=(comment,)) for case in cases]


def small_project(
    database: Database, schema: str | Schema = "grade", *, count: int = 4, raters: int = 2, batch: int = 2
) -> Project:
    found = load_schema(schema) if isinstance(schema, str) else schema
    cases = small_cases(count)
    data = make_items(found, cases, small_reviews(cases))
    return create_project(database, "toy", found.model_copy(update={"batch": batch}), data, raters=raters)


def add_rater(database: Database, name: str, role: Role = Role.RATER, languages: tuple[str, ...] = ()) -> Account:
    with database.writing() as connection:
        return new_account(connection, database.clock(), name, role, languages=languages)


def desk_of(database: Database, project: Project, name: str, role: Role = Role.RATER) -> RaterSession:
    return RaterSession(database, project, add_rater(database, name, role))


def judged_by(desk: RaterSession) -> list[Judgement]:
    """What a rater handed in, the latest first."""
    return [one.judgement for one in desk.history()]


def next_of(desk: RaterSession) -> int:
    """The slot that a rater gets now."""
    slot = desk.next()
    assert slot is not None
    return slot


def answers_for(schema: Schema, parts: int | Sequence[str], choice: int = 0) -> list[Answer]:
    """An answer to everything required: the `choice`-th option or step."""
    found: list[Answer] = []
    for part, question in asked(schema, parts):
        given = {(one.part, one.dimension): str(one.value) for one in found}
        if not question.required or not is_asked(question, part, given):
            continue
        value: str | int = question.low + choice
        if question.kind is not QuestionKind.SCALE:
            value = question.options[choice % len(question.options)].value
        found.append(Answer(part=part, dimension=question.dimension, value=value))
    return found


def judge_all(desk: RaterSession, choice: int = 0, most: int = 1000) -> int:
    """Judge what there is; returns how much it was."""
    for done in range(most):
        slot = desk.next()
        if slot is None:
            return done
        work = desk.work(slot)
        parts = work.item.kinds
        if work.confirms:
            desk.conclude(slot, f"confirmed-{desk.account.id}-{slot}", agreed=True, reason="")
            continue
        desk.submit(slot, f"judged-{desk.account.id}-{slot}", answers_for(desk.project.schema_, parts, choice))
    return most


class Postgres:
    """A PostgreSQL that lives in a folder, on a socket only. Skips where there is none."""

    def __init__(self, folder: Path) -> None:
        found = [shutil.which("initdb"), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")))]
        programs = [Path(one).resolve().parent for one in found if one]
        if not programs or not (programs[-1] / "pg_ctl").exists():
            pytest.skip("PostgreSQL is not installed")
        pytest.importorskip("psycopg", reason="psycopg is not installed")
        self._programs, self._folder, self._as_user = programs[-1], folder, list[str]()
        self.url = f"postgresql://rater@/postgres?host={folder}"
        if os.geteuid() == 0:  # the server refuses to run as root
            if shutil.which("runuser") is None:
                pytest.skip("PostgreSQL refuses to run as root, and there is no runuser")
            self._as_user = ["runuser", "-u", "postgres", "--"]
            shutil.chown(folder, "postgres", "postgres")
            folder.chmod(0o755)
        self._run("initdb", "-U", "rater", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")

    def start(self) -> None:
        options = f"-k {self._folder} -c listen_addresses='' -c max_connections=120"
        self._run("pg_ctl", "-w", "-l", self._folder / "log", "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-m", "immediate", "stop")

    def _run(self, program: str, *words: object) -> None:
        command = [*self._as_user, self._programs / program, "-D", self._folder / "data", *words]
        subprocess.run(list(map(str, command)), check=True, capture_output=True, cwd="/")
