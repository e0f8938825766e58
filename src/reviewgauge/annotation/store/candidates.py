"""Which slots and items one rater may take: by round, role, language, and what they took or put aside before."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sql

from reviewgauge.annotation.store.accounts import Account, Role
from reviewgauge.annotation.store.judgements import DISCUSSION, EXPERT, INDEPENDENT, TRAINING
from reviewgauge.annotation.store.tables import batches, items, remarks, slots

LEASE = 1800.0  # seconds; a slot whose lease is over may be given to somebody else
_ROUNDS = {
    Role.RATER: (INDEPENDENT, DISCUSSION),
    Role.EXPERT: (EXPERT,),
    Role.OWNER: (INDEPENDENT, DISCUSSION, EXPERT),
}


def open_to(rater: Account, project: int, now: float, *, held_too: bool = False) -> sql.Select[Any]:
    """The slots that a rater may take; with `held_too` also those that others hold now."""
    mine = slots.alias()
    touched = sql.exists().where(mine.c.item == items.c.id, mine.c.round == slots.c.round, mine.c.holder == rater.id)
    judged = sql.exists().where(
        mine.c.item == items.c.id,
        mine.c.round == INDEPENDENT,
        mine.c.holder == rater.id,
        mine.c.done.is_(sql.true()),
    )
    right_person = sql.or_(
        slots.c.round == INDEPENDENT,
        (slots.c.round == DISCUSSION) & judged,
        (slots.c.round == EXPERT) & ~judged,
    )
    return (
        sql.select(slots.c.id)
        .join(items, items.c.id == slots.c.item)
        .join(batches, batches.c.id == items.c.batch)
        .where(
            _readable(rater, project),
            batches.c.open.is_(sql.true()),
            batches.c.kind != TRAINING,
            items.c.round == slots.c.round,
            slots.c.round.in_(_ROUNDS[rater.role]),
            slots.c.done.is_(sql.false()),
            is_free(now) | sql.literal(held_too),
            right_person,
            ~touched,
        )
    )


def for_all(rater: Account, project: int, *kinds: str) -> sql.Select[tuple[int, int]]:
    """(item, batch) of what everybody judges, and this rater has not taken yet."""
    mine = slots.c.item == items.c.id, slots.c.round == INDEPENDENT, slots.c.holder == rater.id
    query = sql.select(items.c.id, items.c.batch).join(batches, batches.c.id == items.c.batch)
    judges = sql.literal(INDEPENDENT in _ROUNDS[rater.role])
    now = batches.c.kind.in_(kinds) & (items.c.round == INDEPENDENT)
    return query.where(_readable(rater, project), now, judges, ~sql.exists().where(*mine))


def is_free(now: float) -> sql.ColumnElement[bool]:
    """A slot that nobody holds. A lease that ends later than any could was given before the clock was set back.

    `now` may be a while ago, as writers wait for each other.
    """
    return slots.c.holder.is_(None) | (slots.c.lease < now) | (slots.c.lease > now + 2 * LEASE)


def _readable(rater: Account, project: int) -> sql.ColumnElement[bool]:
    """The items of the project that a rater can read and has not put aside."""
    skipped = sql.exists().where(
        remarks.c.item == items.c.id, remarks.c.rater == rater.id, remarks.c.skipped.is_(sql.true())
    )
    wanted = (items.c.project == project) & ~skipped
    if rater.languages:
        known = [name.casefold() for name in rater.languages]
        wanted &= sql.func.lower(items.c.language).in_([*known, ""])
    return wanted
