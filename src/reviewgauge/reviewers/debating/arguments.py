"""The findings of a debate, what was said about each, and the strict reading of the roles' answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pydantic import JsonValue

from reviewgauge.core.records import Comment
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, Text, Word, answer_schema, read_record
from reviewgauge.models.request.messages import Prompt, fence
from reviewgauge.reviewers.reading.report_answers import MaybeText, Report

Part = Literal["function", "form"]
PARTS: Mapping[Part, str] = {
    "function": "how the code works: logic, missing cases, interfaces, resources, security",
    "form": "how the code reads: structure, names, documentation, tests, style, what is hard to maintain",
}
REPORT = answer_schema(Report)


@dataclass
class Argued:
    """A finding: who made it, what was said about it, and whether it still stands. `open`: it is contested."""

    name: str
    part: Part
    comment: Comment
    said: list[str] = field(default_factory=list)
    stands: bool = True
    open: bool = True

    @property
    def text(self) -> str:
        """The finding as a prompt shows it: all of it is words of models about code under review, so it is fenced."""
        claim = self.comment.claimed
        where = [f"file: {claim.path}"] if claim and claim.path else []
        where += [f"code:\n{claim.hunk}"] if claim and claim.hunk else []
        fenced = fence("\n".join([*where, self.comment.body, *self.said]))
        return f"{self.name}, by the reviewer of {self.part}\n{fenced}"


class Answer(NamedTuple):
    """What a role says about one finding. `word` is its stance or decision."""

    word: str
    reason: str
    comment: str = ""


class Stance(AnswerRecord):
    """What the author says about one finding."""

    finding: Text
    stance: Word[Literal["accept", "object"]]
    reason: MaybeText = ""


class Decision(AnswerRecord):
    """What a reviewer decides about its own finding."""

    finding: Text
    decision: Word[Literal["keep", "withdraw"]]
    reason: MaybeText = ""
    comment: MaybeText = ""


class Stances(AnswerRecord):
    """The author's answer to each open finding."""

    answers: list[Stance]


class Decisions(AnswerRecord):
    """A reviewer's decision on each of its findings."""

    decisions: list[Decision]


def answers_schema(record: type[Stances | Decisions], names: Sequence[str]) -> Mapping[str, JsonValue]:
    """The JSON schema of a list of answers, one on each of `names`."""
    schema = answer_schema(record)
    (listed,) = schema["properties"].values()
    listed["items"]["properties"]["finding"]["enum"] = [*names]
    return schema


def read_stances(text: str, prompt: Prompt, names: Sequence[str]) -> Mapping[str, Answer]:
    """The author's answer to each open finding. Raises Unreadable: one is missing, twice, or not among them."""
    listed = read_record(text, Stances, prompt).answers
    return _by_name([(one.finding, Answer(one.stance, one.reason.strip())) for one in listed], names)


def read_decisions(text: str, prompt: Prompt, names: Sequence[str]) -> Mapping[str, Answer]:
    """A reviewer's decision on each of its findings. Raises Unreadable, also for one that is kept without words."""
    listed = read_record(text, Decisions, prompt).decisions
    answers = [(one.finding, Answer(one.decision, one.reason.strip(), one.comment.strip())) for one in listed]
    found = _by_name(answers, names)
    for name, answer in found.items():
        if answer.word == "keep" and not answer.comment.strip(" .…\n"):
            raise Unreadable(f"{name} is kept without a comment")
    return found


def _by_name(answers: Sequence[tuple[str, Answer]], names: Sequence[str]) -> Mapping[str, Answer]:
    found: dict[str, Answer] = {}
    for name, answer in answers:
        if name in found:
            raise Unreadable(f"{name} is named twice")
        if name not in names:
            raise Unreadable(f"the finding {name[:20]!r} is not one of those asked about")
        found[name] = answer
    if missing := [name for name in names if name not in found]:
        raise Unreadable(f"nothing is said about {missing[0]}")
    return found
