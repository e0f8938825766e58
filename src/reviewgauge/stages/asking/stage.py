"""The base of stages that ask a chat model, and conversations for prompts: speakers by role, never by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, NamedTuple, TypeVar

from pydantic import JsonValue
from typing_extensions import override

from reviewgauge.core.building import Candidate, Decision
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage
from reviewgauge.core.pull_requests import Account, PullRequest, Remark
from reviewgauge.core.records import Comment, Span
from reviewgauge.core.results import Failed, Vote
from reviewgauge.core.specs import short_spec
from reviewgauge.judges.pairs.location import hunk_of
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.chat.ask import Reading, ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import Message, Prompt, fence, load_prompt
from reviewgauge.models.request.model_spec import parse_model
from reviewgauge.stages.pull_requests.candidates import is_bot, is_other, thread_behind

T = TypeVar("T")
MOST_VOTES = 99


class AskingStage(Stage):
    """A stage that asks one chat model about each candidate; without `needs_model`, none may be named."""

    costly: ClassVar[bool] = True
    needs_model: ClassVar[bool] = True
    model: str

    @property
    @override
    def models(self) -> tuple[str, ...]:
        return (self.model,) if self.model else ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model or self.needs_model:
            check_model(self.model)

    def ask(
        self,
        conversations: Sequence[Sequence[Message]],
        read: Callable[[str], T],
        *,
        trials: Sequence[int] | None = None,
        schema: Mapping[str, JsonValue] | None = None,
    ) -> list[Reading[T]]:
        """All answers, asked for concurrently. Raises Failed where one is missing."""
        if not conversations:
            return []
        answers = ask_for_each(chat_model(self.model), conversations, read, trials=trials, schema=schema)
        readings = [answer for answer in answers if not isinstance(answer, Failed)]
        for first in answers:
            if isinstance(first, Failed):
                prefix = f"{len(answers) - len(readings)} of {len(answers)} questions have no answer: "
                problem = (prefix if len(answers) > 1 else "") + first.problem
                raise Failed(first.kind, problem, remedy=first.remedy, raw=first.raw, stops=first.stops)
        return readings


def decision(stage: Stage, item: Candidate, *, shown: str, decided: str, reason: str = "") -> Decision:
    """A model's decision about (a part of) one candidate, as it can be stored."""
    texts = {"shown": storable(shown), "decided": storable(decided), "reason": storable(reason)}
    return Decision(item=item.id, by=short_spec(stage), **texts)


def check_model(model: str) -> None:
    """Raises UserError for a model that does not exist, or where none is named: before anything is crawled."""
    if not model.strip():
        raise UserError(
            "a model is asked here, and none is named", remedy="--model openai:MODEL, or fake:example to try"
        )
    parse_model(model)


def own_prompt(name: str) -> Prompt:
    """The prompt `name` of the stages."""
    return load_prompt("reviewgauge.stages", name)


def prompt_pins(prompt: Prompt, *, fenced: bool = True) -> Mapping[str, str]:
    """The digest of the prompt, including the note on fences where texts are fenced."""
    return {"prompt": prompt.fenced_digest if fenced else prompt.digest}


def raw_votes(votes: Sequence[Vote]) -> str:
    """The raw answers behind a vote."""
    return " | ".join(" ".join((vote.reason or "").split()) for vote in votes)


def code_of(item: Candidate, comment: Comment) -> str:
    """The diff hunk that a comment stands on: that of the change, else the one that the forge showed with its thread.

    Empty where there is neither.
    """
    hunk, found = hunk_of(item.case.change, comment, comment)
    if found:
        return hunk
    thread = thread_behind(item, comment)
    return "" if thread is None else thread.hunk.strip("\n")


def shown_with(item: Candidate, comment: Comment, *texts: str) -> str:
    """The place and the code of a comment, and further texts: what a person is shown who checks a decision."""
    place = "" if comment.span is None else span_in_words(comment.span)
    return "\n\n".join((place, code_of(item, comment), *texts)).strip()


def span_in_words(span: Span) -> str:
    """`app.py, lines 3 to 5 before the change`."""
    if span.start is None:
        return span.path
    lines = f"line {span.start}" if span.start == span.end else f"lines {span.start} to {span.end}"
    return f"{span.path}, {lines}{' before the change' if span.side == 'old' else ''}"


class Turn(NamedTuple):
    """One message: the role of the speaker, and the text."""

    role: str
    body: str


class Roles:
    """The roles of one pull request's accounts: author, bot, or reviewer with a number where there are several."""

    def __init__(self, pull: PullRequest) -> None:
        self._pull = pull
        self._reviewers: dict[str, int] = {}
        remarks = [remark for thread in pull.threads for remark in thread.remarks]
        for remark in (*remarks, *pull.reviews, *pull.conversation):
            if is_other(pull, remark.author):
                self._reviewers.setdefault(remark.author.login, len(self._reviewers) + 1)

    def of(self, account: Account) -> str:
        """The role of an account. A deleted account is a reviewer."""
        if is_bot(account):
            return "bot"
        if not is_other(self._pull, account):
            return "author"
        return "reviewer" if len(self._reviewers) < 2 else f"reviewer {self._reviewers.get(account.login, 0)}"


def turns(remarks: Iterable[Remark], roles: Roles) -> list[Turn]:
    """The non-empty messages, in order."""
    return [Turn(roles.of(remark.author), remark.body.strip()) for remark in remarks if remark.body.strip()]


def plain_conversation(conversation: Iterable[Turn]) -> str:
    """`role: words`, with an empty line between two messages."""
    return "\n\n".join(f"{turn.role}: {turn.body}" for turn in conversation)


def fenced_conversation(conversation: Iterable[Turn]) -> str:
    """The same with each message fenced, so that none can impersonate another speaker."""
    return "\n\n".join(f"{turn.role}:\n{fence(turn.body)}" for turn in conversation)
