"""Endpoints: one per model spec, each with the limits, retries and circuit breaker of its address."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from reviewbench.core.errors import UserError
from reviewbench.core.records import Usage
from reviewbench.models._ledger import Ledger
from reviewbench.models.messages import Answer, Request
from reviewbench.models.model_spec import ModelSpec

if TYPE_CHECKING:
    from reviewbench.models.chat import Settings


class Endpoint(Protocol):
    """Answers requests of one model. Used on the background loop only."""

    async def answer(self, request: Request, *, attempt: int, ledger: Ledger) -> Answer:
        """The answer, after as many tries as it takes. `attempt` shifts a seed: repeats differ. Raises Failed."""

    async def close(self) -> None:
        """Close its connections."""


class InProcess:
    """The rule-based model, without a server."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec

    async def answer(self, request: Request, *, attempt: int, ledger: Ledger) -> Answer:
        """See `Endpoint.answer`."""
        from reviewbench.models.fake import answer

        began = time.perf_counter()
        made = answer(request)
        reserved = await ledger.reserve(self._spec, request)
        dollars = ledger.settle(self._spec, reserved, made)
        usage = Usage(
            calls=1,
            tokens_in=made.usage.tokens_in,
            tokens_out=made.usage.tokens_out,
            dollars=dollars,
            seconds=round(time.perf_counter() - began, 6),
        )
        return made.model_copy(update={"usage": usage})

    async def close(self) -> None:
        """See `Endpoint.close`."""


def endpoint_for(spec: ModelSpec, settings: Settings) -> Endpoint:
    """The endpoint that a spec names."""
    if spec.provider == "fake" or settings.rehearsal:
        return InProcess(spec)
    raise UserError(f"{spec.provider} is not built yet")
