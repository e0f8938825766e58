"""Items whose right answer is known: who may see it, and what each rater made of them."""

from __future__ import annotations

import sqlalchemy as sql

from reviewgauge.annotation.schemas.schema import Gold
from reviewgauge.annotation.store.accounts import Account
from reviewgauge.annotation.store.judgements import TRAINING, check_owner
from reviewgauge.annotation.store.tables import batches, gold, items, slots


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
