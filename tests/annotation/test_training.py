"""Items of known answer, the training, and the pilot, on both databases."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest
import sqlalchemy as sql
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation_client import joined, saved, served
from annotation_toys import add_rater, answers_for, desk_of, judged_by, next_of, small_cases, small_reviews
from reviewgauge.annotation.items import make_items
from reviewgauge.annotation.labels import labels_of
from reviewgauge.annotation.new_project import right_answers, with_gold
from reviewgauge.annotation.schemas.schema import Answer, Gold, load_schema
from reviewgauge.annotation.store.accounts import Role
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import NotYours, all_gold
from reviewgauge.annotation.store.owner import close_account, end_batch, open_rest
from reviewgauge.annotation.store.projects import Project, create_project, find_project, status
from reviewgauge.annotation.store.rater_session import RaterSession
from reviewgauge.annotation.store.tables import slots
from reviewgauge.api.annotate import annotate
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind

GRADE = load_schema("grade")


def project_of(database: Database, *, gold: int = 0, training: int = 0, pilot: int = 0, count: int = 6) -> Project:
    """Items of which the first `gold` are known to be a 3."""
    cases = small_cases(count)
    schema = GRADE.model_copy(update={"batch": 2})
    data = make_items(schema, cases, small_reviews(cases))
    known = {at: Gold(answers=(Answer(dimension="grade", value=3),), reason="it is vague") for at in range(gold)}
    data = with_gold(data, known, training=training, limit=None) if gold else data
    return create_project(database, "toy", schema, data.model_copy(update={"pilot": pilot}), raters=2)


def kinds_of(desk: RaterSession, most: int = 100) -> list[tuple[int, bool]]:
    """(batch, whether it is training) of all that a rater gets, who judges it as a 3."""
    found = []
    for _ in range(most):
        slot = desk.next()
        if slot is None:
            break
        work = desk.work(slot)
        found.append((work.batch, work.training))
        desk.submit(slot, f"judged-{desk.account.id}-{slot}", [Answer(dimension="grade", value=3)])
    return found


def test_the_training_comes_first_for_every_rater_and_shows_the_right_answer_afterwards(database: Database) -> None:
    project = project_of(database, gold=3, training=2, count=5)
    for name in ("Ann", "Bob", "Cy"):
        desk = desk_of(database, project, name)
        slot = next_of(desk)
        work = desk.work(slot)
        assert (work.training, work.right) == (True, None)
        desk.submit(slot, f"first-{name}", answers_for(project.schema_, 0))
        right = desk.work(slot).right
        assert right is not None
        assert (right.answers[0].value, right.reason) == (3, "it is vague")
        with pytest.raises(UserError, match="was shown"):
            desk.submit(slot, f"again-{name}", answers_for(project.schema_, 0, 2), replaces=1)
        rest = kinds_of(desk)
        assert [training for _, training in rest] == [True, *[False] * (len(rest) - 1)]
        assert all(desk.work(one.slot).right is None for one in judged_by(desk) if not desk.work(one.slot).training)
    found = status(database, project)
    assert (found.items, found.done, [batch.number for batch in found.batches]) == (3, 3, [1, 2])
    assert len(labels_of(database, project, None)) == 3 * 2 * 2  # grade and criteria; the training is no label


def test_only_an_owner_reads_the_right_answers(database: Database) -> None:
    project = project_of(database, gold=3, training=1)
    with database.reading() as connection:
        assert len(all_gold(connection, add_rater(database, "Olga", Role.OWNER), project.id)) == 3
        for role in (Role.RATER, Role.EXPERT):
            with pytest.raises(NotYours):
                all_gold(connection, add_rater(database, role.value, role), project.id)


def test_gold_items_look_like_any_item(database: Database) -> None:
    project = project_of(database, gold=2, training=0)
    desk = desk_of(database, project, "Ann")
    with database.reading() as connection:
        known = set(all_gold(connection, None, project.id))
    seen = []
    while (slot := desk.next()) is not None:
        desk.submit(slot, f"judged-{slot}", answers_for(project.schema_, 0))
        with database.reading() as connection:
            item = connection.execute(sql.select(slots.c.item).where(slots.c.id == slot)).scalar_one()
        work = desk.work(slot)
        assert (work.right, work.training) == (None, False)
        seen.append(item in known)
    assert (sum(seen), len(seen)) == (2, 6)


def test_the_rest_opens_when_all_have_judged_the_pilot_and_the_owner_has_looked(database: Database) -> None:
    project = project_of(database, pilot=2)
    owner = add_rater(database, "Olga", Role.OWNER)
    ann, bob, cy = (desk_of(database, project, name) for name in ("Ann", "Bob", "Cy"))
    assert kinds_of(ann) == kinds_of(bob) == [(1, False)] * 2
    assert [(batch.over, batch.open) for batch in status(database, project).batches] == [(False, True)] + [
        (False, False)
    ] * 2
    with pytest.raises(UserError, match="still being judged"):
        open_rest(database, project, owner)
    assert status(database, project).batches[0].wanted == 6
    assert len(kinds_of(cy)) == 2
    assert status(database, project).batches[0].over
    assert ann.next() is None
    with pytest.raises(NotYours):
        open_rest(database, project, ann.account)
    open_rest(database, project, owner)
    assert kinds_of(ann) == [(2, False)] * 2 + [(3, False)] * 2


@pytest.mark.parametrize("end", ["skips", "owner"])
def test_a_pilot_ends_without_who_skips_or_where_the_owner_says_so(database: Database, end: str) -> None:
    project = project_of(database, pilot=1)
    owner = add_rater(database, "Olga", Role.OWNER)
    ann, bob, cy = (desk_of(database, project, name) for name in ("Ann", "Bob", "Cy"))
    assert len(kinds_of(ann)) == len(kinds_of(bob)) == 1
    slot = next_of(cy)
    if end == "skips":
        cy.skip(slot, "I wrote it")
    else:
        end_batch(database, project, owner, 1)
    assert status(database, project).batches[0].over
    open_rest(database, project, owner)
    assert len(kinds_of(cy)) == 5


def test_labels_say_which_answers_are_right() -> None:
    cases = small_cases(5)
    items = make_items(GRADE, cases, small_reviews(cases)).items

    def label(case: int, rater: str, value: int, *, expert: bool | None = None) -> Label:
        subject = Subject(kind=SubjectKind.REVIEW, case=f"shop#{case}", system="gpt", attempt=1)
        round_ = {True: "expert", False: "discussion", None: "independent"}[expert]
        reason = f"as {rater} says"
        decided = expert is not None
        return Label(
            subject=subject, rater=rater, dimension="grade", value=value, round=round_, consensus=decided, reason=reason
        )

    labels = [
        *(label(1, "Ann", 1), label(1, "consensus", 2, expert=False), label(1, "Eve", 4, expert=True)),
        *(label(2, "Ann", 1), label(2, "Bob", 5), label(2, "consensus", 2, expert=False)),
        *(label(3, "Ann", 1), label(3, "Bob", 5)),  # nobody decided
        *(label(4, "Ann", 3), label(4, "Bob", 3)),
        label(99, "Ann", 3),
    ]
    found = {items[at].subject.case: gold for at, gold in right_answers(GRADE, items, labels).items()}
    answers = {case: (gold.answers[0].value, gold.reason) for case, gold in found.items()}
    assert answers == {"shop#1": (4, "as Eve says"), "shop#2": (2, "as consensus says"), "shop#4": (3, "as Ann says")}
    with pytest.raises(UserError, match="differ in all"):
        right_answers(GRADE, items, [label(3, "Ann", 1), label(3, "Bob", 5)])
    with pytest.raises(UserError, match="of something else"):
        right_answers(GRADE, items, [label(99, "Ann", 1)])


@given(count=st.integers(2, 12), known=st.sets(st.integers(0, 11)), limit=st.none() | st.integers(1, 12))
def test_every_known_item_is_kept_once_and_in_order(count: int, known: set[int], limit: int | None) -> None:
    cases = small_cases(count)
    data = make_items(GRADE, cases, small_reviews(cases))
    gold = {at: Gold(answers=(Answer(dimension="grade", value=at % 5 + 1),)) for at in known if at < count}
    found = with_gold(data, gold, training=None, limit=limit)
    assert found.training == min(5, len(gold) // 2)
    assert [found.gold[at] for at in range(found.training)] == list(dict(sorted(gold.items())).values())[
        : found.training
    ]
    for at, item in enumerate(found.items):
        assert found.gold.get(at) == gold.get(data.items.index(item))
    rest = [data.items.index(item) for item in found.items[found.training :]]
    assert rest == sorted(rest)
    without = count - len(gold)
    assert len(found.items) == len(gold) + (without if limit is None else min(limit, without))


MOVES = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["judge", "judge", "skip", "close"])), max_size=30)


@pytest.mark.drill
@settings(max_examples=15, deadline=None)
@given(moves=MOVES)
def test_a_pilot_is_over_exactly_when_everybody_was_asked(
    moves: Sequence[tuple[int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Database.open(tmp_path_factory.mktemp("pilot") / "s.db", create=True) as database:
        project = project_of(database, pilot=2, count=3)
        owner = add_rater(database, "Olga", Role.OWNER)
        desks = [desk_of(database, project, f"R{n}") for n in range(4)]
        asked: dict[int, set[str]] = {}
        active = {desk.account.id for desk in desks}
        for at, (who, move) in enumerate(moves):
            desk = desks[who]
            if desk.account.id not in active or status(database, project).batches[0].over:
                continue
            if move == "close" and len(active) > 2:
                close_account(database, owner, desk.account.id)
                active.remove(desk.account.id)
                continue
            slot = desk.next()
            if slot is None:
                continue
            work = desk.work(slot)
            assert (work.batch, work.training) == (1, False)
            asked.setdefault(desk.account.id, set()).add(work.item.subject.case)
            if move == "skip":
                desk.skip(slot, "no")
            else:
                desk.submit(slot, f"the-key-{at}", answers_for(project.schema_, 0, who))
        everybody = all(len(asked.get(rater, ())) == 2 for rater in active)
        over = status(database, project).batches[0].over
        assert over <= everybody
        if everybody and not over:  # only where the last one left, whom the next judgement would have found gone
            assert any(move == "close" for _, move in moves)


def test_the_page_teaches_and_the_owner_opens_the_rest(tmp_path: Path) -> None:
    labels = tmp_path / "right.csv"
    cases = small_cases(6)
    rows = itertools.chain.from_iterable(
        [f"shop#{n},gpt,1,consensus,grade,{n},It is vague.,discussion,true"] for n in (1, 2, 3)
    )
    labels.write_text("\n".join(["case,system,attempt,rater,dimension,value,reason,round,consensus", *rows]))
    where = tmp_path / "store.db"
    options = {"gold": labels, "training": 1, "pilot": 1, "raters": 1, "batch": 10}
    made = annotate(where, cases, small_reviews(cases), schema="grade", **options)  # type: ignore[arg-type]
    assert "1 teach every rater, 2 with a known answer are mixed in" in made.did
    with Database.open(where) as store, served(store, find_project(store)) as (origin, link):
        ann, owner = joined(store, origin, "Ann"), joined(store, origin, "Olga", Role.OWNER)
        page = ann.send("/next")
        assert "Training" in page.text
        assert "It is vague." not in page.text
        taught = saved(ann, page, 5)
        assert (taught.path.partition("?")[0], "It is vague." in taught.text) == (page.path.partition("?")[0], True)
        page = ann.send(taught.path, {"csrf": taught.field("csrf"), "action": "next"})
        assert "Training" not in page.text
        assert "There is nothing else" in saved(ann, page, 5).text
        project = owner.send("/project")
        assert "the pilot" in project.text
        assert "Open the rest" in project.text
        owner.send("/project", {"csrf": project.field("csrf"), "action": "open_rest"})
        assert ann.send("/next").path.startswith("/judge/")
        assert link


def test_impossible_trainings_and_pilots_are_refused(tmp_path: Path) -> None:
    cases = small_cases(2)
    said = small_reviews(cases)
    labels = tmp_path / "right.csv"
    labels.write_text("case,system,attempt,rater,dimension,value\nshop#1,gpt,1,Ann,grade,3\n")
    for options, says in (
        ({"training": 1}, "--gold"),
        ({"pilot": 2}, "leaves none"),
        ({"gold": labels, "training": 2}, "needs 2"),
        ({"gold": labels, "training": 1, "limit": 1, "pilot": 1}, "leaves none"),
    ):
        with pytest.raises(UserError, match=says):
            annotate(tmp_path / "store.db", cases, said, schema="grade", **options)
