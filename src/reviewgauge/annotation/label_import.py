"""Labels into a project: those of an export, or the recorded ones of a data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sql

from reviewgauge.annotation.items import Item
from reviewgauge.annotation.labels import project_items
from reviewgauge.annotation.schemas.schema import Answer, Question, QuestionKind, Schema, check_answers
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import Account, Role, find_account, new_account
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import DISCUSSION, DONE, EXPERT, INDEPENDENT, ROUNDS
from reviewgauge.annotation.store.projects import Project, current_guidelines
from reviewgauge.annotation.store.rounds import (
    end_independent,
    free_place,
    lock_batch,
    move,
    open_slots,
    settle,
)
from reviewgauge.annotation.store.tables import items, leases, slots
from reviewgauge.core.base import Record, content_id
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import MISSING_CLAIM, Label, RaterKind, Subject
from reviewgauge.datasets.files.labels import read_label_file

_TOLD = ("seconds", "guidelines", "at")  # once for a judgement, by any of its labels
_NOBODY = "imported consensus"  # who wrote a consensus down, where the labels do not say


class Imported(Record):
    """What an import did. `known` judgements were there already."""

    judgements: int
    labels: int
    known: int = 0


def import_labels(database: Database, project: Project, path: Path) -> Imported:
    """Add the judgements that a file of labels holds, all or none; those that are there already are left alone.

    Raters without an account get one without a password. Raises UserError for labels that no item or question fits.
    """
    return store_labels(database, project, read_label_file(path).labels, path.name)


def store_labels(database: Database, project: Project, labels: Sequence[Label], source: str) -> Imported:
    """Add the judgements that labels are, all or none. Raises UserError."""
    with database.writing() as connection:
        work = _Import(connection, database, project)
        grouped: dict[_Key, list[Label]] = {}
        for label in labels:
            grouped.setdefault(work.key(label), []).append(label)
        stored = 0
        for round_ in ROUNDS:
            batches = [work.store(key, group) for key, group in grouped.items() if key.round == round_]
            stored += sum(batch is not None for batch in batches)
            for batch in dict.fromkeys(batches) if round_ == INDEPENDENT else ():
                if batch is not None:
                    settle(connection, project.schema_, batch, 0, INDEPENDENT)
        database.log(connection, None, "import", file=source, judgements=stored)
    return Imported(judgements=stored, labels=len(labels), known=len(grouped) - stored)


class Places:
    """Which item and part a label is about."""

    def __init__(self, schema: Schema, known: Iterable[tuple[int, Item]]) -> None:
        self.schema, self.items = schema, dict(known)
        self._list = next((one for one in schema.questions if one.kind is QuestionKind.LIST), None)
        self._at: dict[Subject, list[tuple[int, int]]] = {}
        for id_, item in self.items.items():
            for part, subject in enumerate((item.subject, *item.parts), -1):
                self._at.setdefault(subject, []).append((id_, part))

    def find(self, label: Label) -> tuple[int, int]:
        """(item, part). Raises UserError."""
        subject = label.subject
        if self._adds(label):
            subject = subject.model_copy(update={"kind": self.schema.unit, "claim": None})
        found = self._at.get(subject, [])
        if len(found) != 1:
            raise UserError(f"no item of the project is about {subject.kind} {subject.case}: {label.dimension}")
        return found[0]

    def _adds(self, label: Label) -> Question | None:
        """The question that the label, a claim that a rater added, answers."""
        return self._list if label.value == MISSING_CLAIM else None

    def answer(self, label: Label) -> Answer:
        """The answer that a label was made from. Raises UserError."""
        question = self._adds(label) or self.schema.question(label.dimension)
        if question is None:
            raise UserError(f"the schema does not ask for {label.dimension!r}")
        in_words = question.kind in (QuestionKind.LIST, QuestionKind.TEXT)
        value = (label.reason or "") if in_words else question.answer_value(label.value)
        return Answer(part=self.find(label)[1], dimension=question.dimension, value=value)

    def says_why(self, label: Label) -> bool:
        """Whether the label's reason is why the rater judged so, not an answer in words."""
        question = self._adds(label) or self.schema.question(label.dimension)
        return bool(label.reason) and not (question and question.kind in (QuestionKind.LIST, QuestionKind.TEXT))

    def why_not(self, label: Label) -> str:
        """Why a label cannot be part of a judgement in the project, in words; empty where it can."""
        if label.rater_kind is not RaterKind.HUMAN:
            return "by a model"
        try:
            check_answers(self.schema, [self.answer(label)], self.items[self.find(label)[0]].kinds, whole=False)
        except UserError:
            asked = self._adds(label) or self.schema.question(label.dimension)
            return f"{label.dimension} of something else" if asked else f"{label.dimension}, which is not asked"
        return ""


class _Key(NamedTuple):
    """Whose judgement of what."""

    item: int
    rater: str
    round: str


class _Import:
    """One import, within one transaction."""

    def __init__(self, connection: sql.Connection, database: Database, project: Project) -> None:
        self.connection, self.database, self.project = connection, database, project
        known = ((id_, item) for id_, item, _ in project_items(connection, project.id))
        self.places = Places(project.schema_, known)

    def key(self, label: Label) -> _Key:
        """The judgement that a label belongs to. Raises UserError."""
        if label.rater_kind is not RaterKind.HUMAN:
            raise UserError(f"{label.rater} is a model, and a project holds people's judgements")
        round_ = label.round or (DISCUSSION if label.consensus else INDEPENDENT)
        if round_ not in ROUNDS:
            raise UserError(f"{round_!r} is not a round", remedy=", ".join(ROUNDS))
        return _Key(self.places.find(label)[0], label.rater, round_)

    def store(self, key: _Key, labels: Sequence[Label]) -> int | None:
        """Store one judgement; returns its batch, None where the rater has judged the item. Raises UserError."""
        connection, schema = self.connection, self.project.schema_
        rater = self._rater(key, labels)
        of_item = (slots.c.item == key.item) & (slots.c.round == key.round)
        mine = sql.select(slots.c.done).where(of_item, slots.c.holder == rater.id)
        if connection.execute(mine).scalar():
            return None
        batch = int(connection.execute(sql.select(items.c.batch).where(items.c.id == key.item)).scalar_one())
        self._begin(key, batch)
        slot = free_place(connection, key.item, key.round)
        connection.execute(slots.update().where(slots.c.id == slot).values(holder=rater.id, done=True))
        connection.execute(leases.insert().values(slot=slot, rater=rater.id))
        told = {name: [one for label in labels if (one := getattr(label, name)) is not None] for name in _TOLD}
        answers = check_answers(schema, map(self.places.answer, labels), self.places.items[key.item].kinds, whole=False)
        votes.write(
            connection,
            rater,
            slot,
            f"import-{content_id(str(key.item), key.rater, key.round, length=40)}",
            answers,
            version=1,
            reason=next((one.reason or "" for one in labels if self.places.says_why(one)), ""),
            seconds=next(iter(told["seconds"]), None),
            guidelines=next(iter(told["guidelines"]), None) or current_guidelines(connection, self.project.id)[0],
            at=next(iter(told["at"]), self.database.clock()),
        )
        if key.round != INDEPENDENT:
            settle(connection, schema, batch, key.item, key.round)
        return batch

    def _begin(self, key: _Key, batch: int) -> None:
        """Bring an item to the round of a judgement, as far as what came before it explains. Raises UserError."""
        compared = lock_batch(self.connection, batch)
        if key.round != INDEPENDENT and not compared:
            end_independent(self.connection, self.project.schema_, batch)
            compared = True
        row = self.connection.execute(sql.select(items.c.number, items.c.round).where(items.c.id == key.item)).one()
        if row.round == key.round and not (compared and key.round == INDEPENDENT):
            return
        in_round = (slots.c.item == key.item) & (slots.c.round == row.round)
        if (row.round, key.round) == (DISCUSSION, EXPERT):  # who discussed it found no consensus
            self.connection.execute(slots.update().where(in_round).values(done=True))
            move(self.connection, key.item, EXPERT)
        elif (row.round, key.round) == (EXPERT, DISCUSSION):  # the votes behind a consensus are not among the labels
            self.connection.execute(slots.update().where(in_round).values(round=DISCUSSION))
            self.connection.execute(items.update().where(items.c.id == key.item).values(round=DISCUSSION))
        elif row.round == DONE and key.round != INDEPENDENT and not self._was_judged(key):
            open_slots(self.connection, key.item, key.round, range(1))  # talked about all the same
        else:
            over = "is done" if row.round == DONE else f"is in the {row.round} round"
            raise UserError(f"item {row.number} {over}: {key.rater}'s judgement of the {key.round} round has no place")

    def _was_judged(self, key: _Key) -> bool:
        """Whether an item has or had a slot in a round."""
        of_item = sql.select(slots.c.id).where(slots.c.item == key.item, slots.c.round == key.round)
        return self.connection.execute(of_item).first() is not None

    def _rater(self, key: _Key, labels: Sequence[Label]) -> Account:
        """The account of a rater."""
        name = next((one.written_by for one in labels if one.written_by), _NOBODY)
        name = name if key.round == DISCUSSION else key.rater
        role = Role.EXPERT if key.round == EXPERT else Role.RATER
        known = find_account(self.connection, name)
        return known or new_account(self.connection, self.database.clock(), name, role)
