"""A provider of models: how its requests look on the wire, and how its answers are read."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from reviewgauge.models.request.messages import Request, ToolCall
from reviewgauge.models.request.model_spec import ModelSpec

FAKE = "reviewgauge-fake"  # how the fake model's name and fingerprint begin
_SURROGATE = re.compile("[\ud800-\udfff]")  # lone surrogates, which no encoding can store
_MOST = 2**53  # tokens


class ProviderReply(NamedTuple):
    """An answer as read. `tokens_in` and `tokens_out` are None where the endpoint does not count them.

    `refusal` and `cut` say why the answer is not whole; `reasoning_tokens` is the part of `tokens_out` that went into
    reasoning.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    reasoning_tokens: int = 0
    refusal: str = ""
    cut: str = ""
    fake: bool = False


class Provider(ABC):
    """A protocol of models, and one model that is asked in it.

    Each file of `models/providers` holds one subclass, named by the file. `base_url` is the provider's own address,
    which `base_url_variable` overrides; `implied` is the end of an address that `path` begins with. A parameter that
    the protocol has no name for is a UserError.
    """

    key_variable: ClassVar[str]
    base_url: ClassVar[str]
    base_url_variable: ClassVar[str]
    path: ClassVar[str]
    implied: ClassVar[str] = ""

    def __init__(self, spec: ModelSpec, official: bool) -> None:
        self.spec, self.official = spec, official

    @classmethod
    @abstractmethod
    def headers(cls, key: str | None) -> dict[str, str]:
        """The headers of every call. Without a key nothing of the environment is sent."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, str]:
        """The spec's name of each parameter that is sent, by its name in the protocol."""

    @abstractmethod
    def body(self, request: Request, attempt: int, schema: bool) -> dict[str, Any]:
        """The body of a request; with `schema` it asks for the request's answer schema."""

    @abstractmethod
    def read(self, payload: Mapping[str, Any]) -> ProviderReply:
        """The parts of an answer. Raises InvalidResponse for one that is not in the protocol."""

    def rename_limit(self) -> None:  # noqa: B027  (few protocols have two names)
        """Send max_tokens under its other name from now on, where the protocol has one."""


def text_of(value: object) -> str:
    """A string of an answer with lone surrogates replaced; "" for anything else."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)


def count(value: object, *path: str) -> int | None:
    """The number at `path`; None where there is none, or an impossible one."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST:
        return None
    return int(value)


def custom_headers(variable: str) -> dict[str, str]:
    """The headers that an environment variable holds, one `Name: value` a line."""
    lines = (line.partition(":") for line in os.environ.get(variable, "").splitlines())
    return {name.strip(): value.strip() for name, colon, value in lines if colon}


def is_fake(*names: object) -> bool:
    """Whether one of the names that an endpoint gives is the fake model's."""
    return any(isinstance(name, str) and name.startswith(FAKE) for name in names)
