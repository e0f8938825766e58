"""Slots, leases, judgements and rounds, on both databases."""

from __future__ import annotations

import re
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sql
from hypothesis import given, settings
from hypothesis import strategies as st

import reviewgauge.annotation
from annotation_toys import add_rater, answers_for, desk_of, judge_all, judged_by, next_of, small_project
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import Role
from reviewgauge.annotation.store.database import Database, is_url
from reviewgauge.annotation.store.judgements import Judgement, NotYours
from reviewgauge.annotation.store.owner import close_account, end_batch
from reviewgauge.annotation.store.projects import Project, edit_guidelines, status
from reviewgauge.annotation.store.queue import LEASE
from reviewgauge.annotation.store.rater_session import AlreadyJudged, RaterSession
from reviewgauge.annotation.store.tables import judgements, slots
from reviewgauge.core.errors import UserError


def together(*work: Callable[[], object]) -> None:
    """Do all of it at once."""
    gate = threading.Barrier(len(work))
    raised: list[BaseException] = []

    def one(task: Callable[[], object]) -> None:
        gate.wait()
        try:
            task()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=one, args=(task,)) for task in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def clocked(database: Database) -> list[float]:
    """Let the test set the time."""
    now = [1_000_000.0]
    database.clock = lambda: now[0]
    return now


def test_what_raters_differ_in_is_discussed_and_then_adjudicated(database: Database) -> None:
    project = small_project(database, count=2)
    ann, bob = desk_of(database, project, "Ann"), desk_of(database, project, "Bob")
    judge_all(ann, 0)
    slot = next_of(bob)
    assert bob.work(slot).earlier == ()  # blind
    judge_all(bob, 4, most=2)
    talk = next_of(ann)
    work = ann.work(talk)
    assert (work.round, len(work.earlier)) == ("discussion", 2)
    assert {vote.answers[0].value for vote in work.earlier} == {1, 5}
    ann.conclude(talk, "no-consensus", agreed=False, reason="we read the guidelines differently")
    assert judge_all(ann, 2) == 1  # she proposes for the other item
    assert status(database, project).batches[0].done == 0
    assert ann.next() is None  # and cannot confirm it herself
    assert judge_all(bob) == 1
    assert status(database, project).batches[0].done == 1
    expert = desk_of(database, project, "Eve", Role.EXPERT)
    case = next_of(expert)
    assert [len(vote.answers) for vote in expert.work(case).earlier] == [2, 2, 0]  # both votes, and why they differ
    assert judge_all(expert, 3) == 1
    assert status(database, project).done == 2


def in_discussion(database: Database, judges: str) -> tuple[Project, list[RaterSession]]:
    """One item that these raters differ in."""
    project = small_project(database, count=1, raters=len(judges))
    desks = [desk_of(database, project, name) for name in judges]
    for grade, desk in enumerate(desks):
        judge_all(desk, grade, most=1)
    return project, desks


def consensus_of(database: Database, project: Project) -> list[Judgement]:
    with database.reading() as connection:
        return [one for one in votes.everything(connection, None, project.id) if one.round != votes.INDEPENDENT]


def test_a_proposal_counts_when_another_rater_of_the_item_confirms_it(both: Database) -> None:
    database = both
    project, (ann, bob) = in_discussion(database, "AB")
    other = desk_of(database, project, "C")
    slot = next_of(ann)
    saved = ann.submit(slot, "the-proposal", answers_for(project.schema_, 0, 2))
    with pytest.raises(UserError, match="another rater"):
        ann.submit(slot, "changed-mind", answers_for(project.schema_, 0, 4), replaces=1)
    assert consensus_of(database, project) == []
    assert (ann.next(), other.next()) == (None, None)
    confirms = next_of(bob)
    work = bob.work(confirms)
    assert (work.confirms, work.earlier[-1].id, len(work.earlier)) == (True, saved.judgement, 3)
    with pytest.raises(UserError, match="another rater"):
        bob.submit(confirms, "own-answers", answers_for(project.schema_, 0, 4))
    done = []
    together(*[lambda: done.append(bob.conclude(confirms, "confirm-key", agreed=True, reason=""))] * 3)
    assert sum(not one.again for one in done) == 1
    assert [one.id for one in consensus_of(database, project)] == [saved.judgement]
    assert status(database, project).done == 1


def test_an_objection_goes_to_an_expert_with_its_reason(database: Database) -> None:
    project, (ann, bob) = in_discussion(database, "AB")
    judge_all(ann, 2)
    slot = next_of(bob)
    with pytest.raises(UserError, match="say why"):
        bob.conclude(slot, "objection", agreed=False, reason=" ")
    bob.conclude(slot, "objection", agreed=False, reason="the cart may be empty")
    expert = desk_of(database, project, "Eve", Role.EXPERT)
    case = next_of(expert)
    assert expert.work(case).earlier[-1].reason == "the cart may be empty"
    judge_all(expert, 3)
    assert [(one.round, one.rater) for one in consensus_of(database, project)] == [("expert", expert.account.id)]


@pytest.mark.parametrize("leaves", ["skips", "is closed", "was closed before"])
def test_a_discussion_with_nobody_left_goes_to_an_expert(database: Database, leaves: str) -> None:
    project, (ann, bob) = in_discussion(database, "AB")
    owner = add_rater(database, "Olga", Role.OWNER)
    if leaves == "was closed before":
        close_account(database, owner, bob.account.id)
    judge_all(ann, 2)
    if leaves == "skips":
        slot = next_of(bob)
        bob.skip(slot, "no time")
    elif leaves == "is closed":
        close_account(database, owner, bob.account.id)
    assert status(database, project).batches[0].waiting == 1
    assert judge_all(desk_of(database, project, "Eve", Role.EXPERT), 1) == 1
    assert [one.round for one in consensus_of(database, project)] == ["expert"]


MOVES = st.lists(
    st.tuples(st.sampled_from(["A", "B", "C", "Eve"]), st.sampled_from(["judge", "agree", "object", "skip", "late"])),
    max_size=25,
)


@pytest.mark.drill
@settings(max_examples=15, deadline=None)
@given(moves=MOVES)
def test_whatever_raters_do_nobody_settles_an_item_alone(moves: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder, Database.open(Path(folder) / "s.db", create=True) as database:
        now = clocked(database)
        project, desks = in_discussion(database, "ABC")
        known = dict(zip("ABC", desks, strict=True)) | {"Eve": desk_of(database, project, "Eve", Role.EXPERT)}
        for at, (name, move) in enumerate(moves):
            desk, key = known[name], f"the-key-{at}"
            slot = desk.next()
            if slot is None:
                continue
            try:
                if move == "judge":
                    desk.submit(slot, key, answers_for(project.schema_, 0, at % 5))
                elif move == "late":
                    now[0] += LEASE + 1
                elif move == "skip":
                    desk.skip(slot, "no")
                else:
                    desk.conclude(slot, key, agreed=move == "agree", reason="so")
            except UserError:
                continue
        found = consensus_of(database, project)
        done = status(database, project).done
        assert len(found) == done
        with database.reading() as connection:
            rows = connection.execute(sql.select(slots).where(slots.c.round == votes.DISCUSSION)).all()
        took_part = {row.holder for row in rows if row.done}
        for one in found:
            assert one.round == votes.EXPERT or len(took_part) == 2
            assert (one.rater == known["Eve"].account.id) == (one.round == votes.EXPERT)
        now[0] += LEASE + 1  # nobody holds anything: somebody can go on, unless the expert skipped it
        if not done and ("Eve", "skip") not in moves:
            assert any(desk.next() is not None for desk in known.values())


def test_a_slot_has_one_holder_however_many_ask_at_once(both: Database) -> None:
    database = both
    project = small_project(database, count=3, raters=2)
    desks = [desk_of(database, project, f"R{n}") for n in range(8)]
    got: list[tuple[int, int | None]] = []
    together(*[lambda desk=desk: got.append((desk.account.id, desk.next())) for desk in (*desks, *desks)])
    by_slot: dict[int, set[int]] = {}
    for rater, slot in got:
        if slot is not None:
            by_slot.setdefault(slot, set()).add(rater)
    assert len(by_slot) == 6
    assert all(len(raters) == 1 for raters in by_slot.values())
    assert max(Counter(rater for raters in by_slot.values() for rater in raters).values()) == 1  # two tabs, one slot


def test_a_double_submit_is_one_judgement(both: Database) -> None:
    database = both
    project = small_project(database)
    desk = desk_of(database, project, "Ann")
    slot = next_of(desk)
    given = answers_for(project.schema_, 0)
    saved = []
    together(*[lambda: saved.append(desk.submit(slot, "the-same-key", given))] * 5)
    assert len({one.judgement for one in saved}) == 1
    assert sum(not one.again for one in saved) == 1
    with database.reading() as connection:
        assert connection.execute(sql.select(sql.func.count()).select_from(judgements)).scalar() == 1


def test_the_last_two_judgements_of_a_batch_at_once_end_its_round(both: Database) -> None:
    database = both
    project = small_project(database, count=1)
    desks = [desk_of(database, project, name) for name in ("Ann", "Bob")]
    together(*[lambda desk=desk: judge_all(desk, 1, most=1) for desk in desks])
    assert status(database, project).done == 1


def test_two_tabs_do_not_overwrite_each_other(database: Database) -> None:
    project = small_project(database)
    desk = desk_of(database, project, "Ann")
    slot = next_of(desk)
    desk.submit(slot, "the-first-tab", answers_for(project.schema_, 0, 1))
    with pytest.raises(AlreadyJudged):
        desk.submit(slot, "second-tab", answers_for(project.schema_, 0, 4))
    desk.submit(slot, "corrected-it", answers_for(project.schema_, 0, 4), replaces=1)
    mine = desk.work(slot).mine
    assert mine is not None
    assert (mine.version, mine.answers[0].value) == (2, 5)


def test_work_of_somebody_whose_lease_is_over_is_kept(database: Database) -> None:
    now = clocked(database)
    project = small_project(database, count=1, raters=1)
    ann, bob = desk_of(database, project, "Ann"), desk_of(database, project, "Bob")
    slot = next_of(ann)
    assert bob.next() is None
    now[0] += LEASE + 1
    assert bob.next() == slot
    late = ann.submit(slot, "late-but-done", answers_for(project.schema_, 0))
    assert late.slot != slot
    bob.submit(slot, "in-time-key", answers_for(project.schema_, 0))
    with database.reading() as connection:
        assert len(votes.everything(connection, None, project.id)) == 2
    assert status(database, project).done == 1


@pytest.mark.parametrize("round_", ["independent", "discussion"])
def test_a_late_answer_and_a_new_holder_at_one_moment_do_not_share_a_slot(both: Database, round_: str) -> None:
    database = both
    now = clocked(database)
    project = small_project(database, count=1, raters=3)
    ann, bob, cid = (desk_of(database, project, name) for name in ("Ann", "Bob", "Cid"))
    if round_ == "discussion":
        for grade, desk in enumerate((ann, bob, cid)):
            judge_all(desk, grade, most=1)
    else:
        judge_all(cid, most=1)
        judge_all(desk_of(database, project, "Dan"), most=1)
    slot = next_of(ann)
    now[0] += LEASE + 1
    taken: list[int | None] = []
    other = threading.Thread(target=lambda: taken.append(bob.next()))

    def while_he_asks() -> float:
        """The time, told between what reads who holds the slot and what writes the judgement."""
        if not other.ident and threading.current_thread() is threading.main_thread():
            other.start()
            other.join(1.0)
        return now[0]

    database.clock = while_he_asks
    late = ann.submit(slot, "late-but-done", answers_for(project.schema_, 0)).slot
    other.join()
    if taken[0] is not None and round_ == "independent":
        bob.submit(taken[0], "in-time-key", answers_for(project.schema_, 0))
    with database.reading() as connection:
        holders = dict(connection.execute(sql.select(slots.c.id, slots.c.holder)).all())
        made = connection.execute(sql.select(judgements.c.slot, judgements.c.rater)).all()
    assert [holders[one] for one, _ in made] == [rater for _, rater in made]
    assert late not in taken


def test_nobody_sees_the_work_of_others(database: Database) -> None:
    project = small_project(database)
    ann, bob = desk_of(database, project, "Ann"), desk_of(database, project, "Bob")
    slot = next_of(ann)
    ann.submit(slot, "key-of-ann", answers_for(project.schema_, 0), reason="mine alone")
    for reach in (bob.work, lambda slot: bob.skip(slot, "no"), lambda slot: bob.flag(slot, "no")):
        with pytest.raises(NotYours):
            reach(slot)
    with pytest.raises(NotYours):
        bob.submit(slot, "key-of-bob", answers_for(project.schema_, 0))
    assert judged_by(bob) == []
    with database.reading() as connection:
        assert votes.own(connection, bob.account, slot) is None
        assert votes.own_by_key(connection, bob.account, "key-of-ann") is None
        for role in (Role.RATER, Role.EXPERT):
            reader = bob.account.model_copy(update={"role": role})
            with pytest.raises(NotYours):
                votes.everything(connection, reader, project.id)
        with pytest.raises(NotYours):
            votes.earlier_votes(connection, bob.account, slot)
        assert votes.earlier_votes(connection, ann.account, slot) == []
    other = next_of(bob)
    assert bob.work(other).earlier == ()


def test_an_owner_who_may_judge_too_reads_only_batches_that_are_over(database: Database) -> None:
    project = small_project(database)
    owner = add_rater(database, "Olga", Role.OWNER)
    seen = []
    for name, most in (("Ann", 4), ("Bob", 1), ("Cy", 1)):
        judge_all(desk_of(database, project, name), most=most)
        with database.reading() as connection:
            seen.append(len(votes.everything(connection, owner, project.id)))
    assert seen == [0, 0, 4]


def test_one_module_reads_and_writes_judgements() -> None:
    """So that no page or verb passes by the questions that it asks."""
    folder = Path(reviewgauge.annotation.__file__).parent
    using = [
        file.name for file in folder.rglob("*.py") if re.search(r"tables import .*\bjudgements\b", file.read_text())
    ]
    assert using == ["judgements.py"]


def test_a_database_that_went_away_and_came_back_is_used_again(where: str) -> None:
    if not is_url(where):
        pytest.skip("a file does not go away")
    with Database.open(where, create=True) as database, Database.open(where) as other:
        project = small_project(database)
        desk = desk_of(database, project, "Ann")
        slot = next_of(desk)
        with other.reading() as connection:
            others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'rater'"
            connection.exec_driver_sql(f"SELECT pg_terminate_backend(pid) {others}")
        assert not desk.submit(slot, "after-the-break", answers_for(project.schema_, 0)).again


def test_a_round_that_is_over_takes_no_changes(database: Database) -> None:
    project = small_project(database, count=1)
    ann, bob = desk_of(database, project, "Ann"), desk_of(database, project, "Bob")
    slot = next_of(ann)
    judge_all(ann, 0)
    judge_all(bob, 4, most=1)
    with pytest.raises(UserError, match="round is over"):
        ann.submit(slot, "changed-mind", answers_for(project.schema_, 0, 4), replaces=1)


def test_items_go_to_those_who_read_their_language(database: Database) -> None:
    project = small_project(database)
    gopher = RaterSession(database, project, add_rater(database, "Gil", languages=("go",)))
    assert judge_all(gopher) == 2


def test_what_was_skipped_does_not_come_again(database: Database) -> None:
    project = small_project(database, count=2)
    desk = desk_of(database, project, "Ann")
    slot = next_of(desk)
    with pytest.raises(UserError, match="say why"):
        desk.skip(slot, " ")
    desk.skip(slot, "I wrote this code")
    assert judge_all(desk) == 1


def test_an_owner_ends_a_batch_that_nobody_finishes(database: Database) -> None:
    project = small_project(database, count=2)
    judge_all(desk_of(database, project, "Ann"), most=1)
    owner = add_rater(database, "Olga", Role.OWNER)
    with pytest.raises(NotYours):
        end_batch(database, project, add_rater(database, "Bob"), 1)
    end_batch(database, project, owner, 1)
    found = status(database, project).batches[0]
    assert (found.done, found.waiting) == (1, 1)


def test_judgements_keep_the_version_of_the_guidelines(database: Database) -> None:
    project = small_project(database)
    desk = desk_of(database, project, "Ann")
    judge_all(desk, most=1)
    assert edit_guidelines(database, project.id, "Be kind.", desk.account.id) == 2
    assert edit_guidelines(database, project.id, "Be kind.", desk.account.id) == 2
    judge_all(desk, most=1)
    assert [one.guidelines for one in judged_by(desk)] == [2, 1]
