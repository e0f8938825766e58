"""The findings of a debate, what was said about each, and the strict reading of the roles' answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pydantic import JsonValue

from reviewgauge.core.records import Comment
from reviewgauge.models.answers.readers import Unreadable, json_object
from reviewgauge.models.request.messages import Prompt, fence
from reviewgauge.reviewers.reading.report_answers import TEXT, object_schema, report_schema

Part = Literal["function", "form"]
PARTS: Mapping[Part, str] = {
    "function": "how the code works: logic, missing cases, interfaces, resources, security",
    "form": "how the code reads: structure, names, documentation, tests, style, what is hard to maintain",
}
REPORT = object_schema(findings=report_schema())


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


def answers_schema(key: str, names: Sequence[str], **words: tuple[str, ...]) -> Mapping[str, JsonValue]:
    """The JSON schema of a list of answers, one on each of `names`. `words`: a key and what it may say."""
    choices: dict[str, JsonValue] = {name: {"type": "string", "enum": [*of]} for name, of in words.items()}
    texts: dict[str, JsonValue] = {"reason": TEXT} | ({"comment": TEXT} if "decision" in words else {})
    named: JsonValue = {"type": "string", "enum": [*names]}
    one = object_schema(finding=named, **choices, **texts)
    listed: JsonValue = {"type": "array", "items": one}
    return object_schema(**{key: listed})


def read_stances(text: str, prompt: Prompt, names: Sequence[str]) -> Mapping[str, Answer]:
    """The author's answer to each open finding. Raises Unreadable: one is missing, twice, or not among them."""
    return _read(text, prompt, ("answers", "stance"), names, ("accept", "object"))


def read_decisions(text: str, prompt: Prompt, names: Sequence[str]) -> Mapping[str, Answer]:
    """A reviewer's decision on each of its findings. Raises Unreadable, also for one that is kept without words."""
    found = _read(text, prompt, ("decisions", "decision"), names, ("keep", "withdraw"))
    for name, answer in found.items():
        if answer.word == "keep" and not answer.comment.strip(" .…\n"):
            raise Unreadable(f"{name} is kept without a comment")
    return found


def _read(
    text: str, prompt: Prompt, keys: tuple[str, str], names: Sequence[str], words: tuple[str, str]
) -> Mapping[str, Answer]:
    listed = json_object(text, (keys[0],), prompt)[keys[0]]
    if not isinstance(listed, list):
        raise Unreadable(f"{keys[0]} is not a list")
    found: dict[str, Answer] = {}
    for item in listed:
        if not isinstance(item, dict):
            raise Unreadable(f"an item of {keys[0]} is not an object")
        fields = ("finding", keys[1], "reason", "comment")
        name, word, reason, comment = (str(item.get(key) or "").strip() for key in fields)
        if name in found:
            raise Unreadable(f"{name} is named twice")
        if name not in names:
            raise Unreadable(f"the finding {name[:20]!r} is not one of those asked about")
        if word not in words:
            raise Unreadable(f"the {keys[1]} on {name} must be {words[0]} or {words[1]}")
        found[name] = Answer(word, reason, comment)
    if missing := [name for name in names if name not in found]:
        raise Unreadable(f"nothing is said about {missing[0]}")
    return found
