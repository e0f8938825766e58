"""What goes through the door: the messages of a request, the answer, and the call that both make."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import Field, JsonValue

from reviewgauge.core.base import Record
from reviewgauge.core.records import Usage
from reviewgauge.core.results import Failure


class Role(StrEnum):
    """Who says a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Tool(Record):
    """A tool that the model may call. `parameters` is a JSON schema of an object."""

    name: str
    description: str = ""
    parameters: Mapping[str, JsonValue] = Field(default_factory=dict)


class ToolCall(Record):
    """A call of a tool as the model wrote it. `arguments` is its raw JSON text, not yet checked."""

    id: str
    name: str
    arguments: str = ""


class Message(Record):
    """One message. `tool_calls` stand in an assistant's; `answers` names the call that a tool's message answers."""

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    answers: str | None = None


class Request(Record):
    """What a model is asked. `answer_schema`: the JSON schema of the answer, sent where the endpoint knows schemas."""

    messages: tuple[Message, ...]
    answer_schema: Mapping[str, JsonValue] | None = None
    tools: tuple[Tool, ...] = ()


class Stop(StrEnum):
    """Why the model stopped."""

    END = "end"
    LENGTH = "length"  # the answer is cut off at max_tokens
    TOOL = "tool"


class Answer(Record):
    """What a model said. `model` is the name that the endpoint gives itself; `usage` is what the call cost when made.

    `counted` is False where the endpoint reported no tokens, and those in `usage` are an estimate.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    stop: Stop = Stop.END
    model: str = ""
    usage: Usage = Usage()
    counted: bool = True
    fake: bool = False


class Repeat(NamedTuple):
    """Which repeat of a request a call is: the attempt of the review, the trial of a vote, the ask of one answer."""

    attempt: int = 1
    trial: int = 1
    ask: int = 1


class Call(Record):
    """A request and its answer, as cached, recorded and replayed.

    `key` is the SHA-256 of everything that changes an answer: model, address, parameters, request, and which repeat it
    is: `attempt` of the review, `trial` of a vote, `ask` counts how often an unreadable answer was asked again.
    `paid` says whether this record is of the call itself, or of an answer that came from the cache. `failure`: the
    answer was paid for and is of no use (a refusal, cut off); such a call is recorded and replayed, and never cached.
    """

    key: str
    model: str
    attempt: Annotated[int, Field(ge=1)] = 1
    trial: Annotated[int, Field(ge=1)] = 1
    ask: Annotated[int, Field(ge=1)] = 1
    request: Request
    answer: Answer
    paid: bool = True
    failure: Failure | None = None


def system(text: str) -> Message:
    """A system message."""
    return Message(role=Role.SYSTEM, text=text)


def user(text: str) -> Message:
    """A user's message."""
    return Message(role=Role.USER, text=text)


def assistant(text: str) -> Message:
    """What the model said before."""
    return Message(role=Role.ASSISTANT, text=text)
