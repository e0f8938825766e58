"""How a verb asks chat models: the client that it opens, which records what a run paid for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Protocol

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.stored import Unstorable
from reviewgauge.models.cache.call_cache import cache_file, usual_answers
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.budget import money
from reviewgauge.models.request.messages import Call
from reviewgauge.models.request.model_spec import FAKE, ChatSettings, ModelSpec
from reviewgauge.models.request.prices import dollars, open_prices

_ENOUGH = 5  # answers in the cache to one kind of question that say how long its answers are


class Spending(Record):
    """What the models of one verb cost. Dollars are None where a price is not known: `unpriced` names those models.

    `calls` were answered and paid for now, `unanswered` tries were not. `reused` answers were there already, in the
    cache or in the record that is replayed, and were worth `worth` dollars when they were made. `known` is the part of
    `dollars` that has a price, `worst` what the same calls could have cost, `prices_of` the day of the oldest price.
    `invented`: a fake model was among those paid, whose price is made up.
    `estimated`: a dry run, in which the fake model answered. `seen` counts the answers in the cache to such questions,
    whose lengths the estimate uses.
    """

    calls: int = 0
    unanswered: int = 0
    reused: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float | None = None
    known: float = 0.0
    worth: float | None = None
    worst: float | None = None
    unpriced: tuple[str, ...] = ()
    prices_of: date | None = None
    invented: bool = False
    estimated: bool = False
    seen: int = 0
    replayed: bool = False

    @property
    def sentence(self) -> str:
        """The closing line of a verb, or the paragraph of an estimate; empty where no model was asked."""
        if not self.calls and not self.reused and not self.unanswered:
            return ""
        return self._estimate() if self.estimated else self._bill()

    def _bill(self) -> str:
        if self.replayed:
            return f"{_calls(self.reused)} replayed{self._worth()}: no model was asked"
        parts = [f"{_calls(self.calls)} paid"]
        parts += [f"{self.unanswered} tries unanswered"] if self.unanswered else []
        parts += [f"{self.reused:,} from the cache{self._worth()}"] if self.reused else []
        parts += [f"{self.tokens_in:,} tokens in, {self.tokens_out:,} out"] if self.calls else []
        fake = " (the fake model's price is invented)" if self.invented else ""
        parts += [self._dollars() + fake] if self.calls else []
        return "; ".join(parts)

    def _worth(self) -> str:
        return "" if self.worth is None else f" (worth {money(self.worth)})"

    def _dollars(self) -> str:
        if not self.unpriced:
            return money(self.known)
        names = ", ".join(self.unpriced)
        lead = f"{money(self.known)} and " if self.known else ""
        return f"{lead}an unknown sum: no price is known for {names} (--prices FILE gives one)"

    def _estimate(self) -> str:
        free = f" {self.reused:,} more are in the cache, or repeat another, and are free." if self.reused else ""
        if not self.calls:
            return f"Dry run: no model was asked. There is no call to pay for.{free}"
        parts = f"Dry run: no model was asked. {_calls(self.calls)} to pay for.{free}"
        length = "as short as the fake model's answers are"
        length = f"going by {self.seen:,} such answers in the cache" if self.seen else length
        parts += f" About {self.tokens_in:,} tokens in and {self.tokens_out:,} out, {length}: {self._dollars()}"
        if self.worst is not None and self.known:
            parts += f", at most {money(self.worst)} if each answer runs to its max_tokens"
        parts += f". Prices of {self.prices_of}." if self.prices_of is not None else "."
        return parts + " A model that answers otherwise may be asked more often, or less."


def _calls(number: int) -> str:
    return "1 call" if number == 1 else f"{number:,} calls"


def spending(client: ChatClient) -> Spending:
    """What went through a client so far, for a verb's result and its closing line."""
    totals, reused = client.budget.totals, client.reused
    found = Spending(
        calls=totals.calls,
        unanswered=totals.unanswered,
        reused=reused.added,
        tokens_in=totals.tokens_in,
        tokens_out=totals.tokens_out,
        dollars=None if totals.unpriced else totals.dollars,
        known=totals.dollars,
        worth=None if reused.unpriced else round(reused.dollars, 12),
        worst=None if totals.unpriced else totals.worst,
        unpriced=totals.unpriced,
        prices_of=totals.prices_of,
        invented=any(FAKE in (spec.provider, spec.model) for spec in client.budget.by_model),
        estimated=client.settings.dry_run,
        replayed=client.settings.replay is not None,
    )
    return _with_usual_lengths(found, client) if found.estimated and client.settings.cache else found


def _with_usual_lengths(found: Spending, client: ChatClient) -> Spending:
    """`found` with answers as long as those in the cache to the same kinds of questions, if it holds some of each."""
    file = cache_file()
    budget = client.budget
    if file is None or not file.exists() or not budget.asked:
        return found
    usual = {spec: usual_answers(file, str(spec)) for spec in budget.by_model}
    seen = {(spec, kind): usual.get(spec, {}).get(kind, (0, 0.0)) for spec, kind in budget.asked}
    if min(count for count, _ in seen.values()) < _ENOUGH:
        return found
    tokens: Counter[ModelSpec] = Counter()
    for (spec, kind), calls in budget.asked.items():
        tokens[spec] += round(calls * seen[spec, kind][1])
    prices = {spec: budget.prices.facts(spec).price for spec in budget.by_model}
    known = sum(
        price.cost(budget.by_model[spec].tokens_in, tokens[spec]) for spec, price in prices.items() if price is not None
    )
    return found.model_copy(
        update={
            "tokens_out": tokens.total(),
            "known": dollars(known),
            "dollars": None if found.unpriced else dollars(known),
            "seen": sum(count for count, _ in seen.values()),
        }
    )


class CallRecorder(Protocol):
    """A folder that keeps the calls it paid for: a run, or a build."""

    @property
    def payer(self) -> str:
        """The name under which it pays."""

    def append_call(self, call: Call, *, ours: bool = False) -> None:
        """Record one call."""

    def unkept_calls(self) -> Iterator[Call]:
        """The calls that the cache could not take."""

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
        """A client with these settings, open while the verb asks; records its calls in `run`, but not in a dry run.

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
            dry_run=self.dry_run,
        )
        with ChatClient(settings) as client:
            if run is not None and not self.dry_run:
                client.calls.payer = run.payer
                client.record = partial(_record, run, client)
                if self.replay is None:
                    client.answer_from(run.unkept_calls())
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
