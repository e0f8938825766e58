"""What people made of each pooled comment: every one has exactly one fate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import sqlalchemy as sql

from reviewgauge.annotation.items import Item
from reviewgauge.annotation.schemas.schema import ITEM, Schema
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import DONE, INDEPENDENT, ROUNDS, Judgement
from reviewgauge.annotation.store.pools import Pooled, read_pool
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
    made = {row.id: decide(Item.model_validate(row.item), row.round, judged.get(row.id, ())) for row in rows}
    return fates(pool.values(), made, project.schema_)


def decide(item: Item, round_: str, judged: Sequence[Judgement]) -> Decision:
    """What the judgements of the last round of an item say."""
    raters = len({one.rater for one in judged if one.round == INDEPENDENT})
    if round_ != DONE:
        fate = PoolDecision.UNDECIDED if judged and round_ != INDEPENDENT else PoolDecision.OPEN
        return Decision(item, fate, {}, "", raters)
    last = max((one.round for one in judged), key=ROUNDS.index, default=INDEPENDENT)
    given: dict[tuple[int, str], Counter[Fact]] = {}
    for one in judged:
        for answer in one.answers if one.round == last else ():
            given.setdefault((answer.part, answer.dimension), Counter())[answer.value] += 1
    answers = {place: value for place, counted in given.items() if (value := _most(counted)) is not None}
    return Decision(item, None, answers, last, raters)


def _most(counted: Counter[Fact]) -> Fact | None:
    """What most say; None of a tie."""
    (value, count), *others = counted.most_common(2)
    return None if others and others[0][1] == count else value


def fates(pool: Iterable[Pooled], made: Mapping[int, Decision], schema: Schema) -> list[Judged]:
    """The fate of each pooled comment, given what was decided of the items, in the order of `pool`."""
    pool = list(pool)
    findings = _Findings({one.name: one for one in pool if one.part == ITEM}, made)
    mains = {one.item: findings.judged(one.name) for one in pool if one.part == ITEM}
    asks_same = schema.question(SAME) is not None

    def judged(one: Pooled) -> Judged:
        main, decision = mains[one.item], made[one.item]
        if one.part == ITEM:
            return main
        if asks_same and decision.fate is None and decision.answers.get((one.part, SAME)) != YES:
            return Judged(one, PoolDecision.APART)
        return main._replace(pooled=one, same_as=main.pooled.name if main.right else None)

    return [judged(one) for one in pool]


class _Findings:
    """The fates of the findings that items are about. One that says the same as another shares that one's fate."""

    def __init__(self, findings: Mapping[str, Pooled], made: Mapping[int, Decision]) -> None:
        self._findings, self._made = findings, made
        self._judged: dict[str, Judged] = {}

    def judged(self, name: str) -> Judged:
        """The fate of a finding by its name."""
        if name not in self._judged:
            one = self._findings[name]
            self._judged[name] = Judged(one, PoolDecision.OPEN)  # what would lead back here is not settled
            self._judged[name] = self._judge(one, self._made[one.item])
        return self._judged[name]

    def _judge(self, one: Pooled, decision: Decision) -> Judged:
        if decision.fate is not None:
            return Judged(one, decision.fate, raters=decision.raters)
        answers = decision.answers
        correct = answers.get((ITEM, CORRECT))
        links = [
            part.reference
            for number, part in enumerate(decision.item.parts)
            if part.comment == one.name and part.reference is not None and answers.get((number, SAME)) == YES
        ]
        known = {name: self.judged(name) for name in links if name in self._findings}
        references = [name for name in links if name not in known]
        right = {other.right for other in known.values() if other.settled} | {True for _ in references}
        judged = Judged(one, PoolDecision.UNDECIDED, settled=decision.settled, raters=decision.raters)
        if correct not in (YES, NO) or right - {correct == YES}:
            return judged  # it says what a reference or a finding says, and was judged otherwise
        if correct == NO:
            return judged._replace(fate=PoolDecision.REJECTED)
        references += [name for name, other in known.items() if other.fate is PoolDecision.KNOWN]
        return judged._replace(
            fate=PoolDecision.KNOWN if references else PoolDecision.ACCEPTED,
            same_as=next(iter([*references, *(name for name, other in known.items() if other.right)]), None),
            category=_word(answers, "category"),
            needs=_word(answers, "needs"),
        )


def _word(answers: Mapping[tuple[int, str], Fact], dimension: str) -> str | None:
    value = answers.get((ITEM, dimension))
    return None if value is None else str(value)
