"""Endpoints: one per model spec, each with the limits, retries and circuit breaker of its address."""

from __future__ import annotations

import os
import time
import urllib.parse
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from reviewgauge.core.errors import MissingExtra
from reviewgauge.core.records import Usage
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.providers import anthropic, openai
from reviewgauge.models.providers.rate_limits import EndpointLimiter
from reviewgauge.models.providers.retries import Address, Remote
from reviewgauge.models.request.budget import BudgetTracker
from reviewgauge.models.request.messages import Answer, Repeat, Request
from reviewgauge.models.request.model_spec import ModelSpec

if TYPE_CHECKING:
    from reviewgauge.models.request.settings import ChatSettings
from reviewgauge.models.request.addresses import ANTHROPIC, OPENAI, address_of

RULES = "rules"  # the fake model in its default manner
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Endpoint(Protocol):
    """Answers requests of one model. Used on the background loop only."""

    async def answer(self, request: Request, *, repeat: Repeat, budget: BudgetTracker) -> Answer:
        """The answer, after as many tries as it takes. The repeat's attempt shifts a seed. Raises Failed."""


class InProcess:
    """The rule-based model, without a server."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec

    async def answer(self, request: Request, *, repeat: Repeat, budget: BudgetTracker) -> Answer:
        """See `Endpoint.answer`. In place of another model, as in a rehearsal, the fake one keeps to its rules."""
        from reviewgauge.models.fake.model import answer

        began = time.perf_counter()
        manner = self._spec.model if self._spec.provider == "fake" else RULES
        made = answer(request, manner, repeat, self._spec.seed)
        reserved = await budget.reserve(self._spec, request)
        dollars = budget.settle(self._spec, reserved, made)
        usage = Usage(
            calls=1,
            tokens_in=made.usage.tokens_in,
            tokens_out=made.usage.tokens_out,
            dollars=dollars,
            seconds=round(time.perf_counter() - began, 6),
        )
        return made.model_copy(update={"usage": usage})


def _dialect(provider: str) -> ModuleType:
    return anthropic if provider == "anthropic" else openai


def _official(provider: str) -> str:
    return (ANTHROPIC if provider == "anthropic" else OPENAI).official


def check_parameters(spec: ModelSpec) -> None:
    """Raise UserError for a parameter that the model is known not to take, before anything is asked."""
    if spec.provider != "fake":
        _dialect(spec.provider).check(spec, official=not address_of(spec))


class Endpoints:
    """The endpoints behind one door. Models at one address share its connections and its limits."""

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings
        self._endpoints: dict[tuple[ModelSpec, str], Endpoint] = {}
        self._addresses: dict[tuple[str, str], Address] = {}

    def of(self, spec: ModelSpec) -> Endpoint:
        """The endpoint that a spec names. Raises Failed where a key is missing."""
        name = (spec, address_of(spec))
        if name not in self._endpoints:
            self._endpoints[name] = self._open(spec, name[1])
        return self._endpoints[name]

    def _open(self, spec: ModelSpec, where: str) -> Endpoint:
        if spec.provider == "fake" or self._settings.rehearsal:
            return InProcess(spec)
        if self._settings.offline:
            raise Failed(
                FailureKind.REQUEST,
                f"{spec} is not asked: this is done offline, from what was recorded",
                remedy="score the run yourself to ask it",
            )
        protocol = _dialect(spec.provider)
        cls = anthropic.AnthropicChat if spec.provider == "anthropic" else openai.OpenAIChat
        dialect = cls(spec, official=not where)
        name = (spec.provider, where)
        if name not in self._addresses:
            key, sends_key = _key(protocol, where, _official(spec.provider))
            self._addresses[name] = self._connect(protocol, where or _official(spec.provider), key, sends_key)
        return Remote(spec, dialect, self._addresses[name])

    def _connect(self, protocol: ModuleType, url: str, key: str | None, sends_key: bool) -> Address:
        settings = self._settings
        lane = EndpointLimiter(
            url,
            settings.in_flight,
            settings.requests_per_minute,
            settings.tokens_per_minute,
            settings.patience,
        )
        try:
            from reviewgauge.models.providers import http_pool
        except ImportError:
            raise MissingExtra("openai", "models") from None
        client, errors, unsent = protocol.connect(url, key, http_pool.open_connections(url, settings.in_flight))
        return Address(lane, client, errors, http_pool.Answer, key, sends_key, {"headers": unsent} if unsent else {})

    async def close(self) -> None:
        """Close all connections."""
        addresses, self._addresses = self._addresses, {}
        self._endpoints = {}
        for address in addresses.values():
            await address.client.close()


def _key(protocol: ModuleType, where: str, official: str) -> tuple[str | None, bool]:
    """(the key, if there is one to send; whether the address may see one).

    Raises Failed where one is missing, or cannot be sent.
    """
    key = os.environ.get(protocol.VARIABLE, "").strip()
    if not where:
        if not key:
            raise Failed(
                FailureKind.REQUEST,
                f"{official} needs a key, and {protocol.VARIABLE} is not set",
                remedy=f"export {protocol.VARIABLE}=..., or name another endpoint: openai:MODEL@http://HOST/v1",
                stops=True,
            )
        return sendable(protocol.VARIABLE, key), True
    parts = urllib.parse.urlsplit(where)
    sends_key = parts.scheme == "https" or parts.hostname in _LOCAL
    return (sendable(protocol.VARIABLE, key) or None) if sends_key else None, sends_key


def sendable(variable: str, key: str) -> str:
    """A key. Raises Failed where it holds what no header can; the words say nothing of the rest of it."""
    bad = next((at for at, letter in enumerate(key, start=1) if not "!" <= letter <= "~"), None)
    if bad is not None:
        what = "a line break" if key[bad - 1] in "\r\n" else "a blank" if key[bad - 1].isspace() else "a letter"
        raise Failed(
            FailureKind.REQUEST,
            f"{variable} is not a key: at place {bad} stands {what} that no key holds",
            remedy=f"export {variable}=... again, the key alone",
            stops=True,
        )
    return key
