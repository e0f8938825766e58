"""The votes of earlier rounds side by side, without names, with what differs marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reviewgauge.annotation.schemas.schema import ITEM, Answer, Gold, Question, QuestionKind, Schema, asked, disagree
from reviewgauge.annotation.store.desk import Work
from reviewgauge.annotation.store.judgements import INDEPENDENT, Judgement


@dataclass(frozen=True)
class VoteRow:
    """One question: what each rater answered. `mark` is "differs" where it decides, "varies" where it does not."""

    part: int
    text: str
    cells: list[str]
    mark: str


@dataclass(frozen=True)
class Later:
    """What was said in a discussion, and who did: a consensus, or why there is none."""

    who: str
    answers: list[tuple[str, str]]
    reason: str


@dataclass(frozen=True)
class Votes:
    """The independent votes as a table with one column a rater, and the discussion after them."""

    names: list[str]
    rows: list[VoteRow]
    reasons: list[tuple[str, str]]
    later: list[Later]


def votes_of(schema: Schema, work: Work, me: int) -> Votes:
    """The votes that this rater may see."""
    independent = [vote for vote in work.earlier if vote.round == INDEPENDENT]
    named = {
        vote.rater: f"Rater {at}" + (" (you)" if vote.rater == me else "") for at, vote in enumerate(independent, 1)
    }
    rows = list(_rows(schema, independent, work.item.kinds))
    later = [
        Later(named.get(vote.rater, "Another rater"), answers_in_words(schema, vote), vote.reason)
        for vote in work.earlier
        if vote.round != INDEPENDENT
    ]
    reasons = [(named[vote.rater], vote.reason) for vote in independent if vote.reason]
    return Votes(list(named.values()), rows, reasons, later)


def talk_keys(schema: Schema) -> dict[str, str]:
    """The keys of a talk: capitals where the small letter answers a question, which is easily pressed."""
    taken = {key for question in schema.questions for _, key in question.keys}
    ways = {"begin": "b", "confirm": "c", "object": "o"}
    return {action: key.upper() if key in taken else key for action, key in ways.items()}


def answers_in_words(schema: Schema, vote: Judgement | Gold) -> list[tuple[str, str]]:
    """(question, answer) of everything that a judgement says."""
    places = [*sorted({one.part for one in vote.answers if one.part >= 0}), ITEM]
    found = []
    for part in places:
        for question in schema.questions:
            if value := said(question, _answers(vote, part, question)):
                found.append((question.text if part == ITEM else f"{part + 1}. {question.text}", value))
    return found


def _rows(schema: Schema, votes: Sequence[Judgement], kinds: Sequence[str]) -> Iterator[VoteRow]:
    for part, question in asked(schema, kinds):
        answers = [_answers(vote, part, question) for vote in votes]
        cells = [said(question, one) for one in answers]
        if any(cells):
            mark = "differs" if disagree(schema, answers) else "varies" if len(set(cells)) > 1 else ""
            yield VoteRow(part, question.text, cells, mark)


def _answers(vote: Judgement | Gold, part: int, question: Question) -> list[Answer]:
    return [one for one in vote.answers if (one.part, one.dimension) == (part, question.dimension)]


def said(question: Question, answers: Sequence[Answer]) -> str:
    """An answer as people read it."""
    names = {option.value: option.text or option.value for option in question.options}
    if question.kind is QuestionKind.MANY:
        return ", ".join(names.get(word, word) for one in answers for word in str(one.value).split(","))
    return "; ".join(names.get(str(one.value), str(one.value)) for one in answers)


def agreed_answers(work: Work) -> tuple[Answer, ...]:
    """What all independent votes have in common: the start of a consensus."""
    votes = [vote.answers for vote in work.earlier if vote.round == INDEPENDENT]
    return tuple(one for one in votes[0] if all(one in other for other in votes)) if len(votes) > 1 else ()
