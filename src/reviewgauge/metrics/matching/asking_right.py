"""Is a comment right that matches no golden finding? People or models said so before, or a model is asked.

The definition of right is ReviewBench's (METHODOLOGY.md, 5.2). Its classifier reads the whole checkout with tools; the
model asked here sees the diff of the comment's file, or the whole diff where the change does not touch that file. The
words of the prompt are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reviewgauge.core.errors import one_line
from reviewgauge.core.labels import SubjectKind
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.results import Vote
from reviewgauge.judges.pairs.asking import all_read
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.prose import doubts, obeys
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, LooseText, answer_schema, read_record
from reviewgauge.models.chat.ask import ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt

VALID = "valid"  # the dimension of labels on a comment: is it right?
LONGEST_DIFF = 60_000  # characters of a diff that the model sees
_REASON = 300


class _Answer(AnswerRecord):
    reasoning: LooseText = ""
    right: bool


class Judged(NamedTuple):
    """Whether a comment is right, why, and the answer behind it."""

    right: bool
    reason: str
    vote: Vote
    fake: bool = False


def prompt() -> Prompt:
    """The question."""
    return load_prompt("reviewgauge.metrics", "finding_right")


def labelled(case: Case, review: Review) -> dict[str, Judged]:
    """The comments of a review that carry labels in the dimension `valid`: what most raters say; a tie says nothing."""
    votes: dict[str, list[Vote]] = {}
    for label in case.labels:
        subject = label.subject
        of_review = subject.system == review.system and subject.attempt == review.attempt
        asked = label.dimension == VALID and subject.kind is SubjectKind.COMMENT and isinstance(label.value, bool)
        if asked and of_review and subject.comment:
            vote = Vote(rater=label.rater, value=label.value, confidence=label.confidence, reason=label.reason)
            votes.setdefault(subject.comment, []).append(vote)
    found: dict[str, Judged] = {}
    for comment, cast in votes.items():
        yes = sum(vote.value is True for vote in cast)
        if 2 * yes != len(cast):
            side = next(vote for vote in cast if (vote.value is True) == (2 * yes > len(cast)))
            found[comment] = Judged(2 * yes > len(cast), side.reason or f"{yes} of {len(cast)} say right", side)
    return found


def ask(model: str, case: Case, comments: Sequence[Comment]) -> dict[str, Judged]:
    """The model's answer about each comment, by its id; none where it could look at no code. Raises Failed."""
    if not comments or not any(file.patch for file in case.change.files):
        return {}
    conversations = [messages(case.change, comment) for comment in comments]
    distinct = list(dict.fromkeys(conversations))
    readings = all_read(ask_for_each(chat_model(model), distinct, read, schema=answer_schema(_Answer)), "judgements")
    found = dict(zip(distinct, readings, strict=True))
    judged = {}
    for comment, conversation in zip(comments, conversations, strict=True):
        reading = found[conversation]
        right, reason = reading.value
        vote = Vote(rater=model, value=right, reason=storable(reading.raw))
        judged[comment.id] = Judged(right, reason, vote, any(answer.fake for answer in reading.answers))
    return judged


def messages(change: Change, comment: Comment) -> tuple[Message, ...]:
    """The question about one comment. It never names who wrote it."""
    span = comment.span
    path = span.path if span is not None else ""
    files = [file for file in change.files if file.patch]
    shown = [file for file in files if path and path in (file.path, file.old_path)] or files
    diff = "\n".join(f"--- {file.old_path or file.path}\n+++ {file.path}\n{file.patch}" for file in shown)
    if len(diff) > LONGEST_DIFF:
        diff = f"{diff[:LONGEST_DIFF]}\n(the first {LONGEST_DIFF:,} of {len(diff):,} characters)"
    lines = f", lines {span.start} to {span.end} ({span.side} side)" if span is not None and span.start else ""
    values = {
        "title": fence(change.title) if change.title.strip() else "(none)",
        "diff": fence(diff),
        "place": fence(f"{path}{lines}") if path else "(none)",
        "finding": fence(comment.body),
    }
    return prompt().messages({"fence_note": FENCE_NOTE, **values})


def read(text: str) -> tuple[bool, str]:
    """Whether the finding is right, and why. Raises Unreadable."""
    answer = read_record(text, _Answer, prompt())
    if doubts(answer.reasoning):
        raise Unreadable("its reasoning asks for something or doubts its answer")
    if answer.right and obeys(answer.reasoning):
        raise Unreadable("it follows an order of the material that it is to judge")
    return answer.right, one_line(storable(answer.reasoning), _REASON)
