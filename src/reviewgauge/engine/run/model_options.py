"""How a verb asks chat models: the client that it opens, which records what a run paid for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.engine.run.journal import Unstorable
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.messages import Call
from reviewgauge.models.request.prices import open_prices
from reviewgauge.models.request.settings import ChatSettings


class CallRecorder(Protocol):
    """A folder that keeps the calls it paid for: a run, or a build."""

    @property
    def payer(self) -> str:
        """The name under which it pays."""

    def append_call(self, call: Call, *, ours: bool = False) -> None:
        """Record one call."""

    def spent(self) -> float:
        """Dollars paid so far."""


@dataclass(frozen=True)
class ModelOptions:
    """How a verb asks models; see `ChatSettings`. `budget` is in dollars, for the whole run folder.

    `dry_run`: the fake model stands in for every model, and calls are counted before they are paid for.
    """

    budget: float | None = None
    dry_run: bool = False
    cache: bool = True
    in_flight: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    prices: str | Path | None = None
    replay: str | Path | None = None

    def __post_init__(self) -> None:
        """Raise UserError for a number that is not positive."""
        for name in ("budget", "in_flight", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise UserError(f"{name} must be a positive number, got {value}")

    @contextmanager
    def client(self, run: CallRecorder | None = None) -> Iterator[ChatClient]:
        """A client with these settings, open while the verb asks; its calls are recorded in `run`, unless it rehearses.

        What `run` cost before counts against the budget.
        """
        if self.dry_run and self.replay is not None:
            raise UserError("--dry-run and --replay cannot be combined: both ask no model", remedy="choose one")
        open_prices(None if self.prices is None else Path(self.prices))  # reports a bad file now
        counts = self.budget is not None and run is not None and not self.dry_run
        settings = ChatSettings(
            cache=self.cache,
            in_flight=self.in_flight,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            budget=None if self.dry_run else self.budget,
            spent=run.spent() if counts and run is not None else 0.0,
            prices=None if self.prices is None else Path(self.prices),
            replay=None if self.replay is None else Path(self.replay),
            rehearsal=self.dry_run,
        )
        with ChatClient(settings) as client:
            if run is not None and not self.dry_run:
                client.calls.payer = run.payer
                client.record = partial(_record, run, client)
            yield client


def _record(run: CallRecorder, client: ChatClient, call: Call) -> None:
    """Record a call; one that this run paid for before it was killed counts as paid, though the cache answers now.

    Raises Failed, which stops the run, where a call cannot be written: the next one could not be either.
    """
    try:
        run.append_call(call, ours=client.calls.ours(call.key))
    except Unstorable:
        raise
    except UserError as error:
        raise Failed(FailureKind.CRASH, error.problem, remedy=error.remedy, stops=True) from None
