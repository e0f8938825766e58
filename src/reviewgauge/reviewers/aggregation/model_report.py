"""A model makes one report out of several reviews.

Source: SWR-Bench (Zeng et al. 2025, arXiv:2509.01494), Multi-Review. The paper says what the aggregation is for (keep
what reviews flag again and again, drop what is sporadic) and does not print its prompt: the words are ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field

from reviewgauge.core.base import content_id
from reviewgauge.core.errors import one_line
from reviewgauge.core.records import Change, Comment, Review, Task
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, Text, answer_schema, read_record
from reviewgauge.models.chat.ask import ask_for
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import Prompt, fence, load_prompt
from reviewgauge.reviewers.aggregation.ballot import shown, with_votes
from reviewgauge.reviewers.reading.review_files import unique

_LONGEST = 4_000  # characters of one comment
_LONGEST_PATH = 500
_MOST = 200_000  # characters of all comments

Numbered = dict[str, Comment]  # by "review.finding", both counted from 1


class _Finding(AnswerRecord):
    sources: list[Annotated[str, BeforeValidator(str)]] = Field(alias="from")
    text: Text


class _Report(AnswerRecord):
    findings: list[_Finding]


def template() -> Prompt:
    """The prompt."""
    return load_prompt("reviewgauge.reviewers", "aggregate")


@dataclass(frozen=True)
class ModelReport:
    """Asks `model` for one report. One review alone is the report as it stands."""

    model: str

    def report(self, change: Change, reviews: Sequence[Review]) -> Review:
        """The report. Raises Failed where there is no readable answer, and for a task without comments."""
        if change.task not in (Task.REVIEW, Task.COMMENT):
            remedy = "by='votes' combines verdicts and lines"
            raise Failed(
                FailureKind.REQUEST, f"a model combines comments, and the task is {change.task}", remedy=remedy
            )
        name = change.id or change.repo
        if len(reviews) == 1 or not any(review.comments for review in reviews):
            return Review(case=name, system="report", comments=reviews[0].comments)
        numbered, left_out = _numbered(reviews)
        messages = template().messages(
            {
                "title": fence(change.title),
                "description": fence(change.description),
                "count": str(len(reviews)),
                "findings": "\n\n".join(f"{at}\n{fence(_told(one))}" for at, one in numbered.items()),
            }
        )
        read = partial(_read, numbered=numbered, of=len(reviews))
        found = ask_for(chat_model(self.model), messages, read, schema=answer_schema(_Report))
        kept, used = found.value
        trace = [f"{self.model} made {len(kept)} findings out of {len(numbered)} comments of {len(reviews)} reviews"]
        trace += [f"{left_out} comments were not shown to it: together they are too long"] if left_out else []
        trace += [f"dropped {at}: {shown(one)}" for at, one in numbered.items() if at not in used][:100]
        return Review(case=name, system="report", comments=kept, trace="\n".join(trace))


def _numbered(reviews: Sequence[Review]) -> tuple[Numbered, int]:
    """(the comments by number, how many were left out). Each review's first comment goes before any second one."""
    found: Numbered = {}
    length = left_out = 0
    for at in range(max(len(review.comments) for review in reviews)):
        for number, review in enumerate(reviews, start=1):
            if at >= len(review.comments):
                continue
            comment = review.comments[at]
            length += len(_told(comment)) + 100
            if length > _MOST:
                left_out += 1
            else:
                found[f"{number}.{at + 1}"] = comment
    ordered = sorted(found, key=lambda key: [int(part) for part in key.split(".")])
    return {key: found[key] for key in ordered}, left_out


def _body(comment: Comment) -> str:
    return comment.body if len(comment.body) <= _LONGEST else f"{comment.body[:_LONGEST]} ..."


def _told(comment: Comment) -> str:
    """Its place on one line, and its words: a path is as much a stranger's as they are."""
    return f"{_place(comment)}\n\n{_body(comment)}"


def _place(comment: Comment) -> str:
    span = comment.span
    if span is None:
        return "without a place"
    path = one_line(span.path, _LONGEST_PATH)
    if span.start is None:
        return path
    lines = f"line {span.start}" if span.end in (None, span.start) else f"lines {span.start} to {span.end}"
    return f"{path}, {lines}{' before the change' if span.side == 'old' else ''}"


def _read(text: str, numbered: Numbered, of: int) -> tuple[tuple[Comment, ...], frozenset[str]]:
    """(the comments of the report, the numbers that they rest on)."""
    comments: list[Comment] = []
    used: set[str] = set()
    for found in read_record(text, _Report, template()).findings:
        sources = list(dict.fromkeys(one.strip() for one in found.sources))
        if unknown := [one for one in sources if one not in numbered]:
            raise Unreadable(f"there is no finding {unknown[0][:40]!r}")
        if not sources:
            raise Unreadable('a finding does not say which findings it comes from, such as "from": ["1.2"]')
        used.update(sources)
        votes = len({source.partition(".")[0] for source in sources})
        comments.append(with_votes(_placed(found.text, [numbered[source] for source in sources]), votes, of))
    return unique(comments), frozenset(used)


def _placed(body: str, sources: Sequence[Comment]) -> Comment:
    """A comment at the place that most of its sources have; of several, the one named first."""
    places = Counter(source.span for source in sources)
    best = max(places, key=lambda span: (span is not None, places[span]))
    at = next(source for source in sources if source.span == best)
    name = content_id(at.span.to_line().decode() if at.span else "", body)
    kept = {name: getattr(at, name) for name in ("span", "quote", "category", "severity", "anchoring", "claimed")}
    return Comment(id=name, body=body, extra=at.extra, **kept)
