"""Ask until the answer can be read: up to three times, with the reason why the last could not, then a Failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from pydantic import JsonValue

from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.stored import Lazy
from reviewgauge.models.answers.readers import Unreadable, options_of
from reviewgauge.models.chat.client import ChatModel, UsageTracker, call_key, together
from reviewgauge.models.request.messages import Answer, Message, Repeat, Request, assistant, user

T = TypeVar("T")
ASKS = 3
_TURNS = 4  # conversations that are begun for one call in flight: the others wait unwritten


class Reading(NamedTuple, Generic[T]):
    """A value, and the answers that led to it; it was read from the last."""

    value: T
    answers: tuple[Answer, ...]

    @property
    def raw(self) -> str:
        """The text that the value was read from."""
        return self.answers[-1].text


def ask_for(
    model: ChatModel,
    messages: Sequence[Message],
    read: Callable[[str], T],
    *,
    trial: int = 1,
    schema: Mapping[str, JsonValue] | None = None,
    asks: int = ASKS,
    remind: bool = True,
) -> Reading[T]:
    """Ask until `read` can parse the answer. `remind`: a further ask shows the last answer and what was wrong.

    Raises Failed: that of the call, or UNREADABLE with the last raw answer after `asks` of them.
    """
    found = ask_for_each(model, [messages], read, trials=[trial], schema=schema, asks=asks, remind=remind)[0]
    if isinstance(found, Failed):
        raise found
    return found


def ask_for_each(
    model: ChatModel,
    conversations: Sequence[Sequence[Message]],
    read: Callable[[str], T],
    *,
    trials: Sequence[int] | None = None,
    schema: Mapping[str, JsonValue] | None = None,
    asks: int = ASKS,
    remind: bool = True,
) -> list[Reading[T] | Failed]:
    """As `ask_for` for several conversations at the same time, in order; one that failed does not hold up the others.

    The same conversation several times needs different `trials` (default: all 1). A sequence that makes its
    conversations when they are asked for holds few of them at a time.
    """
    numbers = trials if trials is not None else [1] * len(conversations)
    if len(numbers) != len(conversations):
        raise ValueError(f"{len(numbers)} trials for {len(conversations)} conversations")
    conversation = _Conversation(model, read, schema, asks, remind)
    work = Lazy(len(numbers), lambda at: partial(conversation.until_readable, tuple(conversations[at]), numbers[at]))
    return together(work, most=_TURNS * model.client.settings.in_flight)


@dataclass(frozen=True)
class _Conversation(Generic[T]):
    """The settings of `ask_for`."""

    model: ChatModel
    read: Callable[[str], T]
    schema: Mapping[str, JsonValue] | None
    asks: int
    remind: bool

    @property
    def form(self) -> str:
        """The asked-for form in words, for endpoints that take no schema: one of a few words, or nothing to add."""
        options = options_of(self.schema)
        return f" Answer with one of {', '.join(options)}, and nothing else." if options else ""

    async def until_readable(
        self, messages: tuple[Message, ...], trial: int, tracker: UsageTracker | None
    ) -> Reading[T]:
        """Ask, read, and ask again. Runs on the background loop."""
        answers: list[Answer] = []
        keys: list[str] = []
        asked, reason = messages, ""
        for ask in range(1, self.asks + 1):
            request = Request(messages=asked, answer_schema=self.schema)
            keys.append(call_key(self.model.of, request, Repeat(tracker.attempt if tracker else 1, trial, ask)))
            answer = await self.model.answer(request, tracker, trial=trial, ask=ask)
            answers.append(answer)
            try:
                return Reading(self.read(answer.text), tuple(answers))
            except Unreadable as error:
                reason = str(error)
            if self.remind:
                asked = (*messages, assistant(answer.text), user(f"That answer cannot be used: {reason}.{self.form}"))
        self.model.client.forget(keys)
        raise Failed(
            FailureKind.UNREADABLE,
            f"{self.model.of.model}: no readable answer in {self.asks} asks: {reason}",
            remedy="the raw answer is kept with the failure",
            raw=answers[-1].text,
        )
