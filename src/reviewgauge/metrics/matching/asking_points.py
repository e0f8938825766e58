"""The two questions behind `points`: which change-points does the report raise, and which known ones do they hit?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Annotated, NamedTuple, TypeVar

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from reviewgauge.core.records import Case, Comment, Review, Span, findings
from reviewgauge.core.results import Failed
from reviewgauge.judges.classes.classes import TYPES, change_type, listing
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, Line, WholeNumber, answer_schema, read_record
from reviewgauge.models.chat.ask import ask_for, ask_for_each
from reviewgauge.models.chat.client import ChatModel
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt

T = TypeVar("T")
LEAST, MOST = 1, 10  # severity


def _type(value: object) -> str:
    code = change_type(value) if isinstance(value, str) else None
    if code is None:
        raise ValueError(f"must be one of {', '.join(TYPES)}")
    return code


def _severity(value: int) -> int:
    if not LEAST <= value <= MOST:
        raise ValueError(f"must be a whole number from {LEAST} to {MOST}")
    return value


TypeCode = Annotated[str, BeforeValidator(_type), WithJsonSchema({"type": "string", "enum": [*TYPES]})]


class _Rating(AnswerRecord):
    prediction: str
    type: TypeCode
    severity: Annotated[WholeNumber, AfterValidator(_severity)]


class _Ratings(AnswerRecord):
    ratings: list[_Rating]


class Extracted(AnswerRecord):
    """One change-point as a model listed it. `comment` counts the comments of the report from 1."""

    comment: WholeNumber
    point: Line
    type: TypeCode
    severity: Annotated[WholeNumber, AfterValidator(_severity)]


class _Points(AnswerRecord):
    points: list[Extracted]


class _Hit(AnswerRecord):
    known: str
    predictions: list[str]


class _Hits(AnswerRecord):
    hits: list[_Hit]


def read_points(text: str, comments: int) -> list[Extracted]:
    """The change-points in an answer about a report of so many comments. An empty list is one. Raises Unreadable."""
    found = read_record(text, _Points, extraction_prompt()).points
    if wrong := [one.comment for one in found if not 1 <= one.comment <= comments]:
        raise Unreadable(f"a point is of comment {wrong[0]}, and they are 1 to {comments}")
    if len({(one.comment, one.point, one.type, one.severity) for one in found}) < len(found):
        raise Unreadable("it lists the same point twice")
    return found


def read_ratings(text: str, predictions: Sequence[str]) -> list[tuple[str, int]]:
    """The type and severity of each prediction, in order; each must stand there exactly once. Raises Unreadable."""
    entries = read_record(text, _Ratings, rating_prompt()).ratings
    found = _in_order([(one.prediction, one) for one in entries], predictions)
    return [(one.type, one.severity) for one in found]


def read_hits(text: str, known: Sequence[str], predictions: Sequence[str]) -> list[frozenset[str]]:
    """For each known point, in order, the predictions that hit it. Each known id must stand there exactly once.

    Raises Unreadable.
    """
    found = _in_order([(one.known, one) for one in read_record(text, _Hits, hits_prompt()).hits], known)
    for one in found:
        if unknown := [name for name in one.predictions if name not in predictions]:
            raise Unreadable(
                f"{one.known} is hit by {unknown[0][:60]!r}, and the predictions are {_listed(predictions)}"
            )
        if len(set(one.predictions)) < len(one.predictions):
            raise Unreadable(f"{one.known} is hit twice by the same prediction")
    return [frozenset(one.predictions) for one in found]


def _in_order(entries: Sequence[tuple[str, T]], names: Sequence[str]) -> list[T]:
    """The entries in the order of `names`. Raises Unreadable unless each name stands there once, and no other."""
    for name, count in Counter(name for name, _ in entries).items():
        if name not in names:
            raise Unreadable(f"it has an entry on {name[:60]!r}, and the ids are {_listed(names)}")
        if count > 1:
            raise Unreadable(f"it has two entries on {name}")
    by_name = dict(entries)
    if missing := [name for name in names if name not in by_name]:
        raise Unreadable(f"it has no entry on {_listed(missing)} (each id needs one)")
    return [by_name[name] for name in names]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


PACKAGE = "reviewgauge.metrics"


class Point(NamedTuple):
    """A predicted change-point. `comment` is the comment that raises it; `id` is that comment's where it raises one."""

    id: str
    comment: str
    text: str
    type: str
    severity: int


class Ballot(NamedTuple):
    """One trial's answer: for each known point the positions of the predictions that hit it, and its own words."""

    hits: tuple[frozenset[int], ...]
    raw: tuple[str, ...]


class Extraction(NamedTuple):
    """The change-points of a review, the raw answer that lists them (empty: no call), and whether a fake model did."""

    points: Sequence[Point] = ()
    raw: str = ""
    fake: bool = False


def extraction_prompt() -> Prompt:
    """Step 1, in our own words: the paper does not print its prompt."""
    return load_prompt(PACKAGE, "points_extract")


def rating_prompt() -> Prompt:
    """The types and severities of points that another model listed, in our own words."""
    return load_prompt(PACKAGE, "points_rate")


def hits_prompt() -> Prompt:
    """Step 2, in our own words."""
    return load_prompt(PACKAGE, "points_hits")


def extract(model: ChatModel, review: Review) -> Extraction:
    """The change-points that the review raises. No call for an empty review.

    The whole report is sent, however long: one that the model cannot take is a Failed, never cut.
    """
    comments = [comment for comment in review.comments if comment.body.strip()]
    if not comments:
        return Extraction()
    read = partial(read_points, comments=len(comments))
    reading = ask_for(model, extraction_messages(comments), read, schema=answer_schema(_Points))
    raw = storable(reading.raw)
    return Extraction(_named(comments, reading.value), raw, any(answer.fake for answer in reading.answers))


def rate(model: ChatModel, found: Extraction) -> Extraction:
    """The same points with the types and severities that `model` gives them. No call where there are none."""
    if not found.points:
        return found
    names = [f"P{at}" for at in range(1, len(found.points) + 1)]
    slots = {"fence_note": FENCE_NOTE, "types": listing(), "predicted": _fenced_points(found.points)}
    reading = ask_for(
        model, rating_prompt().messages(slots), partial(read_ratings, predictions=names), schema=answer_schema(_Ratings)
    )
    pairs = zip(found.points, reading.value, strict=True)
    points = [point._replace(type=code, severity=severity) for point, (code, severity) in pairs]
    return Extraction(points, storable(reading.raw), found.fake or any(answer.fake for answer in reading.answers))


def extraction_messages(comments: Sequence[Comment]) -> tuple[Message, ...]:
    """The prompt about these comments, without their authors."""
    report = "\n\n".join(f"Comment {at}\n{fence(_report(comment))}" for at, comment in enumerate(comments, 1))
    count = "one comment" if len(comments) == 1 else f"{len(comments)} comments"
    return extraction_prompt().messages(
        {"fence_note": FENCE_NOTE, "count": count, "types": listing(), "review": report}
    )


def _report(comment: Comment) -> str:
    place = _place(comment.span)
    suggestion = comment.suggestion
    parts = [f"[{place}]"] if place else []
    parts.append(comment.body.strip())
    if suggestion and suggestion.strip() and suggestion.strip() not in comment.body:
        parts.append(f"Suggested code:\n{suggestion.rstrip()}")
    return "\n".join(parts)


def _place(span: Span | None) -> str:
    if span is None:
        return ""
    if span.start is None:
        return span.path
    lines = f"line {span.start}" if span.start == span.end else f"lines {span.start} to {span.end}"
    return f"{span.path}, {lines}{' before the change' if span.side == 'old' else ''}"


def _named(comments: Sequence[Comment], found: Sequence[Extracted]) -> list[Point]:
    """Points with ids: the comment's own where it raises one, else `comment#1`, `comment#2` ..."""
    per_comment = Counter(one.comment for one in found)
    used = {comment.id for comment in comments}
    points, count = [], dict.fromkeys(per_comment, 0)
    for one in found:
        number, comment = one.comment, comments[one.comment - 1].id
        name = comment
        if per_comment[number] > 1:
            count[number] += 1
            name = f"{comment[:480]}#{count[number]}"
            while name in used:
                name += "'"
            used.add(name)
        points.append(Point(name, comment, one.point, one.type, one.severity))
    return points


def vote(model: ChatModel, case: Case, points: Sequence[Point], trials: int) -> tuple[list[Ballot], bool]:
    """(one ballot a trial, whether a fake model cast one). No call where either side is empty.

    Raises Failed where a trial has no readable answer: the others are not enough.
    """
    known = findings(case.references)
    if not known or not points:
        return [], False
    known_ids = [f"K{at}" for at in range(1, len(known) + 1)]
    predicted_ids = [f"P{at}" for at in range(1, len(points) + 1)]
    messages = hits_messages(known, points)
    read = partial(read_hits, known=known_ids, predictions=predicted_ids)
    numbers = range(1, trials + 1)
    ballots, fake = [], False
    for reading in ask_for_each(model, [messages] * trials, read, trials=list(numbers), schema=answer_schema(_Hits)):
        if isinstance(reading, Failed):
            raise reading
        fake = fake or any(answer.fake for answer in reading.answers)
        place = {name: at for at, name in enumerate(predicted_ids)}
        hits = tuple(frozenset(place[name] for name in one) for one in reading.value)
        raw = tuple(
            json.dumps({"known": name, "predictions": sorted(one, key=place.__getitem__)})
            for name, one in zip(known_ids, reading.value, strict=True)
        )
        ballots.append(Ballot(hits, raw))
    return ballots, fake


def hits_messages(known: Sequence[Sequence[Comment]], points: Sequence[Point]) -> tuple[Message, ...]:
    """The prompt about these findings (each in all its phrasings) and predictions."""
    theirs = "\n\n".join(f"K{at}\n{fence(_finding(group))}" for at, group in enumerate(known, 1))
    return hits_prompt().messages({"fence_note": FENCE_NOTE, "known": theirs, "predicted": _fenced_points(points)})


def _fenced_points(points: Sequence[Point]) -> str:
    return "\n\n".join(f"P{at}\n{fence(point.text)}" for at, point in enumerate(points, 1))


def _finding(group: Sequence[Comment]) -> str:
    place = next((_place(one.span) for one in group if one.span is not None), "")
    bodies = "\nIn other words:\n".join(one.body.strip() for one in group)
    return f"[{place}]\n{bodies}" if place else bodies
