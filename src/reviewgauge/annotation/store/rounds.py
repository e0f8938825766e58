"""The rounds of a batch: independent judgements, then a discussion of what raters differ in, then an expert."""

from __future__ import annotations

import sqlalchemy as sql

from reviewgauge.annotation.schemas.schema import Schema, disagree
from reviewgauge.annotation.store.accounts import Account, Role, all_accounts
from reviewgauge.annotation.store.judgements import (
    DISCUSSION,
    DONE,
    EXPERT,
    INDEPENDENT,
    JUDGE,
    PROPOSAL,
    TRAINING,
    differing,
)
from reviewgauge.annotation.store.tables import accounts, batches, items, projects, remarks, slots
from reviewgauge.core.errors import UserError


def open_slots(connection: sql.Connection, item: int, round_: str, places: range) -> None:
    """Add free slots to an item."""
    free = {"item": item, "round": round_, "lease": 0.0, "opened": 0.0, "done": False}
    if places:
        connection.execute(slots.insert(), [{**free, "place": place} for place in places])


def free_place(connection: sql.Connection, item: int, round_: str) -> int:
    """A slot of an item that nobody holds, locked; in the independent round another one is made where there is none.

    In other rounds it is the first one. The batch is locked. Raises UserError.
    """
    of_item = (slots.c.item == item) & (slots.c.round == round_)
    free = sql.select(slots.c.id).where(of_item, slots.c.holder.is_(None), slots.c.done.is_(sql.false()))
    if round_ != INDEPENDENT:
        free = free.where(slots.c.place == PROPOSAL)
    found = connection.execute(free.order_by(slots.c.place).limit(1).with_for_update()).scalar()
    if found is None and round_ != INDEPENDENT:
        raise UserError("somebody else has taken this over", remedy="take the next one")
    if found is None:
        found = add_place(connection, item)
    return int(found)


def add_place(connection: sql.Connection, item: int) -> int:
    """Another slot for an independent judgement of an item. Its batch is locked."""
    of_item = (slots.c.item == item) & (slots.c.round == INDEPENDENT)
    last = connection.execute(
        sql.select(sql.func.coalesce(sql.func.max(slots.c.place), -1)).where(of_item)
    ).scalar_one()
    open_slots(connection, item, INDEPENDENT, range(last + 1, last + 2))
    return int(connection.execute(sql.select(slots.c.id).where(of_item, slots.c.place == last + 1)).scalar_one())


def lock_batch(connection: sql.Connection, batch: int) -> bool:
    """Let no other transaction change a batch until this one ends; whether its independent round is over."""
    query = sql.select(batches.c.compared).where(batches.c.id == batch).with_for_update()
    return bool(connection.execute(query).scalar_one())


def settle(connection: sql.Connection, schema: Schema, batch: int, item: int, round_: str) -> None:
    """What follows from a slot that was just judged, or from a proposal that was confirmed; the batch is locked."""
    if round_ != INDEPENDENT:
        move(connection, item, DONE)
    elif _all_judged(connection, batch):
        end_independent(connection, schema, batch)


def active_raters(connection: sql.Connection) -> list[Account]:
    """Everybody whose only work is to judge."""
    return [one for one in all_accounts(connection) if one.active and one.role is Role.RATER]


def _all_judged(connection: sql.Connection, batch: int) -> bool:
    """Whether the independent round of a locked batch has nothing left to judge."""
    query = sql.select(batches.c.kind, batches.c.compared, projects.c.raters)
    row = connection.execute(query.join(projects).where(batches.c.id == batch)).one()
    if row.kind == TRAINING or row.compared:
        return False
    if row.kind == JUDGE:
        left = sql.select(slots.c.id).join(items, items.c.id == slots.c.item).where(items.c.batch == batch)
        left = left.where(slots.c.round == INDEPENDENT, slots.c.done.is_(sql.false()))
        return connection.execute(left.limit(1)).first() is None
    # A pilot: everybody has judged or skipped each item that is in their languages.
    judged = sql.select(items.c.id, slots.c.holder).join(slots, slots.c.item == items.c.id)
    skipped = sql.select(items.c.id, remarks.c.rater).join(remarks, remarks.c.item == items.c.id)
    judged = judged.where(items.c.batch == batch, slots.c.done.is_(sql.true()))
    skipped = skipped.where(items.c.batch == batch, remarks.c.skipped.is_(sql.true()))
    asked: dict[int, set[int]] = {}
    for item, rater in connection.execute(judged.union(skipped)).all():
        asked.setdefault(item, set()).add(rater)
    everybody = active_raters(connection)
    of_batch = sql.select(items.c.id, items.c.language).where(items.c.batch == batch)
    return all(
        len(asked.get(item.id, ())) >= row.raters
        and all(one.id in asked[item.id] or not one.reads(item.language) for one in everybody)
        for item in connection.execute(of_batch).all()
    )


def end_independent(connection: sql.Connection, schema: Schema, batch: int) -> None:
    """Compare the independent judgements of a locked batch: items that raters differ in go to discussion.

    Items that nobody judged, as an owner may end the round early, go to an expert.
    """
    connection.execute(batches.update().where(batches.c.id == batch).values(compared=True))
    judged = differing(connection, batch)
    for item in connection.execute(sql.select(items.c.id).where(items.c.batch == batch)).scalars().all():
        if item not in judged:
            move(connection, item, EXPERT)
        elif disagree(schema, judged[item]):
            move(connection, item, DISCUSSION if schema.discussion else EXPERT)
        else:
            move(connection, item, DONE)


def check_discussion(connection: sql.Connection, item: int) -> None:
    """Give an item to an expert where none of its raters is left who could take part in its discussion.

    Its batch is locked.
    """
    mine, aside = slots.alias(), remarks.alias()
    took_part = sql.exists().where(
        mine.c.item == item, mine.c.round == DISCUSSION, mine.c.holder == slots.c.holder, mine.c.done.is_(sql.true())
    )
    skipped = sql.exists().where(aside.c.item == item, aside.c.rater == slots.c.holder, aside.c.skipped.is_(sql.true()))
    left = sql.select(slots.c.id).join(accounts, accounts.c.id == slots.c.holder)
    left = left.where(slots.c.item == item, slots.c.round == INDEPENDENT, slots.c.done.is_(sql.true()))
    left = left.where(accounts.c.active.is_(sql.true()), ~took_part, ~skipped)
    open_ = sql.select(items.c.id).where(items.c.id == item, items.c.round == DISCUSSION)
    if connection.execute(open_).first() and not connection.execute(left.limit(1)).first():
        move(connection, item, EXPERT)


def move(connection: sql.Connection, item: int, round_: str) -> None:
    """Let a round of an item begin, or its work be done."""
    connection.execute(items.update().where(items.c.id == item).values(round=round_))
    if round_ != DONE:
        open_slots(connection, item, round_, range(1))
