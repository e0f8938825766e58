"""The two questions behind `points`: which change-points does the report raise, and which known ones do they hit?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from reviewgauge.core.findings import findings
from reviewgauge.core.records import Case, Comment, Review, Span
from reviewgauge.core.results import Failed
from reviewgauge.judges.classes.change_types import listing
from reviewgauge.metrics.change_points.points_answers import EXTRACTION, HITS, read_hits, read_points
from reviewgauge.models.chat.ask import ask_for, ask_for_each
from reviewgauge.models.chat.client import ChatModel
from reviewgauge.models.request.messages import Message
from reviewgauge.models.request.prompts import FENCE_NOTE, Prompt, fence, load_prompt

PACKAGE = "reviewgauge.metrics"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


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


def hits_prompt() -> Prompt:
    """Step 2, in our own words."""
    return load_prompt(PACKAGE, "points_hits")


def extract(model: ChatModel, review: Review) -> Extraction:
    """The change-points that the review raises. No call for an empty review.

    The whole report is sent, however long: one that the model cannot take is a Failed, never cut.
    """
    said = [comment for comment in review.comments if comment.body.strip()]
    if not said:
        return Extraction()
    read = partial(read_points, comments=len(said))
    reading = ask_for(model, extraction_messages(said), read, schema=EXTRACTION)
    raw = _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", reading.raw)
    return Extraction(_named(said, reading.value), raw, any(answer.fake for answer in reading.answers))


def extraction_messages(said: Sequence[Comment]) -> tuple[Message, ...]:
    """What is asked about these comments; it does not say who wrote them."""
    report = "\n\n".join(f"Comment {at}\n{fence(_report(comment))}" for at, comment in enumerate(said, 1))
    count = "one comment" if len(said) == 1 else f"{len(said)} comments"
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


def _named(said: Sequence[Comment], found: Sequence[tuple[int, str, str, int]]) -> list[Point]:
    """Points with ids: the comment's own where it raises one, else `comment#1`, `comment#2` ..."""
    per_comment: dict[int, int] = {}
    for number, *_ in found:
        per_comment[number] = per_comment.get(number, 0) + 1
    used = {comment.id for comment in said}
    points, count = [], dict.fromkeys(per_comment, 0)
    for number, text, kind, severity in found:
        comment = said[number - 1].id
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
    """What is asked about these findings (each in all its phrasings) and predictions."""
    theirs = "\n\n".join(f"K{at}\n{fence(_finding(group))}" for at, group in enumerate(known, 1))
    ours = "\n\n".join(f"P{at}\n{fence(point.text)}" for at, point in enumerate(points, 1))
    return hits_prompt().messages({"fence_note": FENCE_NOTE, "known": theirs, "predicted": ours})


def _finding(group: Sequence[Comment]) -> str:
    place = next((_place(one.span) for one in group if one.span is not None), "")
    bodies = "\nIn other words:\n".join(one.body.strip() for one in group)
    return f"[{place}]\n{bodies}" if place else bodies
