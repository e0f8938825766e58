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


class Fate(StrEnum):
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
    fate: Fate
    same_as: str | None = None
    category: str | None = None
    needs: str | None = None
    settled: str = ""
    raters: int = 0


class Decision(NamedTuple):
    """What the raters of an item say together: the answer of most, by part and dimension."""

    item: Item
    fate: Fate | None  # of an item that is not settled
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
        fate = Fate.UNDECIDED if judged and round_ != INDEPENDENT else Fate.OPEN
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
    """The fate of each pooled comment, given what was decided of the items.

    An item may say the same as a finding that was pooled before it: it then shares that one's fate.
    """
    asks_same = schema.question(SAME) is not None
    found: dict[str, Judged] = {}
    mains: dict[int, Judged] = {}
    for one in sorted(pool, key=lambda one: (one.item, one.part)):
        decision = made[one.item]
        if one.part == ITEM:
            found[one.name] = mains[one.item] = _of_finding(one, decision, found)
            continue
        main = mains[one.item]
        if asks_same and decision.fate is None and decision.answers.get((one.part, SAME)) != YES:
            found[one.name] = Judged(one, Fate.APART)
        else:
            same = main.pooled.name if main.fate in (Fate.ACCEPTED, Fate.KNOWN) else None
            found[one.name] = main._replace(pooled=one, same_as=same)
    return list(found.values())


def _of_finding(one: Pooled, decision: Decision, before: Mapping[str, Judged]) -> Judged:
    """The fate of the finding that an item is about."""
    if decision.fate is not None:
        return Judged(one, decision.fate, raters=decision.raters)
    answers = decision.answers
    correct = answers.get((ITEM, CORRECT))
    linked = [
        part.reference
        for number, part in enumerate(decision.item.parts)
        if part.comment == one.name and answers.get((number, SAME)) == YES and part.reference is not None
    ]
    judged = Judged(one, Fate.UNDECIDED, settled=decision.settled, raters=decision.raters)
    right = {name: before[name].fate in (Fate.ACCEPTED, Fate.KNOWN) for name in linked if name in before}
    settled = {name: right.get(name, True) for name in linked if name not in before or before[name].settled}
    if correct not in (YES, NO) or any(holds != (correct == YES) for holds in settled.values()):
        return judged  # it says what a reference or a finding says, and was judged otherwise
    if correct == NO:
        return judged._replace(fate=Fate.REJECTED)
    holding = [name for name, holds in settled.items() if holds]
    references = [name for name in holding if name not in before]
    known = references or [name for name in holding if before[name].fate is Fate.KNOWN]
    return judged._replace(
        fate=Fate.KNOWN if known else Fate.ACCEPTED,
        same_as=next(iter([*known, *holding]), None),
        category=_word(answers, "category"),
        needs=_word(answers, "needs"),
    )


def _word(answers: Mapping[tuple[int, str], Fact], dimension: str) -> str | None:
    value = answers.get((ITEM, dimension))
    return None if value is None else str(value)
