"""A chat model that looks around in the code with tools before it comments: lists, reads, searches, follows names.

Source: SWR-Bench (arXiv:2509.01494), section IV-B, SWR-Agent: it receives the pull request and explores the codebase
with tools. Its prompt and tools are not printed; these are our own, and only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from reviewgauge.core.base import Prose, content_id
from reviewgauge.core.errors import BadInput, MissingExtra, NeedsCode, UserError, one_line
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, Comment, Location, Review, Severity, Side
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.core.trust import ModelName, PluginSpec
from reviewgauge.models.chat.client import ChatModel, chat_model
from reviewgauge.models.request.messages import (
    Answer,
    Message,
    Prompt,
    Request,
    Role,
    ToolCall,
    UsageSum,
    fence,
    load_prompt,
    user,
)
from reviewgauge.repo.diff.anchors import anchor
from reviewgauge.repo.git.repository import code_reader
from reviewgauge.reviewers.reading.change_text import Pieces, pieces_of, with_patches
from reviewgauge.reviewers.reading.code_tools import (
    LOOKS,
    Number,
    PathText,
    ReviewedCode,
    ToolArguments,
    Version,
    described,
)
from reviewgauge.reviewers.reading.context_text import (
    BUDGET,
    context_text,
    load_contexts,
    pin_contexts,
    prepare_contexts,
)
from reviewgauge.reviewers.reading.review_files import unique

_FILES = 500  # changed files that are listed
_TITLE = 1_000  # characters


@dataclass(frozen=True)
class Agent(Reviewer):
    """Lets `model` look at the code before and after the change, `steps` times at most, and takes its comments.

    No step begins once `tokens` (in and out) or `cost` (in dollars) are used up; 0 is no limit. What was reported by
    then counts; nothing is a failure. Once a step would show more than about `window` tokens, the oldest looks are
    left out, and half of it is the most of the change itself. The review's trace has every call.
    """

    needs_diff: ClassVar[bool] = True

    model: ModelName
    steps: int = 30
    tokens: int = 1_000_000
    cost: float = 0.0
    window: int = 100_000
    context: PluginSpec | tuple[PluginSpec, ...] = ()
    budget: int = BUDGET

    def __post_init__(self) -> None:
        load_contexts(self.context)  # refuses what is not a context before anything is read

    @property
    def models(self) -> tuple[str, ...]:
        """The model, and those that contexts ask."""
        return tuple(dict.fromkeys((self.model, *(name for one in load_contexts(self.context) for name in one.models))))

    @property
    def _prompt(self) -> Prompt:
        return load_prompt("reviewgauge.reviewers", "agent")

    def pins(self) -> Mapping[str, str]:
        """The words of the prompt and of the tools, and what the contexts rest on."""
        return {"prompt": self._prompt.digest, "tools": tools_digest(), **pin_contexts(load_contexts(self.context))}

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Check every parameter; name the changes without code. Raises UserError, NeedsCode, MissingExtra."""
        model = chat_model(self.model)
        if self.steps < 1 or self.window < 1_000 or self.tokens < 0 or self.cost < 0:
            raise UserError("agent needs steps above 0, a window of 1000 or more, and tokens and cost of 0 or more")
        if self.cost and model.client.budget.prices.facts(model.of).price is None:
            raise UserError(f"cost={self.cost:g}: the price of {self.model} is not known", remedy="limit it by tokens")
        lost = list(_without_code(changes))
        if changes and len(lost) == len(changes):
            raise NeedsCode("agent")
        return (*prepare_contexts(load_contexts(self.context), self.budget, changes), *lost)

    def review(self, change: Change) -> Review:
        """The comments that the model made. Raises Failed where it made none before a limit."""
        try:
            change = with_patches(change, "agent")
            code = ReviewedCode.of(change)
            code.sizes("new")  # every tool would fail where files are missing
        except UserError as error:  # no code, or a part of it
            raise Failed(FailureKind.REQUEST, error.problem, remedy=error.remedy) from None
        shown = pieces_of(change, "change", longest=2 * self.window)  # characters, of which a token has about four
        cut = len(change.description) - self.window
        remarks = [*shown.remarks, *([f"the description: {cut:,} characters were cut off"] if cut > 0 else [])]
        given = context_text(load_contexts(self.context), change, change, self.budget)
        conversation = Conversation(self, chat_model(self.model), code)
        conversation.run(self._messages(change, shown, given.text))
        return Review(
            case=change.id or change.repo,
            system=self.system,
            comments=unique(conversation.comments),
            trace="\n".join([*remarks, *given.remarks, *conversation.trace]),
        )

    def limit_reached(self, used: UsageSum) -> str:
        """The limit that leaves no further step; empty where there is one."""
        if used.added >= self.steps:
            return f"steps={self.steps}"
        if self.tokens and used.tokens_in + used.tokens_out >= self.tokens:
            return f"tokens={self.tokens}"
        return f"cost={self.cost:g}" if self.cost and used.dollars >= self.cost else ""

    def _messages(self, change: Change, shown: Pieces, context: str) -> tuple[Message, ...]:
        files = [f"{file.path} ({file.status.value.replace('_', ' ')})" for file in change.files]
        more = [f"and {len(files) - _FILES} more"] if len(files) > _FILES else []
        diff = shown.pieces[0] if shown.pieces else None
        rest = "\n\nIts rest does not fit here: the tool show has it." if diff is not None and diff.cut else ""
        rest += f"\n\nMore about it:\n{fence(context)}" if context else ""
        return self._prompt.messages(
            {
                "title": fence(change.title[:_TITLE]),
                "description": fence(change.description[: self.window]),  # a quarter of the window in tokens
                "files": fence("\n".join([*files[:_FILES], *more])),
                "diff": (fence(diff.text) if diff is not None else "No file of it has a diff.") + rest,
            }
        )


def _without_code(changes: Sequence[Change]) -> Iterator[Drop]:
    for change in changes:
        if change.git is None or change.head is None or change.base is None:
            yield Drop(item=change.id or change.repo, by="agent", reason="its code is not at hand: a failure")


CALLS = 10  # of one step that are answered; the rest is neither kept nor sent back
_SILENT = 3  # answers without a call of a tool, one after the other, that end the review
_LAST = 3  # steps from which on the model is told how many are left
_SHOWN = 2_000  # characters of an answer in the trace
_IN_A_TOKEN = 4  # characters
_NO_CALL = "Call comment for each problem, and finish when you are done."
_LEFT_OUT = "(left out to save room: call the tool again if you need it)"


class ReportComment(ToolArguments):
    """Report one problem that the change brings, at the lines where it has to be mended. Call it once a problem."""

    tool: ClassVar[str] = "comment"

    path: PathText
    line: Number
    end_line: Annotated[int, Field(ge=0, le=10_000_000, description="0 where it is one line")] = 0
    version: Version = "new"
    text: Annotated[Prose, Field(min_length=1, description="what is wrong, and why")]
    severity: Literal["critical", "high", "medium", "low", "info"]


class FinishReview(ToolArguments):
    """End the review: everything is reported, or there is nothing to report."""

    tool: ClassVar[str] = "finish"


def tools_digest() -> str:
    """A hash of what a model is told about its tools."""
    every: Sequence[type[ToolArguments]] = (*LOOKS, ReportComment, FinishReview)
    return content_id(*(described(one).model_dump_json() for one in every))


class Handler(NamedTuple):
    """A tool: the record that its arguments must fit, and what answers it."""

    record: type[ToolArguments]
    answer: Callable[[Any], str]


@dataclass
class Conversation:
    """What a model has done so far: its comments, and the trace of all calls and answers."""

    agent: Agent
    model: ChatModel
    code: ReviewedCode
    comments: list[Comment] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    finished: bool = False

    def __post_init__(self) -> None:
        looks = [Handler(look, lambda call: str(call.answer(self.code))) for look in LOOKS]
        every = [*looks, Handler(ReportComment, self._comment), Handler(FinishReview, self._finish)]
        self._tools: Mapping[str, Handler] = {one.record.tool: one for one in every}
        self._described = tuple(described(one.record) for one in every)

    def run(self, messages: Sequence[Message]) -> None:
        """Go on until the model has finished. Raises Failed where a limit comes first and nothing was reported."""
        talk, used = list(messages), UsageSum()
        silent: list[Request] = []  # the last requests, whose answers call no tool
        while not self.finished:
            step = used.added + 1
            limit = self.agent.limit_reached(used)
            if limit:
                self._end(FailureKind.BUDGET, f"did not finish within {limit}", "a larger limit")
                return
            if len(silent) == _SILENT:
                self.model.forget(silent)
                self._end(FailureKind.UNREADABLE, f"called no tool in {_SILENT} answers", "a model that calls tools")
                return
            self.trace.append(f"--- step {step} ---")
            request = Request(messages=tuple(fitted(talk, self.agent.window)), tools=self._described)
            answer = self._asked(request)
            used.add(answer.usage)
            talk += self._turn(answer, self.agent.steps - step)
            silent = [] if answer.tool_calls else [*silent, request]

    def _asked(self, request: Request) -> Answer:
        """The model's answer. What broke half-way is a failure, with what was done until then."""
        try:
            return self.model.ask(request)
        except Failed as error:
            raw = "\n".join(filter(None, (*self.trace, error.raw)))
            raise Failed(error.kind, error.problem, remedy=error.remedy, raw=raw, stops=error.stops) from None

    def _end(self, kind: FailureKind, why: str, remedy: str) -> None:
        self.trace.append(f"ended: {self.model.of.model} {why}")
        if not self.comments:
            problem = f"{self.model.of.model} reported nothing and {why}"
            raise Failed(kind, problem, remedy=remedy, raw="\n".join(self.trace))

    def _turn(self, answer: Answer, left: int) -> list[Message]:
        """The model's message with its first calls, and the answer to each; how many more there were is said once."""
        if answer.text:
            self.trace.append(_shown(answer.text))
        calls, more = answer.tool_calls[:CALLS], len(answer.tool_calls) - CALLS
        said = Message(role=Role.ASSISTANT, text=answer.text, tool_calls=calls)
        if not calls:
            return [said, user(_NO_CALL)]
        answers = []
        for call in calls:
            text = self._answer(call).replace("\x00", "\N{REPLACEMENT CHARACTER}")
            self.trace += [f"> {call.name} {one_line(call.arguments, _SHOWN)}", _shown(text)]
            answers.append(Message(role=Role.TOOL, text=fence(text), answers=call.id))
        notes = []
        if more > 0:
            notes.append(f"Only {CALLS} calls are answered at a time: {more:,} more were left out.")
            self.trace.append(f"({more:,} more calls, which are not answered)")
        if left <= _LAST:
            steps = "1 more step" if left == 1 else f"{left} more steps"
            notes.append(f"You have {steps}. What is not reported by then is lost.")
        if notes:
            text = "\n\n".join([answers[-1].text, *notes])
            answers[-1] = answers[-1].model_copy(update={"text": text})
        return [said, *answers]

    def _answer(self, call: ToolCall) -> str:
        tool = self._tools.get(call.name)
        if tool is None:
            return f"there is no tool {call.name[:100]!r}; there are {', '.join(self._tools)}"
        try:
            arguments = call.arguments.encode("utf-8", "replace") or b"{}"
            return tool.answer(parse_record(tool.record, arguments, call.name))
        except BadInput as error:
            return one_line(error.problem, _SHOWN)
        except MissingExtra:
            raise  # which the user has to install
        except UserError as error:  # of git
            return f"this cannot be answered: {one_line(error.problem, _SHOWN)}"

    def _comment(self, call: ReportComment) -> str:
        path = call.path.removeprefix("./")
        rows = self.code.lines(path, call.version)
        end = call.end_line or call.line
        if isinstance(rows, str):
            return f"not reported: {rows}"
        if not call.line <= end <= len(rows):
            return f"not reported: {path} has {len(rows)} lines, none of them {call.line} to {end}"
        if not call.text.strip():
            return "not reported: text is empty"
        side = Side.NEW if call.version == "new" else Side.OLD
        name = content_id(path, call.line, end, side, call.text)
        if any(name == known.id for known in self.comments):
            return "this was reported already"
        claimed = Location(path=path, start=call.line, end=end, side=side)
        comment = Comment(id=name, body=call.text, severity=Severity(call.severity), claimed=claimed)
        self.comments.append(anchor(comment, self.code.change, read=code_reader(self.code.change)))
        return "reported"

    def _finish(self, call: FinishReview) -> str:
        self.finished = True
        return "the review has ended"


def fitted(talk: Sequence[Message], window: int) -> list[Message]:
    """The conversation without the oldest answers of tools, where it has more than about `window` tokens.

    The answers to the last calls stay.
    """
    talk = list(talk)
    over = sum(map(_length, talk)) - window * _IN_A_TOKEN
    last = max((at for at, message in enumerate(talk) if message.role is Role.ASSISTANT), default=0)
    for at, message in enumerate(talk[:last]):
        if over <= 0:
            break
        if message.role is Role.TOOL and message.text != _LEFT_OUT:
            over -= len(message.text) - len(_LEFT_OUT)
            talk[at] = message.model_copy(update={"text": _LEFT_OUT})
    return talk


def _length(message: Message) -> int:
    return len(message.text) + sum(len(call.arguments) for call in message.tool_calls)


def _shown(text: str) -> str:
    text = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}\n({len(text) - _SHOWN:,} more characters)"
