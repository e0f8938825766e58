"""The two questions behind `points`: which change-points does the report raise, and which known ones do they hit?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pydantic import JsonValue

from reviewgauge.core.records import Case, Comment, Review, Span, findings
from reviewgauge.core.results import Failed
from reviewgauge.judges.classes.change_types import TYPES, change_type, listing
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.readers import Unreadable, json_object
from reviewgauge.models.chat.ask import ask_for, ask_for_each
from reviewgauge.models.chat.client import ChatModel
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt

LEAST, MOST = 1, 10  # severity


class Extracted(NamedTuple):
    """One change-point as a model listed it. `comment` counts the comments of the report from 1."""

    comment: int
    text: str
    type: str
    severity: int


def _list_of(key: str, **fields: JsonValue) -> Mapping[str, JsonValue]:
    """The JSON schema of an object whose one field is a list of objects with these fields."""
    closed: dict[str, JsonValue] = {"type": "object", "additionalProperties": False}
    entry: JsonValue = {**closed, "required": [*fields], "properties": fields}
    return {**closed, "required": [key], "properties": {key: {"type": "array", "items": entry}}}


_TEXT: JsonValue = {"type": "string"}
_WHOLE: JsonValue = {"type": "integer"}
EXTRACTION = _list_of("points", comment=_WHOLE, point=_TEXT, type={"type": "string", "enum": [*TYPES]}, severity=_WHOLE)
_PROMPTS = {"points": "extract", "hits": "hits", "ratings": "rate"}
RATINGS = _list_of("ratings", prediction=_TEXT, type={"type": "string", "enum": [*TYPES]}, severity=_WHOLE)
HITS = _list_of("hits", known=_TEXT, predictions={"type": "array", "items": _TEXT})


def read_points(text: str, comments: int) -> list[Extracted]:
    """The change-points in an answer about a report of so many comments. An empty list is one. Raises Unreadable."""
    found = [_point(entry, at, comments) for at, entry in _entries(text, "points")]
    if len(set(found)) < len(found):
        raise Unreadable("it lists the same point twice")
    return found


def read_ratings(text: str, predictions: Sequence[str]) -> list[tuple[str, int]]:
    """The type and severity of each prediction, in order; each must stand there exactly once. Raises Unreadable."""
    found: dict[str, tuple[str, int]] = {}
    for at, entry in _entries(text, "ratings"):
        name = entry.get("prediction")
        if not isinstance(name, str) or name not in predictions or name in found:
            raise Unreadable(f"entry {at} is of {_shown(name)}, and each of {_listed(predictions)} is rated once")
        found[name] = _rating(entry, at)
    if missing := [name for name in predictions if name not in found]:
        raise Unreadable(f"it does not rate {_listed(missing)}")
    return [found[name] for name in predictions]


def read_hits(text: str, known: Sequence[str], predictions: Sequence[str]) -> list[frozenset[str]]:
    """For each known point, in order, the predictions that hit it. Each known id must stand there exactly once.

    Raises Unreadable.
    """
    found: dict[str, frozenset[str]] = {}
    for at, entry in _entries(text, "hits"):
        name, hitting = entry.get("known"), entry.get("predictions")
        if not isinstance(name, str) or name not in known:
            raise Unreadable(f"entry {at} is of {_shown(name)}, and the known ids are {_listed(known)}")
        if name in found:
            raise Unreadable(f"it says twice who hits {name}")
        if not isinstance(hitting, list):
            raise Unreadable(f'"predictions" of {name} is not a list')
        for one in hitting:
            if not isinstance(one, str) or one not in predictions:
                raise Unreadable(f"{name} is hit by {_shown(one)}, and the predictions are {_listed(predictions)}")
        if len(set(map(str, hitting))) < len(hitting):
            raise Unreadable(f"{name} is hit twice by the same prediction")
        found[name] = frozenset(map(str, hitting))
    if missing := [name for name in known if name not in found]:
        raise Unreadable(f"it does not say who hits {_listed(missing)} (an empty list where none does)")
    return [found[name] for name in known]


def _entries(text: str, key: str) -> list[tuple[int, Mapping[str, JsonValue]]]:
    """The objects of the list under `key`, counted from 1."""
    entries = json_object(text, prompt=load_prompt("reviewgauge.metrics", f"points_{_PROMPTS[key]}")).get(key)
    if not isinstance(entries, list):
        raise Unreadable(f'it has no list "{key}"')
    found: list[tuple[int, Mapping[str, JsonValue]]] = []
    for at, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise Unreadable(f'entry {at} of "{key}" is not an object')
        found.append((at, entry))
    return found


def _point(entry: Mapping[str, JsonValue], at: int, comments: int) -> Extracted:
    comment = _whole(entry.get("comment"))
    if comment is None or not 1 <= comment <= comments:
        raise Unreadable(f'"comment" of point {at} is {_shown(entry.get("comment"))}, and they are 1 to {comments}')
    text = entry.get("point")
    if not isinstance(text, str) or not text.strip():
        raise Unreadable(f'"point" of point {at} holds no text')
    return Extracted(comment, " ".join(text.split()), *_rating(entry, at))


def _rating(entry: Mapping[str, JsonValue], at: int) -> tuple[str, int]:
    named = entry.get("type")
    code = change_type(named) if isinstance(named, str) else None
    if code is None:
        raise Unreadable(f'"type" of point {at} is {_shown(named)}, and the types are {", ".join(TYPES)}')
    severity = _whole(entry.get("severity"))
    if severity is None or not LEAST <= severity <= MOST:
        raise Unreadable(
            f'"severity" of point {at} is {_shown(entry.get("severity"))}, not a whole number from {LEAST} to {MOST}'
        )
    return code, severity


def _whole(value: JsonValue) -> int | None:
    """A whole number, 7 or 7.0; true is none, and neither is "7"."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        return None
    return int(value)


def _shown(value: JsonValue) -> str:
    return "missing" if value is None else repr(value)[:60]


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
    reading = ask_for(model, extraction_messages(comments), read, schema=EXTRACTION)
    raw = storable(reading.raw)
    return Extraction(_named(comments, reading.value), raw, any(answer.fake for answer in reading.answers))


def rate(model: ChatModel, found: Extraction) -> Extraction:
    """The same points with the types and severities that `model` gives them. No call where there are none."""
    if not found.points:
        return found
    names = [f"P{at}" for at in range(1, len(found.points) + 1)]
    slots = {"fence_note": FENCE_NOTE, "types": listing(), "predicted": _fenced_points(found.points)}
    reading = ask_for(model, rating_prompt().messages(slots), partial(read_ratings, predictions=names), schema=RATINGS)
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


def _named(comments: Sequence[Comment], found: Sequence[tuple[int, str, str, int]]) -> list[Point]:
    """Points with ids: the comment's own where it raises one, else `comment#1`, `comment#2` ..."""
    per_comment = Counter(number for number, *_ in found)
    used = {comment.id for comment in comments}
    points, count = [], dict.fromkeys(per_comment, 0)
    for number, text, kind, severity in found:
        comment = comments[number - 1].id
        name = comment
        if per_comment[number] > 1:
            count[number] += 1
            name = f"{comment[:480]}#{count[number]}"
            while name in used:
                name += "'"
            used.add(name)
        points.append(Point(name, comment, text, kind, severity))
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
    for reading in ask_for_each(model, [messages] * trials, read, trials=list(numbers), schema=HITS):
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
