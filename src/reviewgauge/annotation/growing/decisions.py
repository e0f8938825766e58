"""What people made of each pooled comment: every one has exactly one fate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import sqlalchemy as sql

from reviewgauge.annotation.growing.unmatched import Pooled, read_pool
from reviewgauge.annotation.items import Item
from reviewgauge.annotation.schemas.schema import ITEM, Schema
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import DONE, INDEPENDENT, ROUNDS, Judgement
from reviewgauge.annotation.store.projects import Project
from reviewgauge.annotation.store.tables import items
from reviewgauge.core.base import Fact

CORRECT, SAME, YES, NO = "correct", "same", "yes", "no"


class PoolDecision(StrEnum):
    """What happens to a pooled comment in the next version."""

    ACCEPTED = "accepted"  # a new finding, or another phrasing of one
    KNOWN = "known already"  # correct, and another phrasing of a reference
    REJECTED = "rejected"
    UNDECIDED = "no consensus"
    OPEN = "not judged yet"
    APART = "says something else"  # than the finding that it was merged into: it is judged on its own later


class Judged(NamedTuple):
    """A pooled comment, its fate, and what was said of it. `same_as` is what it says too: a reference or a finding.

    `settled` is the round in which it was decided, `raters` who judged its item independently.
    """

    pooled: Pooled
    fate: PoolDecision
    same_as: str | None = None
    category: str | None = None
    needs: str | None = None
    settled: str = ""
    raters: int = 0

    @property
    def right(self) -> bool:
        """Whether the next version has it among its references."""
        return self.fate in (PoolDecision.ACCEPTED, PoolDecision.KNOWN)


class Decision(NamedTuple):
    """What the raters of an item say together: the answer of most, by part and dimension."""

    item: Item
    fate: PoolDecision | None  # of an item that is not settled
    answers: Mapping[tuple[int, str], Fact]
    settled: str
    raters: int


def judge_pool(database: Database, project: Project) -> list[Judged]:
    """The fate of every pooled comment of a project."""
    with database.reading() as connection:
        pool = read_pool(connection, project.id)
        query = sql.select(items.c.id, items.c.item, items.c.round).where(items.c.project == project.id)
        rows = connection.execute(query.order_by(items.c.number)).all()
        judged: dict[int, list[Judgement]] = {}
        for one in votes.everything(connection, None, project.id):
            judged.setdefault(one.item, []).append(one)
    made = {row.id: _decide(Item.model_validate(row.item), row.round, judged.get(row.id, ())) for row in rows}
    return fates(pool.values(), made, project.schema_)


def _decide(item: Item, round_: str, judged: Sequence[Judgement]) -> Decision:
    """What the judgements of the last round of an item say; nothing is the answer of most in a tie."""
    raters = len({one.rater for one in judged if one.round == INDEPENDENT})
    if round_ != DONE:
        fate = PoolDecision.UNDECIDED if judged and round_ != INDEPENDENT else PoolDecision.OPEN
        return Decision(item, fate, {}, "", raters)
    last = max((one.round for one in judged), key=ROUNDS.index, default=INDEPENDENT)
    given: dict[tuple[int, str], Counter[Fact]] = {}
    for one in judged:
        for answer in one.answers if one.round == last else ():
            given.setdefault((answer.part, answer.dimension), Counter())[answer.value] += 1
    answers = {}
    for place, counted in given.items():
        (value, count), *others = counted.most_common(2)
        if not others or others[0][1] < count:
            answers[place] = value
    return Decision(item, None, answers, last, raters)


def fates(pool: Collection[Pooled], made: Mapping[int, Decision], schema: Schema) -> list[Judged]:
    """The fate of each pooled comment, given what was decided of the items, in the order of `pool`.

    A finding that says the same as another shares that one's fate, and so do the other phrasings of its item.
    """
    findings = {one.name: one for one in pool if one.part == ITEM}
    known: dict[str, Judged] = {}

    def finding(name: str) -> Judged:
        if name not in known:
            one = findings[name]
            known[name] = Judged(one, PoolDecision.OPEN)  # what would lead back here is not settled
            decision = made[one.item]
            same = [
                part.reference
                for number, part in enumerate(decision.item.parts)
                if part.comment == name and part.reference and decision.answers.get((number, SAME)) == YES
            ]
            others = {other: finding(other) for other in same if other in findings}
            known[name] = _judge(one, decision, [other for other in same if other not in others], others)
        return known[name]

    mains = {one.item: finding(one.name) for one in findings.values()}
    asks_same = schema.question(SAME) is not None
    judged = []
    for one in pool:
        main, decision = mains[one.item], made[one.item]
        if one.part == ITEM:
            judged.append(main)
        elif asks_same and decision.fate is None and decision.answers.get((one.part, SAME)) != YES:
            judged.append(Judged(one, PoolDecision.APART))
        else:
            judged.append(main._replace(pooled=one, same_as=main.pooled.name if main.right else None))
    return judged


def _judge(one: Pooled, decision: Decision, references: Sequence[str], others: Mapping[str, Judged]) -> Judged:
    """The fate of a finding that says the same as these references and these other findings."""
    if decision.fate is not None:
        return Judged(one, decision.fate, raters=decision.raters)
    answers = decision.answers
    correct = answers.get((ITEM, CORRECT))
    right = {other.right for other in others.values() if other.settled} | {True for _ in references}
    judged = Judged(one, PoolDecision.UNDECIDED, settled=decision.settled, raters=decision.raters)
    if correct not in (YES, NO) or right - {correct == YES}:
        return judged  # it says what a reference or a finding says, and was judged otherwise
    if correct == NO:
        return judged._replace(fate=PoolDecision.REJECTED)
    references = [*references, *(name for name, other in others.items() if other.fate is PoolDecision.KNOWN)]
    category, needs = (answers.get((ITEM, name)) for name in ("category", "needs"))
    return judged._replace(
        fate=PoolDecision.KNOWN if references else PoolDecision.ACCEPTED,
        same_as=next(iter([*references, *(name for name, other in others.items() if other.right)]), None),
        category=None if category is None else str(category),
        needs=None if needs is None else str(needs),
    )
