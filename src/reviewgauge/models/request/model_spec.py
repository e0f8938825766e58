"""The name of a chat model: provider, model, address and sampling parameters in one text.

openai:gpt-5                                      the provider's own endpoint
openai:qwen3@http://localhost:8000/v1             any endpoint that speaks its protocol
anthropic:claude-sonnet-4-5?temperature=0.2       parameters after a question mark
openai:qwen3@http://localhost:8000/v1?temperature=0.7&top_p=0.95&top_k=20
fake:example                                      the fake model, in this process

`ChatSettings` say how a verb wants its calls made.
"""

from __future__ import annotations

import importlib
import os
import re
import urllib.parse
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from reviewgauge.core.errors import UserError
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.secrets import secret_in
from reviewgauge.core.specs import names

if TYPE_CHECKING:
    from reviewgauge.models.http.provider import Provider

FAKE = "fake"  # the fake model, which answers in this process
PROVIDERS = (*names("models.providers"), FAKE)
REMEDY = f"write {', '.join(f'{name}:MODEL' for name in names('models.providers'))} or openai:MODEL@http://HOST/v1"
MAX_TOKENS = 8192  # of one answer, reasoning included, unless the spec says otherwise


@dataclass(frozen=True)
class ModelSpec:
    """A model as named. None means that a parameter is not sent. `timeout` in seconds, for one try of one call.

    `json="off"` never sends an answer schema.
    """

    provider: str
    model: str
    address: str = ""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=1, le=100_000)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**53)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=10_000_000)] = MAX_TOKENS
    timeout: Annotated[int, Field(ge=1, le=86_400)] = 600
    reasoning: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    json: Literal["auto", "off"] = "auto"

    def __str__(self) -> str:
        """The spec again; `parse_model(str(spec)) == spec`."""
        default = type(self)(self.provider, self.model)
        given = {name: value for name in _PARAMETERS if (value := getattr(self, name)) != getattr(default, name)}
        where = f"@{self.address}" if self.address else ""
        return f"{self.provider}:{self.model}{where}" + (f"?{urllib.parse.urlencode(given)}" if given else "")


_PARAMETERS = tuple(one.name for one in fields(ModelSpec))[3:]
_CHECKED = TypeAdapter(ModelSpec)


@cache
def load_provider(name: str) -> type[Provider]:
    """The class in the file `models/providers/<name>.py`."""
    module = importlib.import_module(f"reviewgauge.models.providers.{name}")
    found: type[Provider] = next(
        value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__
    )
    return found


def address_of(spec: ModelSpec) -> str:
    """The spec's address, else the one in the environment; "" for the provider's own. Raises Failed for a bad one."""
    if spec.address or spec.provider == FAKE:
        return spec.address
    provider = load_provider(spec.provider)
    variable, official = provider.base_url_variable, provider.base_url
    given = os.environ.get(variable, "").strip().rstrip("/")
    if given in ("", official):
        return ""
    if not is_address(given) or has_credentials(given) or "?" in given:
        raise Failed(
            FailureKind.REQUEST,
            f"{variable} is not an http or https address of host and path: {given}",
            remedy=f"export {variable}=https://HOST/v1, or unset it",
            stops=True,
        )
    return given


def is_model(word: str) -> bool:
    """Whether a word names a chat model rather than a plug-in."""
    return word.partition(":")[0] in PROVIDERS and ":" in word


def parse_model(text: str) -> ModelSpec:
    """The model that `text` names. Raises UserError that says what is wrong with it."""
    if variable := secret_in(text):
        raise UserError(
            f"the value of {variable} is in the model's name, which is written into manifests and reports",
            remedy=f"leave it out: {variable} is read where it is needed",
        )
    head, _, query = text.strip().partition("?")
    provider, colon, rest = head.partition(":")
    if not colon or provider not in PROVIDERS:
        raise UserError(f"{text!r} is not a model: the provider {provider!r} is unknown", remedy=REMEDY)
    name, address = _split_address(rest)
    if not name or re.search(r"\s", name):
        raise UserError(f"{text!r} is not a model", remedy=REMEDY)
    if address is not None:
        address = _checked(text, address)
    elif (host := name[1:].partition("@")[2]) and (host == "localhost" or re.search(r"[.:/]", host)):
        # As part of the model's name, it would send the code under review to the provider.
        raise UserError(f"{text!r}: {host} is not an http or https address", remedy=REMEDY)
    return _with_parameters(text, query, provider=provider, model=name, address=address or "")


def _split_address(rest: str) -> tuple[str, str | None]:
    """A model's name may hold '@' itself (a dated version), so only an address with its scheme counts."""
    name, *address = re.split(r"@(?=[a-zA-Z][a-zA-Z0-9+.-]*://)", rest, maxsplit=1)
    return name, address[0] if address else None


def _checked(text: str, address: str) -> str:
    if not is_address(address):
        raise UserError(f"{text!r}: {address} is not an http or https address", remedy=REMEDY)
    if has_credentials(address):
        raise UserError(
            "the address of an endpoint is written into manifests and reports: it may hold no more than host and path",
            remedy="put the key into the environment",
        )
    return address.rstrip("/")


def is_address(text: str) -> bool:
    """Whether it is an http or https address with a host."""
    try:
        parts = urllib.parse.urlsplit(text)
        parts.port  # noqa: B018  (raises for an invalid port)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and text.isprintable() and " " not in text


def has_credentials(address: str) -> bool:
    """Whether an address has a user, a password or a fragment, which may be secrets."""
    parts = urllib.parse.urlsplit(address)
    return bool(parts.username or parts.password or parts.fragment)


def _with_parameters(text: str, query: str, **named: str) -> ModelSpec:
    found: dict[str, str] = {}
    for name, value in urllib.parse.parse_qsl(query, keep_blank_values=True):
        if name in found:
            raise UserError(f"{text!r} gives {name} twice")
        if name not in _PARAMETERS:
            known = ", ".join(_PARAMETERS)
            raise UserError(f"{text!r}: there is no parameter {name!r}", remedy=f"known parameters: {known}")
        found[name] = value
    try:
        return _CHECKED.validate_python({**found, **named})
    except ValidationError as error:
        name, problem = first_problem(error)
        raise UserError(f"{text!r}: {name} {problem}") from None


_FAMILIES = (
    "gpt", "claude", "gemini", "qwen", "deepseek", "llama", "mistral", "glm", "kimi", "grok", "gemma", "phi", "command",
)  # fmt: skip


def family(model: str) -> str:
    """The family of a model by its name ("gpt-5-mini" and "o3" are "gpt"); up to its first digit where unknown.

    Two models of one family share training data and habits, so one judging the other is judging itself.
    """
    name = _split_address(model.partition("?")[0].partition(":")[2])[0] if is_model(model) else model
    name = name.lower().rpartition("/")[2]
    if re.match(r"o\d", name) or name.startswith(("chatgpt", "codex")):
        return "gpt"
    if name.startswith(("mixtral", "codestral", "magistral", "devstral")):
        return "mistral"
    if name.startswith(("qwq", "qvq")):
        return "qwen"
    for known in _FAMILIES:
        if known in name:
            return known
    return re.split(r"[\d:@-]", name, maxsplit=1)[0] or name


@dataclass(frozen=True)
class ChatSettings:
    """The settings of calls. None of them changes an answer, so none is part of a call's key.

    `budget` is in dollars, of which `spent` are gone. `in_flight`, `requests_per_minute` and
    `tokens_per_minute` hold per endpoint. `prices` is a file that overrides the shipped prices. `replay` is a file or
    run folder of recorded calls: then nothing else answers. `dry_run`: the fake model answers in this process, so
    that calls can be counted before they are made (`--dry-run`); nothing is cached or recorded. `patience`: seconds
    of the first wait after a failed try; it doubles. `offline`: no endpoint is called, also by a client that is opened
    within this one; for files from others, which may name any address.
    """

    cache: bool = True
    in_flight: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    budget: float | None = None
    spent: float = 0.0
    prices: Path | None = None
    replay: Path | None = None
    dry_run: bool = False
    patience: float = 1.0
    offline: bool = False
