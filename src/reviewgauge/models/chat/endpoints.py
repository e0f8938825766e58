"""Endpoints: one per model spec, each with the limits, retries and circuit breaker of its address."""

from __future__ import annotations

import time

from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models import fake
from reviewgauge.models.chat.remote_model import RemoteModel
from reviewgauge.models.http.address import Address, open_address
from reviewgauge.models.http.limits import EndpointLimiter
from reviewgauge.models.http.provider import Provider
from reviewgauge.models.request.budget import BudgetTracker
from reviewgauge.models.request.messages import Answer, Repeat, Request
from reviewgauge.models.request.model_spec import FAKE, ChatSettings, ModelSpec, address_of, load_provider


class InProcess:
    """The fake model. In a dry run it stands in for every model."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec

    async def answer(self, request: Request, *, repeat: Repeat, budget: BudgetTracker) -> Answer:
        """See `RemoteModel.answer`."""
        began = time.perf_counter()
        name = self._spec.model if self._spec.provider == FAKE else "example"
        found = fake.answer(request, name, repeat, self._spec.seed)
        reserved = await budget.reserve(self._spec, request)
        dollars = budget.settle(self._spec, reserved, found)
        spent = {"dollars": dollars, "seconds": round(time.perf_counter() - began, 6)}
        return found.model_copy(update={"usage": found.usage.model_copy(update=spent)})


def check_parameters(spec: ModelSpec) -> None:
    """Raise UserError for a parameter that the protocol does not have, before anything is asked.

    And for a fake model that there is not: a slip would be another model in the tables.
    """
    if spec.provider != FAKE:
        load_provider(spec.provider)(spec, official=not address_of(spec))
        return
    if spec.model not in fake.MODELS:
        raise UserError(f"no fake model is called {spec.model!r}", remedy="there are fake:example and fake:varied")


class Endpoints:
    """The endpoints of one client. Models at one address share its connections and its limits."""

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings
        self._endpoints: dict[tuple[ModelSpec, str], InProcess | RemoteModel] = {}
        self._addresses: dict[tuple[str, str], Address] = {}

    def of(self, spec: ModelSpec) -> InProcess | RemoteModel:
        """The endpoint that a spec names. Raises Failed where a key is missing."""
        address = address_of(spec)
        if (spec, address) not in self._endpoints:
            self._endpoints[spec, address] = self._open(spec, address)
        return self._endpoints[spec, address]

    def _open(self, spec: ModelSpec, address: str) -> InProcess | RemoteModel:
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
        per_minute = settings.requests_per_minute, settings.tokens_per_minute
        limiter = EndpointLimiter(address or provider.base_url, settings.in_flight, *per_minute, settings.patience)
        return open_address(type(provider), address, limiter)

    async def close(self) -> None:
        """Close all connections."""
        addresses, self._addresses = self._addresses, {}
        self._endpoints = {}
        for address in addresses.values():
            await address.client.close()
