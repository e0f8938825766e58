"""Two reviewers and the author argue about a change; what the reviewers still hold afterwards is the review.

Source: own, after CR-Agent as SWR-Bench describes it (arXiv:2509.01494, IV-A: two agents look for format-related and
functional defects and debate) and CodeAgent behind it (arXiv:2402.02172). Neither prints prompts that fit: the words
are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

from pydantic import JsonValue
from typing_extensions import override

from reviewgauge.core.errors import NeedsCode, UserError, one_line
from reviewgauge.core.protocols import Context, Reviewer
from reviewgauge.core.records import Change, Comment, Review, Task
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.core.trust import ModelName, PluginSpec
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, Text, Word, answer_schema, read_record
from reviewgauge.models.chat.ask import ask_for, ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt
from reviewgauge.reviewers.reading.change_text import Piece, pieces_of, with_patches
from reviewgauge.reviewers.reading.context_text import (
    BUDGET,
    context_text,
    load_contexts,
    pin_contexts,
    prepare_contexts,
)
from reviewgauge.reviewers.reading.placing import numbered, placed
from reviewgauge.reviewers.reading.report_answers import MaybeText, Report, read_report

# The findings of a debate, what was said about each, and the strict reading of the roles' answers.


MOST_ROUNDS = 5
MOST_FINDINGS = 60  # of both reviewers together


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


@dataclass(frozen=True)
class Debate(Reviewer):
    """`model` plays both reviewers, one for function and one for form, and `author` (empty: `model`) their opponent.

    In each of `rounds` the author accepts or contests the open findings, and each reviewer keeps, rewords or withdraws
    its own. The debate ends early where nothing is contested: at most 2 + 3 * rounds calls. The trace is the whole
    debate. `truncate`, `context` and `budget` as in `prompt`.
    """

    model: ModelName
    author: ModelName = ""
    rounds: int = 2
    truncate: int = 0
    context: PluginSpec | tuple[PluginSpec, ...] = ()
    budget: int = BUDGET

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= MOST_ROUNDS:
            raise ValueError(f"rounds={self.rounds} must be from 1 to {MOST_ROUNDS}")
        if self.truncate < 0:
            raise ValueError(f"truncate={self.truncate} must not be negative; 0 shows everything")
        load_contexts(self.context)

    @property
    def models(self) -> tuple[str, ...]:
        """The models of the roles, and those that contexts ask."""
        asked = (self.model, self.author or self.model, *(name for one in self._contexts for name in one.models))
        return tuple(dict.fromkeys(asked))

    @property
    def _contexts(self) -> tuple[Context, ...]:
        return load_contexts(self.context)

    def pins(self) -> Mapping[str, str]:
        """The words of the prompts, and what the contexts rest on."""
        prompts = {f"{name} prompt": _prompt(name).fenced_digest for name in ("review", "answer", "decide")}
        return prompts | pin_contexts(self._contexts)

    @override
    def check(self, changes: Sequence[Change]) -> None:
        if all(change.task is not Task.REVIEW for change in changes):
            raise UserError(f"debate reviews whole changes, and the task is {changes[0].task}", remedy="use prompt")

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """What the contexts cannot use. Raises UserError for a model that cannot be asked."""
        for model in (self.model, self.author or self.model):
            chat_model(model)
        return tuple(prepare_contexts(self._contexts, self.budget, changes))

    def review(self, change: Change) -> Review:
        """What the reviewers hold after the debate. Raises Failed where a role gives no readable answer."""
        if change.task is not Task.REVIEW:
            raise Failed(FailureKind.REQUEST, f"debate reviews whole changes, and the task is {change.task}")
        try:
            change = with_patches(change, "debate")
            shown = pieces_of(change, "change", self.truncate)
            if not shown.pieces:
                why = "; ".join(shown.unread[:3]) or "no file of it has a patch"
                raise Failed(FailureKind.REQUEST, f"the change has no hunk of text to show: {why}")
            given = context_text(self._contexts, change, change, self.budget)
        except NeedsCode as error:
            raise Failed(FailureKind.REQUEST, error.problem, remedy=error.remedy) from None
        (piece,) = shown.pieces
        debate = _Debate(self, piece, given.text)
        findings = debate.open()
        for number in range(1, self.rounds + 1):
            if not debate.round(number, findings):
                break
        kept = (placed(one.comment, piece) for one in findings if one.stands)
        return Review(
            case=change.id or change.repo,
            system=self.system,
            comments=numbered(kept),
            trace="\n".join([*shown.remarks, *given.remarks, *debate.minutes]) or None,
        )


class _Debate:
    """One debate. `minutes` has a line on everything that was said."""

    def __init__(self, of: Debate, piece: Piece, context: str) -> None:
        self.of, self.minutes = of, list[str]()
        self._shown = {
            "fence_note": FENCE_NOTE,
            "pr_title": fence(piece.change.title),
            "pr_description": fence(piece.change.description),
            "diff": fence(piece.text),
            "context": f"\nRelated code and texts:\n{fence(context)}\n" if context else "",
        }

    def open(self) -> list[Argued]:
        """The findings of both reviewers."""
        read = partial(read_report, prompt=_prompt("review"))
        talks = [self._messages("review", part=words) for words in PARTS.values()]
        answers = ask_for_each(chat_model(self.of.model), talks, read, schema=REPORT)
        raised: list[tuple[Part, Comment]] = []
        for part, answer in zip(PARTS, answers, strict=True):
            if isinstance(answer, Failed):
                raise answer
            raised += [(part, comment) for comment in answer.value]
        if len(raised) > MOST_FINDINGS:
            self.minutes.append(f"{len(raised) - MOST_FINDINGS} findings over {MOST_FINDINGS} are left out")
        findings = [Argued(f"F{n}", part, one) for n, (part, one) in enumerate(raised[:MOST_FINDINGS], 1)]
        for one in findings:
            place = one.comment.claimed.path if one.comment.claimed else None
            where = f" in {place}" if place else ""
            self.minutes.append(f"{one.name} by the reviewer of {one.part}{where}: {one_line(one.comment.body, 500)}")
        return findings

    def round(self, number: int, findings: Sequence[Argued]) -> bool:
        """One round; whether the next one has something to argue about."""
        contested = [one for one in findings if one.stands and one.open]
        if not contested:
            return False
        for one, stance in self._stances(contested):
            one.open = stance.word == "object"
            self._note(one, f"the author {stance.word}s in round {number}: {stance.reason}")
        both = number == 1 and len({one.part for one in contested}) > 1  # then one may repeat the other
        for part in PARTS:
            self._decide(number, [one for one in contested if one.part == part and (both or one.open)], findings)
        return any(one.stands and one.open for one in findings)

    def _stances(self, contested: Sequence[Argued]) -> Iterator[tuple[Argued, Answer]]:
        names = [one.name for one in contested]
        read = partial(read_stances, prompt=_prompt("answer"), names=names)
        schema = answers_schema(Stances, names)
        messages = self._messages("answer", findings=_listed(contested))
        said = ask_for(chat_model(self.of.author or self.of.model), messages, read, schema=schema).value
        yield from ((one, said[one.name]) for one in contested)

    def _decide(self, number: int, mine: Sequence[Argued], findings: Sequence[Argued]) -> None:
        """One reviewer's decisions on its own findings. It sees what the other one withdrew before it."""
        if not mine:
            return
        names = [one.name for one in mine]
        read = partial(read_decisions, prompt=_prompt("decide"), names=names)
        schema = answers_schema(Decisions, names)
        standing = _listed([one for one in findings if one.stands])
        messages = self._messages("decide", findings=standing, mine=", ".join(names))
        said = ask_for(chat_model(self.of.model), messages, read, schema=schema).value
        for one, decision in ((one, said[one.name]) for one in mine):
            one.stands = decision.word == "keep"
            verb = "keeps" if one.stands else "withdraws"
            self._note(one, f"its reviewer {verb} it in round {number}: {decision.reason}")
            if one.stands and decision.comment != one.comment.body:
                one.comment = one.comment.model_copy(update={"body": decision.comment})
                self._note(one, f"and now says: {decision.comment}")

    def _messages(self, name: str, **slots: str) -> tuple[Message, ...]:
        return _prompt(name).messages({**self._shown, **slots})

    def _note(self, finding: Argued, words: str) -> None:
        finding.said.append(words)
        self.minutes.append(f"{finding.name}: {one_line(words, 500)}")


def _prompt(name: str) -> Prompt:
    return load_prompt("reviewgauge.reviewers", f"debate_{name}")


def _listed(findings: Sequence[Argued]) -> str:
    return "\n\n".join(one.text for one in findings)
