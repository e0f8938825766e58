"""The judge's pages: the next item, one item with its diff and questions, the conflicts, and what one has judged."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from reviewgauge.annotation.items import Item
from reviewgauge.annotation.pages.visits import Visit, render, whole
from reviewgauge.annotation.schemas.schema import (
    ITEM,
    Answer,
    Gold,
    Parts,
    Question,
    QuestionKind,
    Schema,
    asked,
    disagree,
    warnings,
)
from reviewgauge.annotation.store.accounts import Role
from reviewgauge.annotation.store.judgements import INDEPENDENT, Judgement
from reviewgauge.annotation.store.rater_session import Work
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import SubjectKind
from reviewgauge.views.changes.code import ShownText
from reviewgauge.views.changes.rows import Gap, Note, Shown, context_rows, show_change

VIEW = "reviewgauge_view"  # the cookie that remembers how diffs are shown
_MONTH = 30 * 86_400


def home(visit: Visit) -> Response:
    """What there is to do, and what was done."""
    desk, schema = visit.desk(), visit.service.project.schema_
    rounds = {"independent": "judged", "discussion": "discussed", "expert": "adjudicated"}
    progress = desk.progress()
    return visit.page(
        "home.html.j2",
        progress=progress,
        conflicts=desk.conflicts(),
        done=[(one, answers_in_words(schema, one.judgement)) for one in desk.history()],
        rounds=rounds,
        waiting=sum(one.left for one in progress),
        saved=visit.request.query_params.get("saved", ""),
        how=visit.request.query_params.get("how", ""),
    )


def conflicts(visit: Visit) -> Response:
    """What raters differ in and this one may discuss or adjudicate."""
    schema = visit.service.project.schema_
    names = {question.dimension: question.text for question in schema.questions}
    return visit.page("conflicts.html.j2", conflicts=visit.desk().conflicts(), names=names)


def take(visit: Visit) -> Response:
    """Take one of them."""
    slot = visit.number("slot")
    visit.desk().take(slot)
    return RedirectResponse(f"/judge/{slot}", 303)


def next_item(visit: Visit) -> Response:
    """Go to the item to judge now."""
    slot = visit.desk().next()
    told = {name: visit.request.query_params.get(name, "") for name in ("saved", "how")}
    query = urlencode(told) if told["saved"].isdigit() else ""
    return RedirectResponse(f"/?{query}" if slot is None else f"/judge/{slot}?next=1&{query}", 303)


def judge_page(visit: Visit) -> Response:
    """One item. A talk that comes next begins on a page of its own, which no key that answers passes."""
    work, asked_for = visit.desk().work(visit.slot), visit.request.query_params
    if asked_for.get("next") and work.round != INDEPENDENT and visit.account.role is not Role.EXPERT:
        key, saved = talk_keys(visit.service.project.schema_)["begin"], asked_for.get("saved", "")
        return visit.page("begin.html.j2", work=work, key=key, saved=saved, how=asked_for.get("how", ""))
    given = _of_answers(work.mine.answers if work.mine else agreed_answers(work))
    reason = work.mine.reason if work.mine else ""
    answer = _judge(visit, work, given, reason, key=secrets.token_urlsafe(24))
    if (view := asked_for.get("view")) in ("split", "unified"):
        answer.set_cookie(VIEW, view, max_age=_MONTH, path="/", httponly=True, samesite="lax")
    return answer


def lines(visit: Visit) -> Response:
    """Lines around the hunks of one file, as rows of its table."""
    work, asked_for = visit.desk().work(visit.slot), visit.request.query_params
    number, old, new, count = (whole(asked_for.get(name, "")) for name in ("file", "old", "new", "count"))
    files = work.change.files
    text = work.texts.get(files[number - 1].path) if 0 < number <= len(files) else None
    if text is None or not (old and new and count):
        raise UserError("there are no such lines")
    rows = list(context_rows(files[number - 1].path, text, Gap(old, new, count)))
    return visit.page("lines.html.j2", rows=rows, split=asked_for.get("view") == "split", file_number=number)


def notes_of(schema: Schema, item: Item) -> list[Note]:
    """What is shown at its place in the diff: what is judged, references, and parts that have a place."""
    groups: tuple[tuple[str, str, Sequence[ShownText]], ...] = (
        ("Comment", "said", item.comments),
        ("Finding" if schema.unit is SubjectKind.PAIR else "Reference", "known", item.references),
        ("Point" if schema.parts is Parts.REFERENCES else "Claim", "said", item.part_texts),
    )
    found: list[Note] = []
    for label, kind, texts in groups:
        numbered = len(texts) > 1 or texts is item.part_texts
        for at, text in enumerate(texts, 1):
            found.append(Note(len(found) + 1, f"{label} {at}" if numbered else label, kind, text))
    return found


def judge(visit: Visit) -> Response:
    """Hand in, skip, flag, or end a discussion without consensus."""
    slot, desk, reason = visit.slot, visit.desk(), visit.field("reason")
    work = desk.work(slot)
    action = visit.field("action", "judge")
    given = {name: values for name, values in visit.form.items() if name.startswith("q:")}
    key = visit.field("key")
    try:
        if action == "next":
            return RedirectResponse("/next", 303)
        if action == "skip":
            desk.skip(slot, reason)
        elif action == "flag":
            desk.flag(slot, reason)
            return RedirectResponse(f"/judge/{slot}?told=1", 303)
        elif action in ("confirm", "no_consensus"):
            seconds = _seconds(visit.field("seconds"))
            desk.conclude(slot, key, agreed=action == "confirm", reason=reason, seconds=seconds)
        else:
            answers = list(_answers(desk.project.schema_, work.item.kinds, visit.form))
            notes = warnings(desk.project.schema_, answers)
            if notes and not visit.field("confirmed"):
                return _judge(visit, work, given, reason, key=key, notes=notes)
            replaces = visit.number("replaces")
            seconds = _seconds(visit.field("seconds"))
            saved = desk.submit(slot, key, answers, reason=reason, seconds=seconds, replaces=replaces)
            if work.training:  # shows the right answer
                return RedirectResponse(f"/judge/{saved.slot}?saved={saved.slot}", 303)
    except UserError as error:
        return _judge(visit, work, given, reason, key=key, message=str(error), status=400)
    how = "skipped" if action == "skip" else "closed" if work.round != INDEPENDENT else ""
    if not how and not desk.work(slot).open:
        how = "over"
    return RedirectResponse(f"/next?saved={slot}&how={how}", 303)


def _judge(
    visit: Visit,
    work: Work,
    given: Mapping[str, list[str]],
    reason: str,
    *,
    key: str,
    notes: list[str] | None = None,
    message: str = "",
    status: int = 200,
) -> Response:
    schema = visit.service.project.schema_
    view = visit.request.query_params.get("view") or visit.request.cookies.get(VIEW)
    diff, shown, shown_notes = _diff(visit, work, split=view == "split")
    return visit.page(
        "judge.html.j2",
        status,
        work=work,
        schema=schema,
        diff=diff,
        shown=shown,
        notes=shown_notes,
        votes=votes_of(schema, work, visit.account.id),
        talk=talk_keys(schema),
        right=answers_in_words(schema, work.right) if work.right else [],
        progress=visit.desk().progress(),
        told=visit.request.query_params.get("told", ""),
        split=view == "split",
        asked=[] if work.confirms else list(asked(schema, work.item.kinds)),
        given=given,
        reason=reason,
        key=key,
        replaces=work.mine.version if work.mine else 0,
        warnings=notes or [],
        message=message,
        saved=visit.request.query_params.get("saved", ""),
        how=visit.request.query_params.get("how", ""),
        item_part=ITEM,
    )


def _diff(visit: Visit, work: Work, *, split: bool) -> tuple[Markup, Shown, list[Note]]:
    """The rows of the change and of what is beside it; what page of them it is; the notes."""
    part = whole(visit.request.query_params.get("part", "1"))
    notes = notes_of(visit.service.project.schema_, work.item)
    shown = show_change(work.change.files, notes, split=split, texts=work.texts, part=part)
    beside = [(one, show_change(one.files, (), split=split).files) for one in work.item.exhibits]
    return Markup(render("sections.html.j2", exhibits=beside, split=split, shown=shown)), shown, notes


def _answers(schema: Schema, kinds: Sequence[str], form: Mapping[str, list[str]]) -> Iterator[Answer]:
    """The answers in a form; an empty field is none."""
    for part, question in asked(schema, kinds):
        values = [value for value in form.get(f"q:{part}:{question.dimension}", []) if value.strip()]
        if question.kind is QuestionKind.MANY and values:
            values = [",".join(values)]
        elif question.kind is QuestionKind.LIST:
            values = [line for value in values for line in value.splitlines() if line.strip()]
        for value in values:
            number = question.kind is QuestionKind.SCALE
            yield Answer(part=part, dimension=question.dimension, value=whole(value) if number else value)


def _of_answers(answers: tuple[Answer, ...]) -> dict[str, list[str]]:
    """The fields of a form that hold these answers."""
    found: dict[str, list[str]] = {}
    for one in answers:
        found.setdefault(f"q:{one.part}:{one.dimension}", []).append(str(one.value))
    return found


def _seconds(text: str) -> float | None:
    """How long the item took, as the page counted; None where it says nothing of sense."""
    try:
        found = round(float(text), 1)
    except ValueError:
        return None
    return found if math.isfinite(found) and 0 <= found <= 86_400 else None


# --- votes of earlier rounds, side by side and without names ---------------------------------------------------------


class VoteRow(NamedTuple):
    """One question: what each rater answered. `mark` is "differs" where it decides, "varies" where it does not."""

    part: int
    text: str
    cells: list[str]
    mark: str


class Later(NamedTuple):
    """What was said in a discussion, and who did: a consensus, or why there is none."""

    who: str
    answers: list[tuple[str, str]]
    reason: str


class Votes(NamedTuple):
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
    talk = [vote for vote in work.earlier if vote.round != INDEPENDENT]
    return Votes(
        list(named.values()),
        list(_rows(schema, independent, work.item.kinds)),
        [(named[vote.rater], vote.reason) for vote in independent if vote.reason],
        [Later(named.get(vote.rater, "Another rater"), answers_in_words(schema, vote), vote.reason) for vote in talk],
    )


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
            if value := said(question, _answers_to(vote, part, question)):
                found.append((question.text if part == ITEM else f"{part + 1}. {question.text}", value))
    return found


def _rows(schema: Schema, votes: Sequence[Judgement], kinds: Sequence[str]) -> Iterator[VoteRow]:
    for part, question in asked(schema, kinds):
        answers = [_answers_to(vote, part, question) for vote in votes]
        cells = [said(question, one) for one in answers]
        if any(cells):
            mark = "differs" if disagree(schema, answers) else "varies" if len(set(cells)) > 1 else ""
            yield VoteRow(part, question.text, cells, mark)


def _answers_to(vote: Judgement | Gold, part: int, question: Question) -> list[Answer]:
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
