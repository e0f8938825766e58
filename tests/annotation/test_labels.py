"""Labels out and in: the round trip, and that the rest of the package reads them."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest
import sqlalchemy as sql
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from annotation_toys import (
    answers_for,
    desk_of,
    judge_all,
    judged_by,
    next_of,
    small_cases,
    small_project,
    small_reviews,
)
from reviewgauge.annotation.items import make_items
from reviewgauge.annotation.label_import import import_labels
from reviewgauge.annotation.labels import labels_csv, labels_jsonl, labels_of
from reviewgauge.annotation.pages.app import local_owner
from reviewgauge.annotation.schemas.schema import Answer, Schema, load_schema, shipped_schemas
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import Role, accept, account_names, invite
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.owner import end_batch
from reviewgauge.annotation.store.projects import Project, edit_guidelines, find_project, status
from reviewgauge.annotation.store.rater_session import RaterSession
from reviewgauge.annotation.store.tables import batches, items
from reviewgauge.api.agree import agree
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Subject, SubjectKind

SCALES = ("grade", "quality", "graded_reviews", "crscore_quality")


def worked(database: Database, schema: str) -> None:
    """Two raters, who differ in the second item, a consensus, an expert."""
    project = small_project(database, schema, count=2)
    ann, bob = desk_of(database, project, "Ann"), desk_of(database, project, "Bob")
    for desk, choices in ((ann, (0, 0)), (bob, (0, 4 if schema in SCALES else 1))):
        for choice in choices:
            slot = desk.next()
            if slot is None:
                break
            parts = len(desk.work(slot).item.parts)
            given = answers_for(project.schema_, parts, choice)
            if schema in ("claims", "crscore_claims"):
                given += [Answer(dimension="missing", value=f"=Claim {n}, of {desk.account.name}") for n in (1, 2)]
            desk.submit(slot, f"judged-{desk.account.id}-{slot}", given, reason="-why,\n so")
    judge_all(bob)
    judge_all(ann)  # confirms
    if not project.schema_.discussion:
        judge_all(desk_of(database, project, "Eve", Role.EXPERT))


@pytest.mark.parametrize("schema", [name for name in shipped_schemas() if name != "reports"])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_what_was_exported_imports_to_the_same(tmp_path: Path, schema: str, kind: str) -> None:
    written = labels_csv if kind == "csv" else labels_jsonl
    with Database.open(tmp_path / "one.db", create=True) as one, Database.open(tmp_path / "two.db", create=True) as two:
        worked(one, schema)
        labels = labels_of(one, find_project(one), None)
        assert any(label.consensus for label in labels)
        file = tmp_path / f"labels.{kind}"
        file.write_text(written(labels), encoding="utf-8")
        project = small_project(two, schema, count=2)
        done = import_labels(two, project, file)
        assert done.labels == len(labels)
        assert written(labels_of(two, project, None)) == file.read_text("utf-8")
        assert status(two, project) == status(one, find_project(one))
        again = import_labels(two, project, file)
        assert (again.judgements, again.known) == (0, done.judgements)


@example(reason="", text="\x00")
@given(reason=st.text(max_size=40), text=st.text(min_size=1, max_size=40))
def test_any_words_survive_the_round_trip(reason: str, text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("words")
    with Database.open(folder / "1.db", create=True) as one, Database.open(folder / "2.db", create=True) as two:
        first, second = (small_project(each, "claims", count=1, raters=1) for each in (one, two))
        desk = desk_of(one, first, "Ann")
        slot = next_of(desk)
        given = [*answers_for(first.schema_, 2), Answer(dimension="missing", value=text)]
        try:
            desk.submit(slot, "some-good-key", given, reason=reason)
        except UserError:
            return
        labels = labels_of(one, first, None)
        (folder / "labels.jsonl").write_text(labels_jsonl(labels), encoding="utf-8")
        import_labels(two, second, folder / "labels.jsonl")
        assert labels_of(two, second, None) == labels


def test_who_ticked_nothing_differs_from_who_ticked_something(tmp_path: Path) -> None:
    with Database.open(tmp_path / "store.db", create=True) as database:
        project = small_project(database, "grade", count=2)
        for name, ticked in (("Ann", [Answer(dimension="criteria", value="not correct,not clear")]), ("Bob", [])):
            desk = desk_of(database, project, name)
            for given in (ticked, []):
                slot = next_of(desk)
                desk.submit(slot, f"judged-{name}-{slot}", [Answer(dimension="grade", value=3), *given])
        file = tmp_path / "labels.csv"
        file.write_text(labels_csv(labels_of(database, project, None)), encoding="utf-8")
        values = [one.value for one in labels_of(database, project, None) if one.dimension == "criteria"]
        assert sorted(map(str, values)) == ["none", "none", "none", "not correct,not clear"]
        report = agree(file, resamples=0)
        criteria = next(one for one in report.dimensions if one.dimension == "criteria")
        assert (criteria.judged_twice, criteria.coefficients[0].figure.value) == (2, 0.5)


def test_a_rater_of_imported_labels_may_be_who_serves_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "Ann")
    with Database.open(tmp_path / "store.db", create=True) as database:
        project = small_project(database, "grade", count=2)
        file = tmp_path / "labels.csv"
        file.write_text("case,system,attempt,rater,dimension,value\nshop#1,gpt,1,ann,grade,3\n", encoding="utf-8")
        import_labels(database, project, file)
        assert local_owner(database).role is Role.OWNER
        accept(database, invite(database, Role.RATER), "Bob", "a long password")
        monkeypatch.setenv("LOGNAME", "bob")
        with pytest.raises(UserError, match="'bob' is not an owner's"):
            local_owner(database)


def test_labels_of_something_else_change_nothing(tmp_path: Path) -> None:
    with Database.open(tmp_path / "store.db", create=True) as database:
        project = small_project(database, "grade", count=2)
        file = tmp_path / "labels.csv"
        good = "case,system,attempt,rater,dimension,value\nshop#1,gpt,1,Ann,grade,3\n"
        for bad, says in (
            ("shop#9,gpt,1,Ann,grade,3\n", "no item"),
            ("shop#2,gpt,1,Ann,grade,9\n", "from 1 to 5"),
            ("shop#2,gpt,1,Ann,fun,3\n", "does not ask"),
        ):
            file.write_text(good + bad, encoding="utf-8")
            with pytest.raises(UserError, match=says):
                import_labels(database, project, file)
        assert status(database, project).batches[0].judgements == 0


def test_an_item_shows_nobody_who_wrote_it() -> None:
    cases = small_cases(2)
    for name in set(shipped_schemas()) - {"reports"}:
        for item in make_items(load_schema(name), cases, small_reviews(cases)).items:
            shown = item.model_copy(
                update={"subject": Subject(kind=SubjectKind.CHANGE, case="any"), "parts": ()}
            ).model_dump_json()
            assert "gpt" not in shown


# --- table by table ------------------------------------------------------------------------------------------------


WHO = ("Ann", "Bob", "Cy", "Eve")
WHAT = (*("judge",) * 12, *("again",) * 3, "object", "skip", "flag", "guidelines", "end")


WORDS = Schema.model_validate(
    {
        "name": "words",
        "title": "In words",
        "unit": "review",
        "questions": [
            {"dimension": "useful", "text": "?", "options": [{"value": "1"}, {"value": "0.5"}, {"value": "0"}]},
            {"dimension": "note", "text": "?", "kind": "text"},
        ],
    }
)


def act(desks: dict[str, RaterSession], clock: list[float], who: str, what: str, n: int) -> None:
    """One thing that somebody does, if they can."""
    desk = desks[who]
    clock[0] += 1.1 + n
    if what == "end":
        owner = desk.account.model_copy(update={"role": Role.OWNER})
        end_batch(desk.database, desk.project, owner, n % 2 + 1)
        return
    if what == "guidelines":
        edit_guidelines(desk.database, desk.project.id, f"Version {n}", desk.account.id)
        return
    mine = [one for one in judged_by(desk) if one.answers]
    slot = mine[0].slot if what == "again" and mine else desk.next()
    if slot is None:
        return
    work = desk.work(slot)
    key = f"{who}-{clock[0]:016.4f}"
    if work.confirms or (what == "object" and work.round == "discussion"):
        desk.conclude(slot, key, agreed=work.confirms and what != "object", reason="because")
    elif what in ("skip", "flag"):
        (desk.skip if what == "skip" else desk.flag)(slot, "not my language")
    else:
        schema = desk.project.schema_
        if schema.name == "words":
            words = Answer(dimension="note", value=("NaN", "12", "Abc", "abc", "=1,\n2")[n])
            given = [Answer(dimension="useful", value=("1", "0.5", "0")[n % 3]), words]
        else:
            given = answers_for(schema, work.item.kinds, n)
        if schema.name == "claims" and n > 1:
            given.append(Answer(dimension="missing", value=f"Claim {n}"))
        replaces = work.mine.version if work.mine else 0
        seconds = 0.1 * n if n else None
        desk.submit(slot, key, given, reason="why\n" * (n % 3), seconds=seconds, replaces=replaces)


def tables_that_travel(database: Database, project: Project) -> dict[str, list[tuple[object, ...]]]:
    """Every table without what does not travel; ids as names and numbers."""
    with database.reading() as connection:
        names = account_names(connection)
        rows = connection.execute(
            sql.select(items, batches.c.number.label("b")).join(batches).order_by(items.c.number)
        ).all()
        number = {row.id: row.number for row in rows}
        said = votes.everything(connection, None, project.id)
        compared = connection.execute(sql.select(batches.c.number, batches.c.name, batches.c.compared)).all()
    judged = [
        (number[one.item], one.round, names[one.rater], one.answers, one.reason, one.seconds, one.guidelines, one.at)
        for one in said
    ]
    return {
        "items": [(row.number, row.b, str(row.item), row.language) for row in rows],
        "done": [(row.number, row.round == "done") for row in rows],
        "batches": [tuple(row) for row in compared],
        "judgements": sorted(judged, key=lambda one: (one[0], one[1], one[2])),
    }


@pytest.mark.drill
@settings(max_examples=5, deadline=None, phases=[Phase.generate])
@given(
    name=st.sampled_from(["claims", "comments", "grade", "points", "quality", "words"]),
    kind=st.sampled_from(["csv", "jsonl"]),
    seed=st.integers(0, 10**6),
)
def test_all_that_labels_carry_travels(
    name: str, kind: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Three raters and an expert work in any order, and everything is the same in another database after an import.

    What does not travel is in docs/guides/annotate.md.
    """
    folder, drawn, clock = tmp_path_factory.mktemp("days"), random.Random(seed), [1.7e9]
    with Database.open(folder / "1.db", create=True) as one, Database.open(folder / "2.db", create=True) as two:
        one.clock = two.clock = lambda: clock[0]
        schema = WORDS if name == "words" else load_schema(name)
        first, second = (small_project(each, schema, count=3, raters=2) for each in (one, two))
        roles = {"Eve": Role.EXPERT}
        desks = {who: desk_of(one, first, who, roles.get(who, Role.RATER)) for who in WHO}
        ended = False  # a batch early, which labels do not say
        for _ in range(40):
            who, n = drawn.choice(WHO), drawn.randrange(5)
            what = drawn.choice(WHAT if seed % 3 == 0 else WHAT[:-1])
            with suppress(UserError):
                act(desks, clock, who, what, n)
                ended = ended or what == "end"
        labels = labels_of(one, first, None)
        file = folder / f"labels.{kind}"
        file.write_text((labels_csv if kind == "csv" else labels_jsonl)(labels), encoding="utf-8")
        clock[0] += 1000
        import_labels(two, second, file)
        before, after = tables_that_travel(one, first), tables_that_travel(two, second)
        assert after["items"] == before["items"] and after["judgements"] == before["judgements"]
        assert ended or after == before
        assert labels_of(two, second, None) == labels
