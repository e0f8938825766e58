"""A chat model that looks around in the code with tools before it comments: lists, reads, searches, follows names.

Source: SWR-Bench (arXiv:2509.01494), section IV-B, SWR-Agent: it receives the pull request and explores the codebase
with tools. Its prompt and tools are not printed; these are our own, and only read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, Review
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.core.trust import ModelName, PluginSpec
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import Message, Prompt, fence, load_prompt
from reviewgauge.reviewers.agents.code import ReviewedCode
from reviewgauge.reviewers.agents.conversation import Conversation, Limits, tools_digest
from reviewgauge.reviewers.reading.change_text import Pieces, pieces_of, with_patches
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
        limits = Limits(self.steps, self.tokens, self.cost, self.window)
        conversation = Conversation(chat_model(self.model), code, limits)
        conversation.run(self._messages(change, shown, given.text))
        return Review(
            case=change.id or change.repo,
            system=self.system,
            comments=unique(conversation.comments),
            trace="\n".join([*remarks, *given.remarks, *conversation.trace]),
        )

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
