"""Two reviewers and the author argue about a change; what the reviewers still hold afterwards is the review.

Source: own, after CR-Agent as SWR-Bench describes it (arXiv:2509.01494, IV-B2: two agents look for format-related and
functional defects and debate) and CodeAgent behind it (arXiv:2402.02172). Neither prints prompts that fit: the words
are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Literal, TypeVar

from pydantic import Field, JsonValue
from typing_extensions import override

from reviewgauge.core.errors import one_line
from reviewgauge.core.parameters import Count
from reviewgauge.core.records import Change, Comment, Task
from reviewgauge.core.results import Drop, Failed
from reviewgauge.core.trust import ModelName, PluginSpec
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, Text, Word, answer_schema, read_record
from reviewgauge.models.chat.ask import ask_for, ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt
from reviewgauge.reviewers.reading.change_text import Piece, Pieces, pieces_of
from reviewgauge.reviewers.reading.context_text import BUDGET, load_contexts, pin_contexts
from reviewgauge.reviewers.reading.model_answers import PieceReview
from reviewgauge.reviewers.reading.model_reviewer import ModelReviewer
from reviewgauge.reviewers.reading.report_answers import MaybeText, Report, read_report

MOST_ROUNDS = 5
MOST_FINDINGS = 60  # of both reviewers together
PARTS = {
    "function": "how the code works: logic, missing cases, interfaces, resources, security",
    "form": "how the code reads: structure, names, documentation, tests, style, what is hard to maintain",
}


@dataclass
class Argued:
    """A finding: who made it, what was said about it, and whether it still stands. `open`: it is contested."""

    name: str
    part: str
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


class _Stance(AnswerRecord):
    """What the author says about one finding."""

    finding: Text
    stance: Word[Literal["accept", "object"]]
    reason: MaybeText = ""


class _Decision(AnswerRecord):
    """What a reviewer decides about its own finding."""

    finding: Text
    decision: Word[Literal["keep", "withdraw"]]
    reason: MaybeText = ""
    comment: MaybeText = ""


class _Stances(AnswerRecord):
    answers: list[_Stance]


class _Decisions(AnswerRecord):
    decisions: list[_Decision]


def read_stances(text: str, names: Sequence[str]) -> Mapping[str, _Stance]:
    """The author's answer to each open finding. Raises Unreadable: one is missing, twice, or not among them."""
    return _by_name(read_record(text, _Stances, _prompt("answer")).answers, names)


def read_decisions(text: str, names: Sequence[str]) -> Mapping[str, _Decision]:
    """A reviewer's decision on each of its findings. Raises Unreadable, also for one that is kept without words."""
    found = _by_name(read_record(text, _Decisions, _prompt("decide")).decisions, names)
    for name, one in found.items():
        if one.decision == "keep" and not one.comment.strip(" .…\n"):
            raise Unreadable(f"{name} is kept without a comment")
    return found


_A = TypeVar("_A", _Stance, _Decision)


def _by_name(answers: Sequence[_A], names: Sequence[str]) -> Mapping[str, _A]:
    found: dict[str, _A] = {}
    for one in answers:
        if one.finding in found:
            raise Unreadable(f"{one.finding} is named twice")
        if one.finding not in names:
            raise Unreadable(f"the finding {one.finding[:20]!r} is not one of those asked about")
        found[one.finding] = one
    if missing := [name for name in names if name not in found]:
        raise Unreadable(f"nothing is said about {missing[0]}")
    return found


@dataclass(frozen=True)
class Debate(ModelReviewer):
    """`model` plays both reviewers, one for function and one for form, and `author` (empty: `model`) their opponent.

    In each of `rounds` the author accepts or contests the open findings, and each reviewer keeps, rewords or withdraws
    its own. The debate ends early where nothing is contested: at most 2 + 3 * rounds calls. The trace is the whole
    debate. `truncate`, `context` and `budget` as in `prompt`.
    """

    model: ModelName
    author: ModelName = ""
    rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS)] = 2
    truncate: Count = 0
    context: PluginSpec | tuple[PluginSpec, ...] = ()
    budget: int = BUDGET

    def __post_init__(self) -> None:
        super().__post_init__()
        load_contexts(self.context)

    @property
    @override
    def models(self) -> tuple[str, ...]:
        """The models of the roles, and those that contexts ask."""
        return tuple(dict.fromkeys((self.model, self.author or self.model, *super().models)))

    @property
    def _tasks(self) -> tuple[Task, ...]:
        return (Task.REVIEW,)

    def pins(self) -> Mapping[str, str]:
        """The words of the prompts, and what the contexts rest on."""
        prompts = {f"{name} prompt": _prompt(name).fenced_digest for name in ("review", "answer", "decide")}
        return prompts | pin_contexts(self._contexts)

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """What cannot be used. Raises UserError for a model that cannot be asked."""
        chat_model(self.author or self.model)
        return super().prepare(changes)

    def _pieces(self, change: Change) -> Pieces:
        return pieces_of(change, "change", self.truncate)

    def _answers(self, change: Change, pieces: Sequence[Piece], contexts: Sequence[str]) -> Sequence[PieceReview]:
        debate = _Debate(self, pieces[0], contexts[0])
        findings = debate.open()
        for number in range(1, self.rounds + 1):
            if not debate.round(number, findings):
                break
        kept = tuple(one.comment for one in findings if one.stands)
        return [PieceReview(comments=kept, remark="\n".join(debate.minutes))]


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
        raised: list[tuple[str, Comment]] = []
        answers = ask_for_each(chat_model(self.of.model), talks, read, schema=answer_schema(Report))
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
        names = [one.name for one in contested]
        author, messages = self.of.author or self.of.model, self._messages("answer", findings=_listed(contested))
        read, schema = partial(read_stances, names=names), _schema(_Stances, names)
        stances = ask_for(chat_model(author), messages, read, schema=schema).value
        for one in contested:
            said = stances[one.name]
            one.open = said.stance == "object"
            self._note(one, f"the author {said.stance}s in round {number}: {said.reason.strip()}")
        both = number == 1 and len({one.part for one in contested}) > 1  # then one may repeat the other
        for part in PARTS:
            self._decide(number, [one for one in contested if one.part == part and (both or one.open)], findings)
        return any(one.stands and one.open for one in findings)

    def _decide(self, number: int, mine: Sequence[Argued], findings: Sequence[Argued]) -> None:
        """One reviewer's decisions on its own findings. It sees what the other one withdrew before it."""
        if not mine:
            return
        names = [one.name for one in mine]
        standing = _listed([one for one in findings if one.stands])
        messages = self._messages("decide", findings=standing, mine=", ".join(names))
        read, schema = partial(read_decisions, names=names), _schema(_Decisions, names)
        decisions = ask_for(chat_model(self.of.model), messages, read, schema=schema).value
        for one in mine:
            said = decisions[one.name]
            one.stands, comment = said.decision == "keep", said.comment.strip()
            verb = "keeps" if one.stands else "withdraws"
            self._note(one, f"its reviewer {verb} it in round {number}: {said.reason.strip()}")
            if one.stands and comment != one.comment.body:
                one.comment = one.comment.model_copy(update={"body": comment})
                self._note(one, f"and now says: {comment}")

    def _messages(self, name: str, **slots: str) -> tuple[Message, ...]:
        return _prompt(name).messages({**self._shown, **slots})

    def _note(self, finding: Argued, words: str) -> None:
        finding.said.append(words)
        self.minutes.append(f"{finding.name}: {one_line(words, 500)}")


def _prompt(name: str) -> Prompt:
    return load_prompt("reviewgauge.reviewers", f"debate_{name}")


def _schema(record: type[AnswerRecord], names: Sequence[str]) -> Mapping[str, JsonValue]:
    """The JSON schema of a list of answers, one on each of `names`."""
    schema = answer_schema(record)
    (listed,) = schema["properties"].values()
    listed["items"]["properties"]["finding"]["enum"] = [*names]
    return schema


def _listed(findings: Sequence[Argued]) -> str:
    return "\n\n".join(one.text for one in findings)
