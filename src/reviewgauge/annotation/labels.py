"""Judgements as Labels, out and in: JSON lines and CSV, so that what was exported gives the same judgements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sql

from reviewgauge.annotation.items import Item
from reviewgauge.annotation.schemas.schema import ITEM, Answer, Question, QuestionKind, Schema, check_answers
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import CONSENSUS, Account, Role, account_names, find_account, new_account
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import DISCUSSION, EXPERT, INDEPENDENT, ROUNDS, Judgement
from reviewgauge.annotation.store.projects import Project, current_guidelines
from reviewgauge.annotation.store.rounds import free_place, lock_batch, settle
from reviewgauge.annotation.store.tables import batches, items, leases, slots
from reviewgauge.core.base import Record, content_id
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import MISSING_CLAIM, Label, RaterKind, Scale, Subject, SubjectKind
from reviewgauge.datasets.files.labels import read_label_file
from reviewgauge.views.csv_tables import Cell, to_csv

COLUMNS = (
    *("case", "system", "attempt", "comment", "reference", "claim", "rater", "dimension", "value"),
    *("batch", "round", "reason", "seconds", "consensus"),
)


class Imported(Record):
    """What an import did."""

    judgements: int
    labels: int
    known: int = 0  # judgements that were there already


# --- out -----------------------------------------------------------------------------------------------------------


def labels_of(database: Database, project: Project, reader: Account | None) -> list[Label]:
    """All labels of a project in the order of its items. `reader` is an owner, or None: the command line.

    Raises NotYours.
    """
    with database.reading() as connection:
        judged = votes.everything(connection, reader, project.id)
        names = account_names(connection)
        known = {id_: (item, batch) for id_, item, batch in _items(connection, project.id)}
    found: list[Label] = []
    for one in judged:
        item, batch = known[one.item]
        found += _labels(project.schema_, item, one, names[one.rater], str(batch))
    return found


def scales_of(schema: Schema) -> dict[str, Scale]:
    """The scale of each dimension that has one."""
    kept = [one for one in schema.questions if one.kind is QuestionKind.SCALE]
    return {one.dimension: Scale(low=one.low, high=one.high, meaning=one.text) for one in kept}


def _labels(schema: Schema, item: Item, one: Judgement, name: str, batch: str) -> Iterator[Label]:
    rater = CONSENSUS if one.round == DISCUSSION else name
    for number, answer in enumerate(one.answers):
        label = Label(
            subject=item.subject if answer.part == ITEM else item.parts[answer.part],
            rater=rater,
            dimension=answer.dimension,
            value=answer.value,
            round=one.round,
            batch=batch,
            reason=one.reason or None,
            seconds=one.seconds,
            consensus=one.round != INDEPENDENT,
        )
        question = schema.question(answer.dimension)
        if question is not None and question.kind is QuestionKind.LIST:
            added = {
                "subject": _added(item.subject, content_id(rater, one.round, number)),
                "dimension": _claim_dimension(schema, question),
                "value": MISSING_CLAIM,
                "reason": str(answer.value),
            }
            label = label.model_copy(update=added)
        yield label


def _added(subject: Subject, name: str) -> Subject:
    kind = SubjectKind.LINK if subject.system else SubjectKind.CLAIM
    return subject.model_copy(update={"kind": kind, "claim": f"new-{name}"})


def _claim_dimension(schema: Schema, question: Question) -> str:
    """The dimension of a claim that is added: that of the claims which are judged."""
    return next((one.dimension for one in schema.questions if one.each), question.dimension)


def labels_csv(labels: Iterable[Label]) -> str:
    """Labels as the table that docs/guides/people.md describes."""
    return to_csv(COLUMNS, (_row(label) for label in labels))


def labels_jsonl(labels: Iterable[Label]) -> str:
    """Labels as JSON lines."""
    return "".join(label.to_line().decode() for label in labels)


def _row(label: Label) -> Sequence[Cell]:
    s = label.subject
    return (
        *(s.case, s.system, s.attempt if s.system else None, s.comment, s.reference, s.claim),
        *(label.rater, label.dimension, label.value, label.batch, label.round, label.reason, label.seconds),
        "true" if label.consensus else None,
    )


# --- in ------------------------------------------------------------------------------------------------------------


def import_labels(database: Database, project: Project, path: Path) -> Imported:
    """Add the judgements that a file of labels holds, all or none; those that are there already are left alone.

    Raters without an account get one without a password. Raises UserError for labels that no item or question fits.
    """
    labels = read_label_file(path).labels
    with database.writing() as connection:
        work = _Import(connection, database, project)
        grouped: dict[_Key, list[Label]] = {}
        for label in labels:
            grouped.setdefault(work.key(label), []).append(label)
        stored = 0
        for round_ in ROUNDS:
            mine = {key: group for key, group in grouped.items() if key.round == round_}
            batches_now = [batch for key, group in mine.items() if (batch := work.store(key, group)) is not None]
            stored += len(batches_now)
            if round_ == INDEPENDENT:
                for batch in dict.fromkeys(batches_now):
                    settle(connection, project.schema_, batch, 0, INDEPENDENT)
        database.log(connection, None, "import", file=path.name, judgements=stored)
    return Imported(judgements=stored, labels=len(labels), known=len(grouped) - stored)


class _Places:
    """Which item and part a label is about."""

    def __init__(self, schema: Schema, known: Iterable[tuple[int, Item, int]]) -> None:
        self.schema = schema
        self.items: dict[int, Item] = {}
        self._at: dict[Subject, list[tuple[int, int]]] = {}
        for id_, item, _ in known:
            self.items[id_] = item
            for part, subject in ((ITEM, item.subject), *enumerate(item.parts)):
                self._at.setdefault(subject, []).append((id_, part))

    def find(self, label: Label) -> tuple[int, int]:
        """(item, part). Raises UserError."""
        subject = label.subject
        if self.adds(label):
            subject = subject.model_copy(update={"kind": self.schema.unit, "claim": None})
        found = self._at.get(subject, [])
        if len(found) != 1:
            raise UserError(f"no item of the project is about {subject.kind} {subject.case}: {label.dimension}")
        return found[0]

    def item(self, label: Label) -> int:
        """The item that a label is about."""
        return self.find(label)[0]

    def adds(self, label: Label) -> bool:
        """Whether the label is a claim that a rater added."""
        return label.value == MISSING_CLAIM and self._list() is not None

    def _list(self) -> Question | None:
        return next((one for one in self.schema.questions if one.kind is QuestionKind.LIST), None)

    def answer(self, label: Label) -> Answer:
        """The answer that a label was made from. Raises UserError."""
        added = self._list()
        if self.adds(label) and added is not None:
            return Answer(dimension=added.dimension, value=label.reason or "")
        question = self.schema.question(label.dimension)
        if question is None:
            raise UserError(f"the schema does not ask for {label.dimension!r}")
        value = label.value if question.kind is QuestionKind.SCALE else str(label.value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return Answer(part=self.find(label)[1], dimension=label.dimension, value=value)


class _Key(NamedTuple):
    """Whose judgement of what."""

    item: int
    rater: str
    round: str


class _Import:
    """One import, within one transaction."""

    def __init__(self, connection: sql.Connection, database: Database, project: Project) -> None:
        self.connection, self.database, self.project = connection, database, project
        self.places = _Places(project.schema_, _items(connection, project.id))

    def key(self, label: Label) -> _Key:
        """The judgement that a label belongs to. Raises UserError."""
        if label.rater_kind is not RaterKind.HUMAN:
            raise UserError(f"{label.rater} is a model, and a project holds people's judgements")
        round_ = label.round or INDEPENDENT
        if round_ not in ROUNDS:
            raise UserError(f"{round_!r} is not a round", remedy=", ".join(ROUNDS))
        return _Key(self.places.item(label), label.rater, round_)

    def store(self, key: _Key, labels: Sequence[Label]) -> int | None:
        """Store one judgement; returns its batch, None where the rater has judged the item. Raises UserError."""
        connection, schema = self.connection, self.project.schema_
        rater = self._rater(key)
        of_item = (slots.c.item == key.item) & (slots.c.round == key.round)
        mine = sql.select(slots.c.done).where(of_item, slots.c.holder == rater.id)
        if connection.execute(mine).scalar():
            return None
        query = sql.select(items.c.batch, items.c.number, items.c.round).where(items.c.id == key.item)
        row = connection.execute(query).one()
        compared = lock_batch(connection, row.batch)
        if row.round != key.round or (compared and key.round == INDEPENDENT):
            raise UserError(f"item {row.number} is not in the {key.round} round: {key.rater}'s judgement has no place")
        slot = free_place(connection, key.item, key.round)
        connection.execute(slots.update().where(slots.c.id == slot).values(holder=rater.id, done=True))
        connection.execute(leases.insert().values(slot=slot, rater=rater.id))
        votes.write(
            connection,
            rater,
            slot,
            f"import-{content_id(str(key.item), key.rater, key.round, length=40)}",
            check_answers(schema, map(self.places.answer, labels), len(self.places.items[key.item].parts)),
            version=1,
            reason=next((one.reason for one in labels if one.reason and not self.places.adds(one)), ""),
            seconds=next((one.seconds for one in labels if one.seconds is not None), None),
            guidelines=current_guidelines(connection, self.project.id)[0],
            at=self.database.clock(),
        )
        if key.round != INDEPENDENT:
            settle(connection, schema, row.batch, key.item, key.round)
        return int(row.batch)

    def _rater(self, key: _Key) -> Account:
        """The account of a rater; labels do not say who wrote a consensus down."""
        name = _IMPORTED if key.round == DISCUSSION else key.rater
        role = Role.EXPERT if key.round == EXPERT else Role.RATER
        known = find_account(self.connection, name)
        return known or new_account(self.connection, self.database.clock(), name, role)


_IMPORTED = "imported consensus"


def _items(connection: sql.Connection, project: int) -> list[tuple[int, Item, int]]:
    """(id, item, number of its batch) in order."""
    query = sql.select(items.c.id, items.c.item, batches.c.number).join(batches, batches.c.id == items.c.batch)
    rows = connection.execute(query.where(items.c.project == project).order_by(items.c.number)).all()
    return [(row.id, Item.model_validate(row.item), row.number) for row in rows]
