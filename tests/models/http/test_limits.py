"""The limits of an address, its pauses and its circuit breaker, on a real clock with short waits."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Coroutine
from types import SimpleNamespace

import pytest

from reviewgauge.core.backoff import backoff
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.http import limits
from reviewgauge.models.http.limits import EndpointLimiter, TokenBucket, Trouble
from waiting import HANGS


async def work(limiter: EndpointLimiter, seconds: float = 0.01, tokens: int = 1) -> None:
    async with limiter.turn(tokens):
        await asyncio.sleep(seconds)


def run(what: Coroutine[object, object, None]) -> None:
    asyncio.run(asyncio.wait_for(what, HANGS))


@pytest.mark.parametrize("seed", range(5))
def test_no_more_calls_than_allowed_and_no_slot_lost_to_cancelled_callers(seed: int) -> None:
    draw = random.Random(seed)
    limiter = EndpointLimiter("a", in_flight=3)
    now, most = 0, 0

    async def call() -> None:
        nonlocal now, most
        async with limiter.turn(1):
            now += 1
            most = max(most, now)
            try:
                await asyncio.sleep(draw.uniform(0, 0.002))
            finally:
                now -= 1

    async def main() -> None:
        calls = [asyncio.ensure_future(call()) for _ in range(200)]
        for _ in range(60):
            await asyncio.sleep(draw.uniform(0, 0.001))
            for _ in range(2):
                draw.choice(calls).cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert (now, most) == (0, 3)
        await asyncio.gather(*(call() for _ in range(9)))  # all three slots are there still
        assert most == 3

    run(main())


def test_a_caller_cancelled_in_the_instant_of_its_turn_hands_it_on() -> None:
    async def main() -> None:
        limiter = EndpointLimiter("a", in_flight=1)
        async with limiter.turn(1):
            first = asyncio.ensure_future(work(limiter))
            second = asyncio.ensure_future(work(limiter))
            await asyncio.sleep(0)
        first.cancel()  # its turn has come, and it has not run yet
        await second
        await work(limiter)

    run(main())


def test_a_bucket_spreads_calls_evenly() -> None:
    bucket = TokenBucket(600)  # ten a second, a second's worth at once
    waits = [bucket.book(1, now=100.0) for _ in range(30)]
    assert waits[:11] == [0.0] * 11
    assert waits[11:] == pytest.approx([(n + 1) / 10 for n in range(19)])
    assert TokenBucket(None).book(1e9, 0.0) == 0.0


def test_a_bucket_takes_back_what_was_not_used() -> None:
    bucket = TokenBucket(60)
    assert bucket.book(10, now=100.0) == 0.0
    assert bucket.book(1, now=100.0) == pytest.approx(9.0)
    bucket.correct(-8)
    assert bucket.book(1, now=100.0) == pytest.approx(2.0)


@pytest.mark.slow
def test_calls_wait_for_their_bucket() -> None:
    async def main() -> None:
        limiter = EndpointLimiter("a", requests_per_minute=1200)
        began = time.monotonic()
        await asyncio.gather(*(work(limiter, 0.0) for _ in range(30)))
        assert time.monotonic() - began > 0.3  # 20 at once, then 20 a second

    run(main())


def test_a_pause_holds_everybody_and_is_not_lengthened_by_older_tries() -> None:
    async def main() -> None:
        limiter = EndpointLimiter("a", patience=1.0)
        sent = time.monotonic()
        limiter.pause(0.2, sent)
        for _ in range(50):
            limiter.pause(None, sent)  # sent before it was known
        began = time.monotonic()
        await asyncio.gather(*(work(limiter, 0.0) for _ in range(5)))
        assert 0.15 < time.monotonic() - began < 5

    run(main())


def test_an_address_that_never_answered_is_given_up_soon() -> None:
    limiter = EndpointLimiter("http://a", patience=0.01)
    for _ in range(3):
        limiter.failed("refused")
    with pytest.raises(Failed) as caught:
        limiter.failed("refused")
    assert (caught.value.kind, caught.value.stops) == (FailureKind.NETWORK, True)
    assert "http://a is down" in str(caught.value)
    with pytest.raises(Failed):
        run(work(limiter))


@pytest.mark.parametrize(("trouble", "problem", "remedy"), [
    (Trouble.INVALID_RESPONSE, "answers, but not in the protocol", "ends in /v1"),
    (Trouble.TIMEOUT, "does not answer in time", "?timeout="),
    (Trouble.ERROR, "answers with errors only", "lower --in-flight or --rpm"),
    (Trouble.DROPPED, "is down", "check that it runs"),
    (Trouble.UNREACHED, "is down", "check that it runs"),
])  # fmt: skip
def test_what_is_said_goes_by_what_went_wrong(trouble: Trouble, problem: str, remedy: str) -> None:
    limiter = EndpointLimiter("http://a", patience=1.0)
    limiter.mark_reachable()
    with pytest.raises(Failed, match="24 tries in a row") as caught:
        for _ in range(24):
            limiter.failed("it", trouble)
    assert caught.value.stops
    assert problem in str(caught.value)
    assert remedy in caught.value.remedy
    assert "finished calls are kept" in caught.value.remedy
    assert "is a server running" not in caught.value.remedy


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time is `now`; only a test moves it on."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_a_success_forgets_the_troubles_before_it(clock: SimpleNamespace) -> None:
    limiter = EndpointLimiter("http://a", patience=0.01)
    limiter.mark_reachable()
    for _ in range(20):
        limiter.failed("it", Trouble.ERROR)
    limiter.succeeded()
    for _ in range(12):
        limiter.failed("it", Trouble.INVALID_RESPONSE)
    clock.now += 0.35
    with pytest.raises(Failed, match="24 tries in a row") as caught:
        for _ in range(12):
            limiter.failed("it", Trouble.INVALID_RESPONSE)
    assert "not in the protocol" in str(caught.value)


def test_an_address_that_has_answered_gets_time_to_come_back(clock: SimpleNamespace) -> None:
    limiter = EndpointLimiter("a", patience=0.01)
    limiter.succeeded()
    for _ in range(200):
        limiter.failed("refused")
    clock.now += 0.35
    with pytest.raises(Failed, match="201 tries"):
        limiter.failed("refused")


def test_an_address_that_is_down_gets_another_chance_after_a_while() -> None:
    limiter = EndpointLimiter("a", patience=0.001)
    with pytest.raises(Failed):
        for _ in range(9):
            limiter.failed("refused")
    time.sleep(0.05)
    run(work(limiter))


def test_who_waits_is_told_when_the_address_goes_down() -> None:
    async def main() -> None:
        limiter = EndpointLimiter("a", patience=1.0)
        waiting = asyncio.ensure_future(limiter.sleep(60))
        await asyncio.sleep(0.01)
        with pytest.raises(Failed):
            for _ in range(9):
                limiter.failed("refused")
        with pytest.raises(Failed, match="is down"):
            await waiting

    run(main())


@pytest.mark.parametrize("in_flight", [1, 16, 256])
@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.slow
def test_four_failures_in_ten_are_no_breakdown(in_flight: int, slow: bool) -> None:
    """Failures come back at once, answers only after all others: the worst order there is."""
    draw = random.Random(in_flight)

    async def call(limiter: EndpointLimiter, answers: asyncio.Event) -> None:
        while True:
            async with limiter.turn(1):
                fails = draw.random() < 0.4
                if not fails and slow:
                    await answers.wait()
                elif not fails:
                    await asyncio.sleep(0)
            if not fails:
                limiter.succeeded()
                return
            limiter.mark_reachable()
            limiter.failed("any")
            await asyncio.sleep(0)

    async def main() -> None:
        limiter = EndpointLimiter("a", in_flight=in_flight, patience=0.0)
        answers = asyncio.Event()
        asyncio.get_running_loop().call_later(0.5, answers.set)
        await asyncio.gather(*(call(limiter, answers) for _ in range(2_000)))

    run(main())


def test_waits_grow_to_a_limit_and_differ() -> None:
    waits = [[backoff(tries, 1.0) for _ in range(300)] for tries in (1, 4, 60)]
    assert [max(some) <= most for some, most in zip(waits, (1, 8, 60), strict=True)] == [True] * 3
    assert [max(some) > most for some, most in zip(waits, (0.9, 7, 50), strict=True)] == [True] * 3
    assert max(backoff(60, 0.01) for _ in range(300)) <= 0.6
    assert len({round(wait, 6) for wait in waits[0]}) > 200
