"""The budget holds whatever happens: costs, failures, cancellations and many calls at once, all drawn at random."""

from __future__ import annotations

import asyncio
import functools
import json
import random
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.records import Usage
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.request.budget import BudgetTracker, Totals, money, most_tokens
from reviewgauge.models.request.messages import Answer, Request, Tool, system, user
from reviewgauge.models.request.model_spec import ModelSpec, parse_model
from reviewgauge.models.request.prices import shipped_prices

FAKE = parse_model("openai:fake@http://127.0.0.1:1/v1?max_tokens=1000")  # 1 dollar in, 4 out, per million
OTHER = parse_model("openai:qwen3@http://127.0.0.1:1/v1")
SHORT = Request(messages=(user("Say yes."),))
WORST = (len("Say yes.") + 16) * 1e-6 + 1000 * 4e-6


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Runs a test that awaits."""

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(test(**fixtures))

    return run


def answer(tokens_in: int, tokens_out: int) -> Answer:
    return Answer(text="yes", usage=Usage(calls=1, tokens_in=tokens_in, tokens_out=tokens_out))


@on_a_loop
async def test_a_call_is_reserved_at_its_worst_and_booked_at_its_cost() -> None:
    budget = BudgetTracker(budget=1.0)
    reserved = await budget.reserve(FAKE, SHORT)
    assert reserved == pytest.approx(WORST)
    assert budget.settle(FAKE, reserved, answer(10, 100)) == pytest.approx(10e-6 + 400e-6)
    assert budget.spent == pytest.approx(410e-6)
    assert budget.totals == Totals(1, 0, 10, 100, round(410e-6, 12), round(WORST, 12), (), shipped_prices().date)


@on_a_loop
async def test_a_call_that_was_not_answered_gives_back_what_was_put_aside() -> None:
    budget = BudgetTracker(budget=WORST)
    for _ in range(5):
        reserved = await budget.reserve(FAKE, SHORT)
        assert budget.settle(FAKE, reserved, None) is None
    assert (budget.spent, budget.totals.calls, budget.totals.unanswered) == (0, 0, 5)


@on_a_loop
async def test_a_call_that_does_not_fit_waits_for_those_in_flight() -> None:
    budget = BudgetTracker(budget=1.5 * WORST)
    first = await budget.reserve(FAKE, SHORT)
    second = asyncio.ensure_future(budget.reserve(FAKE, SHORT))
    await asyncio.sleep(0)
    assert not second.done()
    budget.settle(FAKE, first, answer(1, 1))
    assert await second == pytest.approx(WORST)


@on_a_loop
async def test_the_budget_stops_with_nothing_in_flight_and_says_what_to_do() -> None:
    budget = BudgetTracker(budget=1.2 * WORST, spent=0.5 * WORST)
    with pytest.raises(Failed) as caught:
        await budget.reserve(FAKE, SHORT)
    assert (caught.value.kind, caught.value.stops) == (FailureKind.BUDGET, True)
    said = str(caught.value)
    for part in (money(1.2 * WORST), "is spent", "before this command", money(WORST), "larger --budget"):
        assert part in said, said


@on_a_loop
async def test_a_caller_that_is_cancelled_while_waiting_leaves_nothing_behind() -> None:
    budget = BudgetTracker(budget=1.5 * WORST)
    first = await budget.reserve(FAKE, SHORT)
    second, third = (asyncio.ensure_future(budget.reserve(FAKE, SHORT)) for _ in range(2))
    await asyncio.sleep(0)
    second.cancel()
    budget.settle(FAKE, first, None)  # lets the second in, which is being cancelled, or the third
    await asyncio.gather(second, return_exceptions=True)
    assert second.cancelled()
    assert budget.settle(FAKE, await third, None) is None
    assert (budget.spent, budget._reserved, budget._in_flight) == (0, 0, 0)


@on_a_loop
async def test_a_caller_that_is_cancelled_just_as_it_is_let_in_leaves_nothing_behind() -> None:
    budget = BudgetTracker(budget=1.5 * WORST)
    first = await budget.reserve(FAKE, SHORT)
    second = asyncio.ensure_future(budget.reserve(FAKE, SHORT))
    await asyncio.sleep(0)
    budget.settle(FAKE, first, None)  # lets it in
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    assert second.cancelled()
    assert (budget._reserved, budget._in_flight) == (0, 0)
    assert budget.settle(FAKE, await budget.reserve(FAKE, SHORT), None) is None


@on_a_loop
async def test_a_model_without_a_price_costs_none_and_never_nothing() -> None:
    budget = BudgetTracker()
    reserved = await budget.reserve(OTHER, SHORT)
    assert budget.settle(OTHER, reserved, answer(10, 10)) is None
    assert budget.totals.unpriced == ("openai:qwen3@http://127.0.0.1:1/v1",)


@on_a_loop
async def test_a_budget_without_a_price_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(Failed, match=r"price of openai:qwen3.* is not known.*--prices FILE") as caught:
        await BudgetTracker(budget=5.0).reserve(OTHER, SHORT)
    assert caught.value.stops
    own = tmp_path / "prices.json"
    own.write_text(json.dumps({"models": {"qwen3": {"input": 0.5, "output": 1}}}))
    assert await BudgetTracker(budget=5.0, prices=own).reserve(OTHER, SHORT) > 0


def test_a_prompt_never_has_more_tokens_than_are_put_aside() -> None:
    assert most_tokens(SHORT) >= len("Say yes.")
    umlauts = Request(messages=(system("ä" * 10), user("本" * 10)))
    assert most_tokens(umlauts) >= 20 + 30
    tool = Tool(name="look", description="x" * 50, parameters={"type": "object"})
    assert most_tokens(Request(messages=SHORT.messages, tools=(tool,))) > most_tokens(SHORT) + 50


@pytest.mark.parametrize(
    ("amount", "said"), [(5, "$5.00"), (0, "$0.00"), (1234.5, "$1,234.50"), (0.25, "$0.25"), (0.00041, "$0.00041")]
)
def test_small_sums_keep_two_digits_that_say_something(amount: float, said: str) -> None:
    assert money(amount) == said


@given(seed=st.integers(0, 2**32), budget=st.floats(0.001, 0.2), calls=st.integers(1, 40), at_once=st.integers(1, 12))
def test_what_is_spent_never_exceeds_the_budget(seed: int, budget: float, calls: int, at_once: int) -> None:
    """Every call costs at random up to its worst case; some fail, some are cancelled while they wait or fly."""
    chance = random.Random(seed)
    asyncio.run(_spend(BudgetTracker(budget=budget), budget, calls, at_once, chance))


async def _spend(tracker: BudgetTracker, budget: float, calls: int, at_once: int, chance: random.Random) -> None:
    slots = asyncio.Semaphore(at_once)
    paid: list[float] = []

    async def one(number: int) -> None:
        spec = ModelSpec("openai", "fake", max_tokens=chance.choice((10, 500, 5000)))
        request = Request(messages=(user("x" * chance.randrange(2000)),))
        async with slots:
            reserved = await tracker.reserve(spec, request)
            made = None
            try:
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
                if chance.random() < 0.8:
                    made = answer(chance.randint(0, most_tokens(request)), chance.randint(0, spec.max_tokens))
            finally:
                cost = tracker.settle(spec, reserved, made)
                paid.append(cost or 0.0)
                assert tracker.spent + tracker._reserved / 1e12 <= budget + 1e-12

    work = [asyncio.ensure_future(one(number)) for number in range(calls)]
    for _ in range(chance.randrange(calls)):
        await asyncio.sleep(0)
        chance.choice(work).cancel() if chance.random() < 0.3 else None
    found = await asyncio.gather(*work, return_exceptions=True)
    assert all(one is None or isinstance(one, Failed | asyncio.CancelledError) for one in found), found
    assert tracker.spent == pytest.approx(sum(paid))
    assert tracker.spent <= budget
    assert (tracker._reserved, tracker._in_flight, len(tracker._waiting)) == (0, 0, 0)
