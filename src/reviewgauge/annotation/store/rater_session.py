"""What one rater can do in one project: get work, see it, hand it in, put it aside. All of it is about them alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sql
from pydantic import Field
from sqlalchemy.exc import IntegrityError

from reviewgauge.annotation.items import Item
from reviewgauge.annotation.schemas.schema import Answer, Gold, check_answers, clean_text
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.judgements import (
    DISCUSSION,
    EXPERT,
    INDEPENDENT,
    PILOT,
    PROPOSAL,
    TRAINING,
    Judgement,
    NotYours,
    right_answers,
)
from reviewgauge.annotation.store.projects import current_guidelines
from reviewgauge.annotation.store.queue import LEASE, RaterQueue, is_free
from reviewgauge.annotation.store.rounds import (
    add_place,
    check_discussion,
    free_place,
    lock_batch,
    move,
    open_slots,
    settle,
)
from reviewgauge.annotation.store.tables import accounts, batches, changes, items, leases, remarks, slots, texts
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Change

_CANDIDATES = 20  # free slots that are looked at, so that raters who ask at once do not all try the same one


class Work(Record):
    """An item as one rater sees it. `earlier` are the votes that a discussion and an expert see, without names.

    `confirms`: somebody proposed a consensus, the last of `earlier`, and this rater confirms it or objects. `right` is
    what a rater sees of an item of the training when they have judged it. `texts` are changed files after the change,
    by path. `open`: a judgement of it can be made or corrected.
    """

    slot: int
    number: int
    batch: int
    round: str
    item: Item
    change: Change
    texts: dict[str, str] = Field(default_factory=dict)
    done: bool
    open: bool
    guidelines: str
    mine: Judgement | None = None
    earlier: tuple[Judgement, ...] = ()
    confirms: bool = False
    training: bool = False
    right: Gold | None = None


class Saved(Record):
    """A judgement that is in the store. `again`: it was there already."""

    judgement: int
    slot: int
    again: bool = False


class AlreadyJudged(UserError):
    """The slot has another judgement of this rater, from another tab."""


class RaterSession(RaterQueue):
    """The work of one account in one project."""

    # --- getting work --------------------------------------------------------------------------------------------

    def next(self) -> int | None:
        """The slot to judge now: the one that is held, or a free one, which is then held; None when none is left."""
        for _ in range(_CANDIDATES):
            try:
                with self.database.writing() as connection:
                    me = sql.select(accounts.c.id).where(accounts.c.id == self.account.id)
                    # Two tabs that ask at once get the same slot; judgements may go on to point at the account.
                    connection.execute(me.with_for_update(key_share=True))
                    held = connection.execute(self._held().order_by(slots.c.id).limit(1)).scalar()
                    if held is not None:
                        lease = self.database.clock() + LEASE
                        mine = slots.update().where(slots.c.id == held, slots.c.holder == self.account.id)
                        connection.execute(mine.values(lease=lease))
                        return held
                    if taught := self._place_for_all(connection, TRAINING):
                        return taught
                    # A conflict waits for few people, a free item for anybody: conflicts first.
                    later_first = sql.case((slots.c.round == INDEPENDENT, 1), else_=0)
                    in_order = self._free().order_by(later_first, batches.c.number, items.c.number, slots.c.place)
                    free = connection.execute(in_order.limit(_CANDIDATES)).scalars().all()
                    if not free:
                        return self._place_for_all(connection, PILOT)
                    for slot in free:
                        if self._take(connection, slot):
                            return slot
            except IntegrityError:  # this rater took another slot of the item at the same moment
                continue
        return None

    def take(self, slot: int) -> None:
        """Take one conflict of the queue. Raises UserError where it is not free any more."""
        with self.database.writing() as connection:
            mine = sql.exists().where(slots.c.id == slot, slots.c.holder == self.account.id)
            if connection.execute(sql.select(mine)).scalar() and self._was_given(connection, slot):
                return
            free = self._free().where(slots.c.id == slot, slots.c.round != INDEPENDENT)
            if connection.execute(free).first() is None or not self._take(connection, slot):
                raise UserError("somebody else has taken this over", remedy="take another one")

    def _place_for_all(self, connection: sql.Connection, kind: str) -> int | None:
        """A place of their own in a batch that everybody judges: the next item of the training, or of a pilot."""
        row = connection.execute(self._for_all(kind).order_by(items.c.number).limit(1)).first()
        if row is None or lock_batch(connection, row.batch):
            return None
        slot = add_place(connection, row.id)
        return slot if self._take(connection, slot) else None

    def _take(self, connection: sql.Connection, slot: int) -> bool:
        """Hold a free slot; False where somebody else was faster. The one statement that decides who holds it."""
        now = self.database.clock()
        values = {"holder": self.account.id, "lease": now + LEASE, "opened": now}
        taken = slots.update().where(slots.c.id == slot, is_free(now), slots.c.done.is_(sql.false())).values(values)
        if connection.execute(taken).rowcount != 1:
            return False
        if not self._was_given(connection, slot):
            connection.execute(leases.insert().values(slot=slot, rater=self.account.id))
        self.database.log(connection, self.account.id, "take", slot=slot)
        return True

    def _was_given(self, connection: sql.Connection, slot: int) -> bool:
        mine = sql.select(leases.c.slot).where(leases.c.slot == slot, leases.c.rater == self.account.id)
        return connection.execute(mine).first() is not None

    # --- seeing it -----------------------------------------------------------------------------------------------

    def work(self, slot: int) -> Work:
        """What is in a slot that was given to this rater. Raises NotYours."""
        with self.database.reading() as connection:
            row = self._row(connection, slot)
            item = Item.model_validate(row.item)
            query = sql.select(changes.c.change).where(
                changes.c.project == self.project.id, changes.c.case == item.subject.case
            )
            change = Change.model_validate(connection.execute(query).scalar_one())
            files = sql.select(texts.c.path, texts.c.text).where(
                texts.c.project == self.project.id, texts.c.case == item.subject.case
            )
            return Work(
                slot=slot,
                number=row.number,
                batch=row.batch_number,
                round=row.round,
                item=item,
                change=change,
                texts={row.path: row.text for row in connection.execute(files)},
                done=row.done,
                open=row.now == row.round
                and not (row.done and row.kind == TRAINING)
                and not (row.compared if row.round == INDEPENDENT else row.done and row.round == DISCUSSION),
                guidelines=current_guidelines(connection, self.project.id)[1],
                mine=votes.own(connection, self.account, slot),
                earlier=tuple(votes.earlier_votes(connection, self.account, slot)),
                confirms=row.round == DISCUSSION and row.place != PROPOSAL,
                training=row.kind == TRAINING,
                right=right_answers(connection, self.account, slot),
            )

    def _locked(self, connection: sql.Connection, slot: int) -> Any:
        """A slot with its item, as they are now that nobody else changes or takes them. Raises NotYours."""
        lock_batch(connection, self._row(connection, slot).batch)
        return self._row(connection, slot, lock=True)

    def _row(self, connection: sql.Connection, slot: int, *, lock: bool = False) -> Any:
        """A slot with its item. Raises NotYours where it was not given to this rater, or does not exist."""
        query = (
            sql.select(
                *(slots.c.id, slots.c.round, slots.c.place, slots.c.holder, slots.c.done, slots.c.opened),
                *(items.c.item,),
                *(items.c.id.label("item_id"), items.c.number, items.c.batch, items.c.round.label("now")),
                *(batches.c.number.label("batch_number"), batches.c.compared, batches.c.kind),
            )
            .join(items, items.c.id == slots.c.item)
            .join(batches, batches.c.id == items.c.batch)
            .join(leases, (leases.c.slot == slots.c.id) & (leases.c.rater == self.account.id))
            .where(slots.c.id == slot, items.c.project == self.project.id)
        )
        row = connection.execute(query.with_for_update(of=slots) if lock else query).first()
        if row is None:
            raise NotYours("this work is not yours")
        return row

    # --- handing it in -------------------------------------------------------------------------------------------

    def submit(
        self,
        slot: int,
        client_key: str,
        answers: Iterable[Answer],
        *,
        reason: str = "",
        seconds: float | None = None,
        replaces: int = 0,
    ) -> Saved:
        """Store a judgement once: the same `client_key` again gives what is there, whatever comes with it.

        `replaces` is the version that it corrects. Work of somebody whose lease was over is kept too, in another place
        of the item. Raises NotYours, AlreadyJudged, and UserError for answers that do not fit the questions.
        """
        words, given = clean_text(reason, "the reason"), list(answers)
        with self.database.writing() as connection:
            row, known = self._opened(connection, slot, client_key)
            if known is not None:
                return known
            checked = check_answers(self.project.schema_, given, Item.model_validate(row.item).kinds)
            place = self._place(connection, row)
            before = votes.own(connection, self.account, place)
            if (before.version if before else 0) != replaces:
                raise AlreadyJudged("this item has a newer judgement of yours", remedy="open it again to change it")
            if row.now != row.round or (row.compared and row.round == INDEPENDENT):
                raise UserError("this round is over: others may have seen the judgements")
            if before and row.kind == TRAINING:
                raise UserError("the right answer was shown: this judgement stays as it is")
            if row.round == DISCUSSION and (before or row.place != PROPOSAL):
                raise UserError("this consensus was proposed: another rater confirms it or objects")
            said = {"reason": words, "seconds": seconds, "version": replaces + 1}
            saved = self._store(connection, place, client_key, checked, **said)
            self.database.log(connection, self.account.id, "judge", slot=place, judgement=saved.judgement)
            if row.round == DISCUSSION:
                open_slots(connection, row.item_id, DISCUSSION, range(PROPOSAL + 1, PROPOSAL + 2))
                check_discussion(connection, row.item_id)
            elif before is None:
                settle(connection, self.project.schema_, row.batch, row.item_id, row.round)
        return saved

    def _opened(self, connection: sql.Connection, slot: int, client_key: str) -> tuple[Any, Saved | None]:
        """A locked slot with its item, and what was handed in under this key already. Raises NotYours, UserError."""
        if not (8 <= len(client_key) <= 64 and client_key.isascii() and client_key.isprintable()):
            raise UserError("the key of the judgement is not valid")
        row = self._locked(connection, slot)
        known = votes.own_by_key(connection, self.account, client_key)
        return row, None if known is None else Saved(judgement=known.id, slot=known.slot, again=True)

    def _store(
        self, connection: sql.Connection, slot: int, client_key: str, answers: Sequence[Answer], **said: Any
    ) -> Saved:
        guidelines, at = current_guidelines(connection, self.project.id)[0], self.database.clock()
        found = votes.write(connection, self.account, slot, client_key, answers, guidelines=guidelines, at=at, **said)
        connection.execute(slots.update().where(slots.c.id == slot).values(done=True))
        return Saved(judgement=found, slot=slot)

    def _place(self, connection: sql.Connection, row: Any) -> int:
        """The slot that this rater's judgement belongs in: theirs, or another one if theirs was given away."""
        if row.holder == self.account.id:
            return int(row.id)
        if row.round == DISCUSSION and row.holder is not None:
            raise UserError("somebody else has taken this over", remedy="take the next one")
        of_item = (slots.c.item == row.item_id) & (slots.c.round == row.round)
        mine = sql.select(slots.c.id).where(of_item, slots.c.holder == self.account.id).with_for_update()
        found = connection.execute(mine).scalar()
        if found is None:
            found = free_place(connection, row.item_id, row.round)
        connection.execute(slots.update().where(slots.c.id == found).values(holder=self.account.id, opened=row.opened))
        if not self._was_given(connection, found):
            connection.execute(leases.insert().values(slot=found, rater=self.account.id))
        return int(found)

    def skip(self, slot: int, reason: str) -> None:
        """Give a slot back, and never get its item in this round again."""
        self._remark(slot, reason, skipped=True)

    def flag(self, slot: int, reason: str) -> None:
        """Tell the owner that something is wrong with an item."""
        self._remark(slot, reason, skipped=False)

    def _remark(self, slot: int, reason: str, *, skipped: bool) -> None:
        words = clean_text(reason, "the reason")
        if not words:
            raise UserError("say why")
        with self.database.writing() as connection:
            row = self._locked(connection, slot)
            values = {"item": row.item_id, "rater": self.account.id, "skipped": skipped, "reason": words}
            connection.execute(remarks.insert().values(**values, at=self.database.clock()))
            mine = slots.update().where(
                slots.c.id == slot, slots.c.holder == self.account.id, slots.c.done.is_(sql.false())
            )
            if skipped:
                connection.execute(mine.values(holder=None, lease=0.0))
            if skipped and row.now == DISCUSSION:
                check_discussion(connection, row.item_id)
            elif skipped and row.now == INDEPENDENT:
                settle(connection, self.project.schema_, row.batch, row.item_id, INDEPENDENT)
            self.database.log(connection, self.account.id, "skip" if skipped else "flag", slot=slot)

    def conclude(self, slot: int, client_key: str, *, agreed: bool, reason: str, seconds: float | None = None) -> Saved:
        """Confirm the consensus that another rater proposed; or end the discussion without one: an expert decides.

        The same `client_key` again gives what is there. Raises NotYours, UserError.
        """
        words = clean_text(reason, "the reason")
        with self.database.writing() as connection:
            row, known = self._opened(connection, slot, client_key)
            if known is not None:
                return known
            open_ = row.round == row.now == DISCUSSION and row.holder == self.account.id and not row.done
            if not open_ or (agreed and row.place == PROPOSAL):
                raise UserError("there is no open discussion of yours")
            if not agreed and not words:
                raise UserError("say why", remedy="the expert reads it")
            saved = self._store(connection, slot, client_key, (), reason=words, seconds=seconds, version=1)
            if agreed:
                settle(connection, self.project.schema_, row.batch, row.item_id, DISCUSSION)
            else:
                move(connection, row.item_id, EXPERT)
            self.database.log(connection, self.account.id, "confirm" if agreed else "no consensus", slot=slot)
        return saved
