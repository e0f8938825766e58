"""The parts that both protocols of the fake server share: requests, answers and errors before they take a shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reviewgauge.models.request.messages import Request, Tool, ToolCall

Stopped = Literal["end", "length", "tool", "refuse", "filter"]


class Malformed(ValueError):
    """A body that is not a valid request. `param` is the invalid part."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


@dataclass(frozen=True)
class Asked:
    """A request as read from a body.

    `sampling`: the sampling parameters that it sets; `form`: whether it asks for JSON; `old_limit`: whether OpenAI's
    older `max_tokens` limits the answer.
    """

    request: Request
    model: str
    max_tokens: int | None = None
    seed: int | None = None
    stream: bool = False
    sampling: tuple[str, ...] = ()
    form: bool = False
    old_limit: bool = False


@dataclass(frozen=True)
class FakeAnswer:
    """An answer before it takes a protocol's shape. `reasoning`: how many of its tokens are hidden."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    stop: Stopped = "end"
    tokens_in: int = 0
    tokens_out: int = 0
    reasoning: int = 0
    counted: bool = True


def text_of(content: Any) -> str:
    """The text of a message: a string, or the text parts of a list."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Malformed("Invalid type for 'content': expected a text or a list of parts.", "messages")
    return "\n".join(str(part["text"]) for part in content if isinstance(part, dict) and "text" in part)


def tools_of(tools: Sequence[Mapping[str, Any]], schema: str) -> tuple[Tool, ...]:
    """The tools of a body; `schema` is the protocol's name for the schema of their arguments."""
    for tool in tools:
        if not isinstance(tool.get("name"), str):
            raise Malformed("Missing required parameter: 'tools[0].name'.", "tools")
    return tuple(
        Tool(name=tool["name"], description=tool.get("description") or "", parameters=tool.get(schema) or {})
        for tool in tools
    )


def positive(value: Any, name: str | None) -> int:
    """The value, checked to be a whole number above 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise Malformed(f"Invalid '{name}': expected a whole number above 0.", name)
    return value
