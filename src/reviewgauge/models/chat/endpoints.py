"""Endpoints: one per model spec, each with the limits, retries and circuit breaker of its address."""

from __future__ import annotations

import os
import time
import urllib.parse
from typing import TYPE_CHECKING, Protocol

from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models import fake
from reviewgauge.models.chat.retries import Address, RemoteModel
from reviewgauge.models.http.limits import EndpointLimiter
from reviewgauge.models.http.provider import Provider
from reviewgauge.models.request.budget import BudgetTracker
from reviewgauge.models.request.messages import Answer, Repeat, Request
from reviewgauge.models.request.model_spec import FAKE, ChatSettings, ModelSpec, address_of, load_provider

if TYPE_CHECKING:
    from reviewgauge.models.http.client import HttpClient

_LOCAL = ("localhost", "127.0.0.1", "::1")


class Endpoint(Protocol):
    """Answers requests of one model. Used on the background loop only."""

    async def answer(self, request: Request, *, repeat: Repeat, budget: BudgetTracker) -> Answer:
        """The answer, after as many tries as it takes. The repeat's attempt shifts a seed. Raises Failed."""


class InProcess:
    """The fake model. In a rehearsal it stands in for every model."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec

    async def answer(self, request: Request, *, repeat: Repeat, budget: BudgetTracker) -> Answer:
        """See `Endpoint.answer`."""
        began = time.perf_counter()
        name = self._spec.model if self._spec.provider == FAKE else "example"
        found = fake.answer(request, name, repeat, self._spec.seed)
        reserved = await budget.reserve(self._spec, request)
        dollars = budget.settle(self._spec, reserved, found)
        spent = {"dollars": dollars, "seconds": round(time.perf_counter() - began, 6)}
        return found.model_copy(update={"usage": found.usage.model_copy(update=spent)})


def check_parameters(spec: ModelSpec) -> None:
    """Raise UserError for a parameter that the model is known not to take, before anything is asked.

    And for a fake model that there is not: a slip would be another model in the tables.
    """
    if spec.provider != FAKE:
        load_provider(spec.provider).check(spec, official=not address_of(spec))
        return
    if spec.model not in fake.MODELS:
        raise UserError(f"no fake model is called {spec.model!r}", remedy="there are fake:example and fake:varied")


class Endpoints:
    """The endpoints of one client. Models at one address share its connections and its limits."""

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings
        self._endpoints: dict[tuple[ModelSpec, str], Endpoint] = {}
        self._addresses: dict[tuple[str, str], Address] = {}

    def of(self, spec: ModelSpec) -> Endpoint:
        """The endpoint that a spec names. Raises Failed where a key is missing."""
        address = address_of(spec)
        if (spec, address) not in self._endpoints:
            self._endpoints[spec, address] = self._open(spec, address)
        return self._endpoints[spec, address]

    def _open(self, spec: ModelSpec, address: str) -> Endpoint:
        if spec.provider == FAKE or self._settings.dry_run:
            return InProcess(spec)
        if self._settings.offline:
            raise Failed(
                FailureKind.REQUEST,
                f"{spec} is not asked: only recorded answers are used here",
                remedy="score the run yourself to ask it",
            )
        provider = load_provider(spec.provider)(spec, official=not address)
        if (spec.provider, address) not in self._addresses:
            self._addresses[spec.provider, address] = self._connect(provider, address)
        return RemoteModel(provider, self._addresses[spec.provider, address])

    def _connect(self, provider: Provider, address: str) -> Address:
        settings = self._settings
        key, sends_key = key_for(address, provider.key_variable, provider.base_url)
        url = address or provider.base_url
        limiter = EndpointLimiter(
            url, settings.in_flight, settings.requests_per_minute, settings.tokens_per_minute, settings.patience
        )
        client = open_client(url.removesuffix(provider.implied), provider.headers(key))
        return Address(limiter, client, provider.key_variable, key, sends_key)

    async def close(self) -> None:
        """Close all connections."""
        addresses, self._addresses = self._addresses, {}
        self._endpoints = {}
        for address in addresses.values():
            await address.client.close()


def open_client(url: str, headers: dict[str, str], **options: int) -> HttpClient:
    """Connections to an address; aiohttp is imported here. Raises MissingExtra."""
    try:
        from reviewgauge.models.http.client import HttpClient
    except ImportError:
        raise MissingExtra("aiohttp", "models") from None
    return HttpClient(url, headers, **options)


def key_for(address: str, variable: str, official: str) -> tuple[str | None, bool]:
    """(the key to send, if there is one; whether the address may see one). `address` is "" for the official one.

    Raises Failed for a key that is missing, or that cannot be sent.
    """
    key = os.environ.get(variable, "").strip()
    if not address and not key:
        raise Failed(
            FailureKind.REQUEST,
            f"{official} needs a key, and {variable} is not set",
            remedy=f"export {variable}=..., or name another endpoint: openai:MODEL@http://HOST/v1",
            stops=True,
        )
    parts = urllib.parse.urlsplit(address or official)
    sends_key = parts.scheme == "https" or parts.hostname in _LOCAL
    return (_checked(variable, key) or None) if sends_key else None, sends_key


def _checked(variable: str, key: str) -> str:
    """A key. Raises Failed for one that no header can hold; the message shows nothing of the rest of it."""
    bad = next((at for at, letter in enumerate(key, start=1) if not "!" <= letter <= "~"), None)
    if bad is not None:
        what = (
            "a line break" if key[bad - 1] in "\r\n" else "a space" if key[bad - 1].isspace() else "not printable ASCII"
        )
        raise Failed(
            FailureKind.REQUEST,
            f"{variable} is not a valid API key: character {bad} is {what}",
            remedy=f"export {variable}=... again, the key alone",
            stops=True,
        )
    return key
