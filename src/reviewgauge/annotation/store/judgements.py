"""The only module that reads or writes judgements, so that one place decides who sees whose.

A rater sees their own. Of others they see those about an item that was given to them in a later round, which begins
after all of its batch was judged independently. In a discussion one of the item's raters proposes a label, and another
one confirms it or objects: a judgement without answers. Batches that are over are for an owner, and whole projects for
whoever holds the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sql

from reviewgauge.annotation.schemas.schema import Answer, Gold, Schema, disagree
from reviewgauge.annotation.store.accounts import Account, Role
from reviewgauge.annotation.store.tables import batches, gold, items, judgements, leases, slots
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError

INDEPENDENT, DISCUSSION, EXPERT, DONE = "independent", "discussion", "expert", "done"
ROUNDS = (INDEPENDENT, DISCUSSION, EXPERT)
JUDGE, PILOT, TRAINING = "judge", "pilot", "training"  # kinds of batches
PROPOSAL = 0  # the place in a discussion whose judgement is the consensus once another rater has confirmed it


class Judgement(Record):
    """What one rater said of one item in one round."""

    id: int
    slot: int
    item: int
    round: str
    place: int
    version: int
    rater: int
    client_key: str
    answers: tuple[Answer, ...]
    reason: str = ""
    seconds: float | None = None
    guidelines: int = 1
    at: float = 0.0


class NotYours(UserError):
    """Somebody asks for what is not theirs to see."""


def own(connection: sql.Connection, rater: Account, slot: int) -> Judgement | None:
    """What this rater said in a slot, in the version that counts."""
    query = _all().where(judgements.c.slot == slot, judgements.c.rater == rater.id)
    rows = connection.execute(query.order_by(judgements.c.version.desc()).limit(1)).all()
    return next(_read(rows), None)


def own_by_key(connection: sql.Connection, rater: Account, client_key: str) -> Judgement | None:
    """What this rater handed in under a key of their client."""
    query = _all().where(judgements.c.rater == rater.id, judgements.c.client_key == client_key)
    return next(_read(connection.execute(query).all()), None)


def all_own(connection: sql.Connection, rater: Account, project: int, most: int = 500) -> list[Judgement]:
    """Everything that this rater said in a project, the latest first."""
    query = _newest(project).where(judgements.c.rater == rater.id)
    return list(_read(connection.execute(query.order_by(judgements.c.id.desc()).limit(most)).all()))


def earlier_votes(connection: sql.Connection, rater: Account, slot: int) -> list[Judgement]:
    """What was said before a slot: in earlier rounds, and the proposal for who confirms. Raises NotYours.

    For the rater that the slot was given to.
    """
    given = sql.select(slots.c.item, slots.c.round, slots.c.place, items.c.project, items.c.round.label("now"))
    given = given.join(leases, leases.c.slot == slots.c.id).join(items, items.c.id == slots.c.item)
    row = connection.execute(given.where(slots.c.id == slot, leases.c.rater == rater.id)).first()
    if row is None:
        raise NotYours("this work is not yours")
    before = ROUNDS[: ROUNDS.index(row.round)]
    if not before or row.now == INDEPENDENT:
        return []
    proposed = (slots.c.round == row.round) & (slots.c.round == DISCUSSION) & (slots.c.place < row.place)
    query = _newest(row.project).where(slots.c.item == row.item, slots.c.round.in_(before) | proposed)
    return list(_read(connection.execute(query.order_by(slots.c.id)).all()))


def everything(
    connection: sql.Connection, reader: Account | None, project: int, *, over: bool = False
) -> list[Judgement]:
    """All judgements of a project that count. `reader` is an owner, or None: who runs a command on the database.

    Those of the training do not count, and of a discussion the label that was confirmed. Owners may be raters too, so
    they get batches whose independent round is `over`. Raises NotYours.
    """
    settled = (slots.c.place == PROPOSAL) & (items.c.round == DONE) & ~_went_to_an_expert()
    query = _newest(project).join(batches, batches.c.id == items.c.batch).where(batches.c.kind != TRAINING)
    query = query.where((slots.c.round != DISCUSSION) | settled).order_by(slots.c.item, slots.c.id)
    check_owner(reader)
    if reader is not None or over:
        query = query.where(batches.c.compared.is_(sql.true()))
    return list(_read(connection.execute(query).all()))


def trained(connection: sql.Connection, reader: Account | None, project: int) -> list[Judgement]:
    """All judgements of the training. `reader` is an owner, or None: the command line. Raises NotYours."""
    check_owner(reader)
    query = _newest(project).join(batches, batches.c.id == items.c.batch).where(batches.c.kind == TRAINING)
    return list(_read(connection.execute(query.order_by(slots.c.id)).all()))


def check_owner(reader: Account | None) -> None:
    """Raise NotYours for a reader of a whole project who is not an owner."""
    if reader is not None and reader.role is not Role.OWNER:
        raise NotYours("only an owner may read the judgements of a whole project")


def differing(connection: sql.Connection, batch: int) -> dict[int, list[tuple[Answer, ...]]]:
    """The independent answers about each item of a batch: for the end of its round, which shows them to nobody."""
    return _answers(connection, _newest(None).where(items.c.batch == batch, slots.c.round == INDEPENDENT))


def disputed(connection: sql.Connection, schema: Schema, of: Sequence[int]) -> dict[int, list[str]]:
    """The dimensions that raters differ in, of items whose independent round is over; not who said what."""
    query = _newest(None).join(batches, batches.c.id == items.c.batch)
    query = query.where(slots.c.item.in_(of), slots.c.round == INDEPENDENT, batches.c.compared.is_(sql.true()))
    return {item: disagree(schema, answers) for item, answers in _answers(connection, query).items()}


def _answers(connection: sql.Connection, query: sql.Select[Any]) -> dict[int, list[tuple[Answer, ...]]]:
    found: dict[int, list[tuple[Answer, ...]]] = {}
    for one in _read(connection.execute(query).all()):
        found.setdefault(one.item, []).append(one.answers)
    return found


def write(
    connection: sql.Connection,
    rater: Account,
    slot: int,
    client_key: str,
    answers: Sequence[Answer],
    *,
    version: int,
    reason: str,
    seconds: float | None,
    guidelines: int,
    at: float,
) -> int:
    """Add a judgement; returns its id."""
    row = {
        "slot": slot,
        "version": version,
        "rater": rater.id,
        "client_key": client_key,
        "answers": [one.model_dump(mode="json", exclude_defaults=True) for one in answers],
        "reason": reason,
        "seconds": seconds,
        "guidelines": guidelines,
        "at": at,
    }
    found = connection.execute(judgements.insert().values(row)).inserted_primary_key
    assert found is not None
    return int(found[0])


def _went_to_an_expert() -> sql.Exists:
    later = slots.alias()
    return sql.exists().where(later.c.item == items.c.id, later.c.round == EXPERT)


def _all() -> sql.Select[Any]:
    return sql.select(judgements, slots.c.item, slots.c.round, slots.c.place).join(
        slots, slots.c.id == judgements.c.slot
    )


def _newest(project: int | None) -> sql.Select[Any]:
    """Of each slot the version that counts."""
    newer = judgements.alias()
    superseded = sql.exists().where(newer.c.slot == judgements.c.slot, newer.c.version > judgements.c.version)
    query = _all().join(items, items.c.id == slots.c.item).where(~superseded)
    return query if project is None else query.where(items.c.project == project)


def _read(rows: Sequence[Any]) -> Iterator[Judgement]:
    for row in rows:
        values = dict(row._mapping)
        values["reason"] = values["reason"] or ""
        yield Judgement.model_validate(values)


# --- items whose right answer is known --------------------------------------------------------------------------------


def write_gold(connection: sql.Connection, item: int, known: Gold) -> None:
    """Keep the right answers of a new item."""
    row = known.model_dump(mode="json")
    connection.execute(gold.insert().values(item=item, answers=row["answers"], reason=row["reason"]))


def right_answers(connection: sql.Connection, rater: Account, slot: int) -> Gold | None:
    """The right answers about an item of the training, for a rater who has judged it; else None."""
    query = sql.select(gold).join(items, items.c.id == gold.c.item).join(batches, batches.c.id == items.c.batch)
    query = query.join(slots, slots.c.item == items.c.id)
    mine = (slots.c.id == slot) & (slots.c.holder == rater.id) & slots.c.done.is_(sql.true())
    row = connection.execute(query.where(mine, batches.c.kind == TRAINING)).first()
    return None if row is None else Gold(answers=row.answers, reason=row.reason)


def all_gold(connection: sql.Connection, reader: Account | None, project: int) -> dict[int, Gold]:
    """The right answers of a project by the ids of the items. `reader` is an owner, or None: the command line.

    Raises NotYours.
    """
    check_owner(reader)
    query = sql.select(gold).join(items, items.c.id == gold.c.item).where(items.c.project == project)
    rows = connection.execute(query).all()
    return {row.item: Gold(answers=row.answers, reason=row.reason) for row in rows}
