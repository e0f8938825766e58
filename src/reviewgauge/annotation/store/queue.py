"""What lies before one rater and behind them: their part of each batch, the conflicts, and what they judged.

Which slots and items one rater may take: by round, role, language, and what they took or put aside before.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sql

from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.accounts import Account, Role
from reviewgauge.annotation.store.database import Database
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


def is_free(now: float) -> sql.ColumnElement[bool]:
    """A slot that nobody holds. A lease that ends later than any could was given before the clock was set back.

    `now` may be a while ago, as writers wait for each other.
    """
    return slots.c.holder.is_(None) | (slots.c.lease < now) | (slots.c.lease > now + 2 * LEASE)


class Progress(Record):
    """One rater's part of a batch: how much they judged, and what is left that they may judge."""

    batch: int
    done: int
    left: int


class Conflict(Record):
    """An item that raters differ in. `mine`: this rater has taken it."""

    slot: int
    item: int
    number: int
    title: str
    batch: int
    round: str
    mine: bool
    dimensions: tuple[str, ...] = ()


class Done(Record):
    """What one rater judged. `open`: it may still be corrected."""

    judgement: Judgement
    number: int
    title: str
    batch: int
    open: bool


class RaterQueue:
    """What one account has, may take and has done in one project."""

    def __init__(self, database: Database, project: Project, account: Account) -> None:
        self.database, self.project, self.account = database, project, account

    def progress(self) -> list[Progress]:
        """The batches in which there is work of this rater, and how far they are in each."""
        done = self._mine().where(slots.c.done.is_(sql.true()), slots.c.round == INDEPENDENT)
        held = self._held().where(slots.c.round == INDEPENDENT)
        free = self._free().where(batches.c.kind == JUDGE, slots.c.round == INDEPENDENT)
        counts: dict[int, list[int]] = {}
        with self.database.reading() as connection:
            for query, at in ((done, 0), (held, 1), (free, 1), (self._for_all(TRAINING, PILOT), 1)):
                columns = batches.c.number, sql.func.count(sql.distinct(items.c.id))
                counted = query.with_only_columns(*columns, maintain_column_froms=True)
                for batch, count in connection.execute(counted.group_by(batches.c.number)):
                    counts.setdefault(batch, [0, 0])[at] += count
        return [Progress(batch=batch, done=one[0], left=one[1]) for batch, one in sorted(counts.items())]

    def conflicts(self) -> list[Conflict]:
        """What this rater has taken or may take to discuss or to adjudicate."""
        columns = (
            *(slots.c.id.label("slot"), slots.c.round, (slots.c.holder == self.account.id).label("mine")),
            *(items.c.id.label("item"), items.c.number, items.c.title, batches.c.number.label("batch")),
        )
        with self.database.reading() as connection:
            found: list[Any] = []
            for query in (self._held(), self._free()):
                later = query.where(slots.c.round != INDEPENDENT).order_by(items.c.number, slots.c.place)
                found += connection.execute(later.with_only_columns(*columns, maintain_column_froms=True)).all()
            disputed = votes.disputed(connection, self.project.schema_, [row.item for row in found])
        return [
            Conflict(**{**row._mapping, "mine": bool(row.mine)}, dimensions=tuple(disputed.get(row.item, ())))
            for row in found
        ]

    def history(self) -> list[Done]:
        """What this rater judged, the latest first."""
        query = self._mine().with_only_columns(
            *(slots.c.id, slots.c.round, items.c.number, items.c.title, items.c.round.label("now")),
            *(batches.c.number.label("batch"), batches.c.compared, batches.c.kind),
            maintain_column_froms=True,
        )
        found = []
        with self.database.reading() as connection:
            known = {row.id: row for row in connection.execute(query)}
            for one in votes.all_own(connection, self.account, self.project.id):
                if (row := known.get(one.slot)) is not None:
                    open_ = row.now == row.round == INDEPENDENT and not row.compared and row.kind != TRAINING
                    found.append(Done(judgement=one, number=row.number, title=row.title, batch=row.batch, open=open_))
        return found

    def _mine(self) -> sql.Select[int]:
        """The slots that this rater holds or has judged."""
        return self._slots().where(slots.c.holder == self.account.id)

    def _held(self) -> sql.Select[int]:
        """Those that they have not judged yet."""
        return self._mine().where(slots.c.done.is_(sql.false()), items.c.round == slots.c.round)

    def _slots(self) -> sql.Select[int]:
        query = sql.select(slots.c.id).join(items, items.c.id == slots.c.item)
        return query.join(batches, batches.c.id == items.c.batch).where(items.c.project == self.project.id)

    def _free(self) -> sql.Select[int]:
        """The slots that this rater may take."""
        mine = slots.alias()
        of_item = (mine.c.item == items.c.id) & (mine.c.holder == self.account.id)
        touched = sql.exists().where(of_item, mine.c.round == slots.c.round)
        judged = sql.exists().where(of_item, mine.c.round == INDEPENDENT, mine.c.done.is_(sql.true()))
        right_person = sql.or_(
            slots.c.round == INDEPENDENT,
            (slots.c.round == DISCUSSION) & judged,
            (slots.c.round == EXPERT) & ~judged,
        )
        return self._slots().where(
            self._readable(),
            batches.c.open.is_(sql.true()),
            batches.c.kind != TRAINING,
            items.c.round == slots.c.round,
            slots.c.round.in_(_ROUNDS[self.account.role]),
            slots.c.done.is_(sql.false()),
            is_free(self.database.clock()),
            right_person,
            ~touched,
        )

    def _for_all(self, *kinds: str) -> sql.Select[int, int]:
        """(item, batch) of what everybody judges, and this rater has not taken yet."""
        mine = slots.c.item == items.c.id, slots.c.round == INDEPENDENT, slots.c.holder == self.account.id
        query = sql.select(items.c.id, items.c.batch).join(batches, batches.c.id == items.c.batch)
        judges = sql.literal(INDEPENDENT in _ROUNDS[self.account.role])
        now = (items.c.project == self.project.id) & batches.c.kind.in_(kinds) & (items.c.round == INDEPENDENT)
        return query.where(self._readable(), now, judges, ~sql.exists().where(*mine))

    def _readable(self) -> sql.ColumnElement[bool]:
        """The items that a rater can read and has not put aside."""
        aside = remarks.c.item == items.c.id, remarks.c.rater == self.account.id, remarks.c.skipped.is_(sql.true())
        readable = ~sql.exists().where(*aside)
        if self.account.languages:
            known = [name.casefold() for name in self.account.languages]
            readable &= sql.func.lower(items.c.language).in_([*known, ""])
        return readable
