"""The cost of calls: at worst, in fact, and the budget that they must stay within."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, deque
from collections.abc import Iterable
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.request.messages import FENCE_NOTE, Answer, Request, UsageSum
from reviewgauge.models.request.model_spec import ModelSpec
from reviewgauge.models.request.prices import VARIABLE, Facts, Prices, dollars, open_prices, trillionths

_OF_A_MESSAGE = 16  # tokens that a protocol puts around a message, at most
_OPENING = 60  # characters that tell the prompts apart
_OF_TOOLS = 1024  # tokens that a protocol puts around tools and schemas, at most


class Totals(NamedTuple):
    """The calls of a budget. `dollars` is the cost of those with a price; `unpriced` names the other models.

    `calls` were answered and paid for, `unanswered` were not. `worst` is what all of them could have cost,
    `prices_of` the day of the oldest price used.
    """

    calls: int = 0
    unanswered: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0.0
    worst: float = 0.0
    unpriced: tuple[str, ...] = ()
    prices_of: date | None = None


class _Waiting(NamedTuple):
    worst: int
    model: str
    granted: asyncio.Future[None]


class BudgetTracker:
    """Adds up dollars. Used on the background loop only.

    What is spent and what is reserved never exceed the budget together. A call that does not fit waits in order for
    those in flight, which cost less than was reserved for them.
    """

    def __init__(self, budget: float | None = None, spent: float = 0.0, prices: Path | None = None) -> None:
        self.limit, self.before = budget, spent
        self._prices_in = prices
        self._most = None if budget is None else trillionths(budget)
        self._spent = trillionths(spent)
        self._reserved = self._in_flight = self._worst = 0
        self._unanswered = 0
        self._unpriced: dict[str, None] = {}
        self.by_model: dict[ModelSpec, UsageSum] = {}
        self.asked: Counter[tuple[ModelSpec, str]] = Counter()  # tries by model and kind of question
        self._days: set[date] = set()
        self._facts: dict[ModelSpec, Facts] = {}
        self._waiting: deque[_Waiting] = deque()

    @cached_property
    def prices(self) -> Prices:
        """The prices that it counts with, read when first needed."""
        return open_prices(self._prices_in)

    def _facts_of(self, spec: ModelSpec) -> Facts:
        """What is known of a model's price, looked up once a model."""
        found = self._facts.get(spec)
        if found is None:
            found = self._facts[spec] = self.prices.facts(spec)
        return found

    @property
    def spent(self) -> float:
        """Dollars spent, with what was spent before."""
        return dollars(self._spent)

    @property
    def totals(self) -> Totals:
        """What went through it so far, without what was spent before."""
        sums = self.by_model.values()
        return Totals(
            sum(one.calls for one in sums),
            self._unanswered,
            sum(one.tokens_in for one in sums),
            sum(one.tokens_out for one in sums),
            round(dollars(self._spent - trillionths(self.before)), 12),
            dollars(self._worst),
            tuple(self._unpriced),
            min(self._days, default=None),
        )

    async def reserve(self, spec: ModelSpec, request: Request) -> float:
        """Reserve the most that a call may cost; waits for calls in flight where that would exceed the budget.

        Raises Failed, which stops the run, for a call that exceeds it with nothing in flight, and for a model without
        a price where a budget was given. Hand the result to `settle` once, whatever the outcome of the call.
        """
        self.asked[spec, kind_of(message.text for message in request.messages)] += 1
        entry = self._facts_of(spec).price
        if entry is None:
            if self._most is not None:
                raise Failed(
                    FailureKind.BUDGET,
                    f"the price of {_name(spec)} is not known, so the budget cannot be enforced",
                    remedy=f"give its price with --prices FILE or ${VARIABLE}, or leave out --budget",
                    stops=True,
                )
            self._in_flight += 1
            return 0.0
        worst = entry.cost(most_tokens(request), spec.max_tokens)
        if self._most is not None and (self._waiting or not self._fits(worst)):
            await self._wait(worst, _name(spec))
        else:
            self._take(worst)
        return dollars(worst)

    def settle(self, spec: ModelSpec, reserved: float, answer: Answer | None) -> float | None:
        """Release a reservation and book the cost of `answer` (None: no answer came); its dollars, if known."""
        self._reserved -= trillionths(reserved)
        self._in_flight -= 1
        cost = self._book(spec, answer)
        self._admit()
        return cost

    def _book(self, spec: ModelSpec, answer: Answer | None) -> float | None:
        if answer is None:
            self._unanswered += 1
            return None
        usage = answer.usage
        self.by_model.setdefault(spec, UsageSum()).add(usage)
        entry, day, *_ = self._facts_of(spec)
        if day is not None:
            self._days.add(day)
        if entry is None:
            self._unpriced[_name(spec)] = None
            return None
        cost = entry.cost(usage.tokens_in, usage.tokens_out)
        self._spent += cost
        return dollars(cost)

    def _fits(self, worst: int) -> bool:
        return self._most is None or self._spent + self._reserved + worst <= self._most

    def _take(self, worst: int, calls: int = 1) -> None:
        self._reserved += worst
        self._worst += worst
        self._in_flight += calls

    async def _wait(self, worst: int, model: str) -> None:
        """Wait until the call is admitted. A caller that is cancelled meanwhile leaves nothing reserved."""
        turn = _Waiting(worst, model, asyncio.get_running_loop().create_future())
        self._waiting.append(turn)
        self._admit()
        try:
            await turn.granted
        except asyncio.CancelledError:
            if turn.granted.done() and not turn.granted.cancelled() and turn.granted.exception() is None:
                self._take(-worst, -1)  # admitted and cancelled in one step of the loop
            elif turn in self._waiting:
                self._waiting.remove(turn)
            self._admit()
            raise

    def _admit(self) -> None:
        """Admit waiting calls in order; reject those that cannot fit."""
        while self._waiting and self._fits(self._waiting[0].worst):
            turn = self._waiting.popleft()
            if not turn.granted.cancelled():
                self._take(turn.worst)
                turn.granted.set_result(None)
        if self._in_flight == 0:
            while self._waiting:
                turn = self._waiting.popleft()
                if not turn.granted.cancelled():
                    turn.granted.set_exception(self._exceeded(turn))

    def _exceeded(self, turn: _Waiting) -> Failed:
        assert self.limit is not None
        before = f", {money(self.before)} of it before this command" if self.before else ""
        return Failed(
            FailureKind.BUDGET,
            f"the budget of {money(self.limit)} would be exceeded: {money(self.spent)} is spent{before}, and the next "
            f"call to {turn.model} could cost {money(dollars(turn.worst))}",
            remedy="run the same command again with a larger --budget: finished work is kept. "
            "A smaller ?max_tokens= makes a call's worst case cheaper",
            stops=True,
        )


def most_tokens(request: Request) -> int:
    """More tokens than a prompt can have: a token is at least one byte of UTF-8."""
    texts = [message.text for message in request.messages]
    texts += [f"{call.id}{call.name}{call.arguments}" for message in request.messages for call in message.tool_calls]
    found = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) + _OF_A_MESSAGE * len(request.messages)
    extra = [dict(request.answer_schema)] if request.answer_schema is not None else []
    extra += [tool.model_dump(mode="json") for tool in request.tools]
    if extra:
        found += _OF_TOOLS + len(json.dumps(extra, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return found


def kind_of(texts: Iterable[str]) -> str:
    """The beginning of a prompt: prompts that begin alike have answers of like length."""
    return next((text[:_OPENING] for text in texts if text != FENCE_NOTE), "")


def money(amount: float) -> str:
    """A sum for people: in cents from a dollar on, with two significant digits below."""
    if amount >= 1 or amount == 0:
        return f"${amount:,.2f}"
    digits = 2
    while digits < 10 and round(amount, digits) < 10 ** (1 - digits):
        digits += 1
    return f"${amount:.{digits}f}"


def _name(spec: ModelSpec) -> str:
    """The model without its parameters, which no price depends on."""
    return str(spec).partition("?")[0]
