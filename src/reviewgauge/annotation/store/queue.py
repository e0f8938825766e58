"""What lies before one rater and behind them: their part of each batch, the conflicts, and what they judged.

Which slots and items one rater may take: by round, role, language, and what they took or put aside before.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sql

from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import Account, Role
from reviewgauge.annotation.store.judgements import DISCUSSION, EXPERT, INDEPENDENT, JUDGE, PILOT, TRAINING, Judgement
from reviewgauge.annotation.store.projects import Project
from reviewgauge.annotation.store.tables import batches, items, remarks, slots
from reviewgauge.core.base import Record

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


class Progress(Record):
    """One rater's part of a batch: how much they judged, and what is left that they may judge."""

    batch: int
    done: int
    left: int


class Conflict(Record):
    """An item that raters differ in. `mine`: this rater has taken it; `busy`: somebody else has."""

    slot: int
    item: int
    number: int
    title: str
    batch: int
    round: str
    mine: bool
    busy: bool
    dimensions: tuple[str, ...] = ()


class Done(Record):
    """What one rater judged. `open`: it may still be corrected."""

    judgement: Judgement
    number: int
    title: str
    batch: int
    open: bool


def progress(connection: sql.Connection, rater: Account, project: int, now: float) -> list[Progress]:
    """The batches in which there is work of this rater."""
    held = _of_rater(rater, project).where(slots.c.done.is_(sql.false()), items.c.round == slots.c.round)
    done = _of_rater(rater, project).where(slots.c.done.is_(sql.true()), slots.c.round == INDEPENDENT)
    open_ = open_to(rater, project, now).where(batches.c.kind == JUDGE)
    counts: dict[int, list[int]] = {}
    ways = [(query.where(slots.c.round == INDEPENDENT), at) for query, at in ((done, 0), (held, 1), (open_, 1))]
    for query, at in [*ways, (for_all(rater, project, TRAINING, PILOT), 1)]:
        columns = batches.c.number, sql.func.count(sql.distinct(items.c.id))
        counted = query.with_only_columns(*columns, maintain_column_froms=True)
        for batch, count in connection.execute(counted.group_by(batches.c.number)):
            counts.setdefault(batch, [0, 0])[at] += count
    return [Progress(batch=batch, done=one[0], left=one[1]) for batch, one in sorted(counts.items())]


def conflicts(connection: sql.Connection, rater: Account, project: Project, now: float) -> list[Conflict]:
    """The conflicts that this rater has, may take, or might if somebody gives them back."""
    held = _of_rater(rater, project.id).where(slots.c.done.is_(sql.false()), items.c.round == slots.c.round)
    columns: tuple[Any, ...] = (slots.c.id, slots.c.round, slots.c.holder, items.c.number, items.c.title)
    columns = (*columns, items.c.id.label("item"), batches.c.number.label("batch"))
    free = open_to(rater, project.id, now).where(slots.c.round != INDEPENDENT)
    now_free = set(connection.execute(free).scalars())
    found: dict[int, Conflict] = {}
    for query in (held, open_to(rater, project.id, now, held_too=True)):
        later = query.where(slots.c.round != INDEPENDENT).order_by(items.c.number, slots.c.place)
        for row in connection.execute(later.with_only_columns(*columns, maintain_column_froms=True)):
            mine = row.holder == rater.id
            known = {"number": row.number, "title": row.title, "batch": row.batch, "round": row.round}
            busy = not mine and row.id not in now_free
            found.setdefault(row.id, Conflict(slot=row.id, item=row.item, mine=mine, busy=busy, **known))
    disputed = votes.disputed(connection, project.schema_, [one.item for one in found.values()])
    return [one.model_copy(update={"dimensions": tuple(disputed.get(one.item, ()))}) for one in found.values()]


def history(connection: sql.Connection, rater: Account, project: int) -> list[Done]:
    """What this rater judged, the latest first."""
    query = _of_rater(rater, project).with_only_columns(
        *(slots.c.id, slots.c.round, items.c.number, items.c.title, items.c.round.label("now")),
        *(batches.c.number.label("batch"), batches.c.compared, batches.c.kind),
        maintain_column_froms=True,
    )
    known = {row.id: row for row in connection.execute(query)}
    found = []
    for one in votes.all_own(connection, rater, project):
        if (row := known.get(one.slot)) is not None:
            open_ = row.now == row.round == INDEPENDENT and not row.compared and row.kind != TRAINING
            found.append(Done(judgement=one, number=row.number, title=row.title, batch=row.batch, open=open_))
    return found


def _of_rater(rater: Account, project: int) -> sql.Select[Any]:
    query = sql.select(slots.c.id).join(items, items.c.id == slots.c.item).join(batches, batches.c.id == items.c.batch)
    return query.where(slots.c.holder == rater.id, items.c.project == project)
