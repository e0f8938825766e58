"""What lies before one rater and behind them: their part of each batch, the conflicts, and what they judged."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sql

from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import Account
from reviewgauge.annotation.store.judgements import INDEPENDENT, JUDGE, TRAINING, Judgement
from reviewgauge.annotation.store.projects import Project
from reviewgauge.annotation.store.tables import batches, items, slots
from reviewgauge.core.base import Record


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


def progress(
    connection: sql.Connection, rater: Account, project: int, open_: sql.Select[Any], for_all: sql.Select[Any]
) -> list[Progress]:
    """The batches in which there is work of this rater.

    `open_` are the slots that they may take, and `for_all` the items in which they get a place of their own.
    """
    held = _of_rater(rater, project).where(slots.c.done.is_(sql.false()), items.c.round == slots.c.round)
    done = _of_rater(rater, project).where(slots.c.done.is_(sql.true()), slots.c.round == INDEPENDENT)
    counts: dict[int, list[int]] = {}
    open_ = open_.where(batches.c.kind == JUDGE)
    ways = [(query.where(slots.c.round == INDEPENDENT), at) for query, at in ((done, 0), (held, 1), (open_, 1))]
    for query, at in [*ways, (for_all, 1)]:
        columns = batches.c.number, sql.func.count(sql.distinct(items.c.id))
        counted = query.with_only_columns(*columns, maintain_column_froms=True)
        for batch, count in connection.execute(counted.group_by(batches.c.number)):
            counts.setdefault(batch, [0, 0])[at] += count
    return [Progress(batch=batch, done=one[0], left=one[1]) for batch, one in sorted(counts.items())]


def conflicts(
    connection: sql.Connection,
    rater: Account,
    project: Project,
    free: sql.Select[Any],
    open_: sql.Select[Any],
) -> list[Conflict]:
    """The conflicts that this rater has, may take (`free`), or might if somebody gives them back (`open_`)."""
    held = _of_rater(rater, project.id).where(slots.c.done.is_(sql.false()), items.c.round == slots.c.round)
    columns: tuple[Any, ...] = (slots.c.id, slots.c.round, slots.c.holder, items.c.number, items.c.title)
    columns = (*columns, items.c.id.label("item"), batches.c.number.label("batch"))
    now_free = set(connection.execute(free.where(slots.c.round != INDEPENDENT)).scalars())
    found: dict[int, Conflict] = {}
    for query in (held, open_):
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
