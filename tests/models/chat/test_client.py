"""The client: keys, single flight, cancellation, clients in clients, and what is left behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.cache.stores import Memory
from reviewgauge.models.chat.client import (
    ChatClient,
    background,
    call_key,
    chat_model,
    current_client,
    run_in_background,
    together,
    track_usage,
)
from reviewgauge.models.request.messages import Answer, Call, Repeat, Request, user
from reviewgauge.models.request.model_spec import ChatSettings, parse_model
from scripted_endpoint import Asked, OpenAI, Say, Scripted
from waiting import HANGS, until

pytestmark = pytest.mark.usefixtures("own_environment")
HI = Request(messages=(user("Hi."),))


@pytest.fixture
def protocol() -> OpenAI:
    return OpenAI()


def test_the_same_call_at_the_same_time_is_made_once(protocol: OpenAI, server: Scripted, client: ChatClient) -> None:
    server.always = lambda _: Say(protocol.good(), delay=0.2)
    model = client.model(protocol.spec(server))
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(model.ask, [HI] * 20))
    assert len(server.asked) == 1
    assert {answer.text for answer in answers} == {"yes"}


def test_votes_attempts_and_asks_are_different_calls(protocol: OpenAI, server: Scripted, client: ChatClient) -> None:
    model = client.model(protocol.spec(server))
    for attempt in (1, 2):
        with track_usage(attempt):
            for trial in (1, 2):
                for ask in (1, 2):
                    model.ask(HI, trial=trial, ask=ask)
                    model.ask(HI, trial=trial, ask=ask)
    assert len(server.asked) == 8


def test_a_key_holds_all_that_changes_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = ["openai:m", "anthropic:m", "openai:n", "openai:m@http://a/v1", "openai:m@http://b/v1"]
    specs += ["openai:m?" + p for p in ("temperature=0", "top_p=1", "top_k=1", "seed=0", "reasoning=low")]
    specs += ["openai:m?max_tokens=5", "openai:m?json=off"]
    keys = {call_key(parse_model(spec), HI, Repeat()) for spec in specs}
    keys |= {call_key(parse_model("openai:m"), HI, Repeat(*r)) for r in ((2, 1, 1), (1, 2, 1), (1, 1, 2))}
    keys.add(call_key(parse_model("openai:m"), Request(messages=(user("Ho."),)), Repeat()))
    keys.add(call_key(parse_model("openai:m"), HI.model_copy(update={"answer_schema": {}}), Repeat()))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://c/v1")
    keys.add(call_key(parse_model("openai:m"), HI, Repeat()))
    assert len(keys) == len(specs) + 6
    assert call_key(parse_model("openai:m?timeout=3"), HI, Repeat()) in keys  # changes no answer
    assert call_key(parse_model("openai:m@http://c/v1"), HI, Repeat()) in keys  # the same address, given otherwise


@pytest.mark.slow
def test_one_of_two_who_wait_may_go(protocol: OpenAI, server: Scripted, client: ChatClient) -> None:
    answers = threading.Event()

    def held(_: Asked) -> Say:
        answers.wait()
        return Say(protocol.good())

    server.always = held
    model = client.model(protocol.spec(server))

    async def two() -> Answer:
        first, second = (asyncio.ensure_future(model.answer(HI, None)) for _ in range(2))
        while not server.asked:
            await asyncio.sleep(0.01)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        answers.set()
        return await second

    assert run_in_background(two()).text == "yes"
    assert len(server.asked) == 1


def test_when_the_last_goes_the_call_is_stopped_and_its_place_is_free(protocol: OpenAI, server: Scripted) -> None:
    server.always = lambda _: Say(protocol.good(), delay=HANGS)
    with ChatClient(ChatSettings(cache=False, in_flight=2)) as client:
        model = client.model(protocol.spec(server))

        async def go_away() -> None:
            calls = [asyncio.ensure_future(model.answer(HI, None, trial=n)) for n in range(1, 9)]
            while len(server.asked) < 2:
                await asyncio.sleep(0.01)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

        run_in_background(go_away())
        assert len(server.asked) == 2
        server.always = lambda _: Say(protocol.good())
        assert model.ask(HI).text == "yes"


def test_closing_does_not_wait_for_calls_in_flight(protocol: OpenAI, server: Scripted) -> None:
    server.always = lambda _: Say(protocol.good(), delay=HANGS)
    client = ChatClient(ChatSettings(cache=False))
    caught: Future[BaseException | None] = Future()

    def waits() -> None:
        try:
            client.model(protocol.spec(server)).ask(HI)
        except BaseException as error:
            caught.set_result(error)

    threading.Thread(target=waits, daemon=True).start()
    until(lambda: server.asked)
    client.close()
    client.close()
    error = caught.result()
    assert isinstance(error, Failed)
    assert error.stops
    with pytest.raises(Failed, match="closed"):
        client.model(protocol.spec(server)).ask(HI)


def test_clients_in_clients() -> None:
    alike = ChatSettings(dry_run=True)
    with ChatClient(alike) as outer:
        with ChatClient(alike) as inner:
            assert current_client() is inner
        assert inner.closed
        assert not outer.closed
        assert current_client() is outer
        first, second = ChatClient(alike).__enter__(), ChatClient(alike).__enter__()
        first.__exit__()  # not in the order that they were opened
        assert current_client() is second
        second.__exit__()
        assert current_client() is outer


def test_without_a_client_there_is_one_that_stays(protocol: OpenAI, server: Scripted) -> None:
    assert chat_model(protocol.spec(server)).ask(HI).text == "yes"
    assert current_client() is current_client()
    current_client().close()
    assert chat_model(protocol.spec(server)).ask(HI, trial=2).text == "yes"  # closed by hand: a new one


@pytest.mark.slow
def test_models_at_one_address_share_its_limits(protocol: OpenAI, server: Scripted) -> None:
    server.always = lambda _: Say(protocol.good(), delay=0.02)
    spec = protocol.spec(server)
    with ChatClient(ChatSettings(cache=False, in_flight=3)) as client:
        models = [client.model(spec.replace(":m@", f":m{n}@")) for n in range(4)]
        with ThreadPoolExecutor(40) as pool:
            list(pool.map(lambda n: models[n % 4].ask(HI, trial=n + 1), range(40)))
    assert server.most_at_once == 3


@pytest.mark.slow
def test_a_server_that_goes_down_ends_the_run_for_all(protocol: OpenAI, server: Scripted) -> None:
    with ChatClient(ChatSettings(cache=False, in_flight=8, patience=0.01)) as client:
        model = client.model(protocol.spec(server))
        assert model.ask(HI).text == "yes"
        server.always = lambda _: Say(protocol.error("broken"), status=500)

        def until_it_stops(thread: int) -> Failed:
            for trial in range(1000):
                try:
                    model.ask(HI, trial=2 + thread * 1000 + trial)
                except Failed as failed:
                    if failed.stops:
                        return failed
            raise AssertionError("it went on and on")

        with ThreadPoolExecutor(8) as pool:
            ends = list(pool.map(until_it_stops, range(8)))
    assert {(failed.kind, failed.stops) for failed in ends} == {(FailureKind.NETWORK, True)}
    assert "answers with errors only" in str(ends[0])
    assert "finished calls are kept" in ends[0].remedy


def test_each_answer_is_recorded_once(protocol: OpenAI, server: Scripted) -> None:
    kept: list[Call] = []
    with ChatClient(ChatSettings(cache=False), record=kept.append) as client:
        model = client.model(protocol.spec(server))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: model.ask(HI, trial=n % 4 + 1), range(40)))
    assert sorted(call.trial for call in kept) == [1, 2, 3, 4]


@pytest.mark.parametrize("most", [1, 4, 99])
def test_many_at_once_in_order(protocol: OpenAI, server: Scripted, client: ChatClient, most: int) -> None:
    def by_text(asked: object) -> Say:
        text = asked.body["messages"][0]["content"]  # type: ignore[attr-defined]
        return Say(protocol.error("no"), status=400) if text == "3" else Say(protocol.good(text))

    server.always = by_text
    model = client.model(protocol.spec(server))
    requests = [Request(messages=(user(str(n)),)) for n in range(6)]
    with track_usage() as tally:
        work = [lambda tally, r=request: model.answer(r, tally) for request in requests]
        found = together(work, most)
    assert [one.text if isinstance(one, Answer) else one.kind for one in found] == ["0", "1", "2", "request", "4", "5"]
    assert tally.usage.calls == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_fork_has_a_loop_of_its_own(protocol: OpenAI, server: Scripted, client: ChatClient) -> None:
    model = client.model(protocol.spec(server))
    assert model.ask(HI).text == "yes"
    parent = background()
    child = os.fork()
    if child == 0:
        fine = model.ask(HI, trial=2).text == "yes" and background() is not parent
        os._exit(0 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert model.ask(HI, trial=3).text == "yes"


@pytest.mark.slow
def test_a_process_ends_with_calls_in_flight_and_says_nothing(
    protocol: OpenAI, server: Scripted, tmp_path: Path
) -> None:
    server.always = lambda _: Say(protocol.good(), delay=0 if len(server.asked) == 1 else HANGS)
    program = f"""
import threading, time
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import Request, user
model = chat_model({protocol.spec(server)!r})
print(model.ask(Request(messages=(user("Hi."),))).text)
threading.Thread(target=lambda: model.ask(Request(messages=(user("Ho."),))), daemon=True).start()
time.sleep(0.3)
"""
    environment = {**os.environ, "REVIEWGAUGE_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "yes\n")
    assert "never retrieved" not in done.stderr
    assert "Task was destroyed" not in done.stderr


class _Full(Memory):
    """A store that takes nothing: a disk without room."""

    async def put(self, call: Call) -> None:
        raise Failed(FailureKind.CRASH, "no room left", stops=True)


def test_an_answer_that_the_cache_cannot_take_is_on_the_run_s_bill() -> None:
    recorded: list[Call] = []
    with ChatClient(ChatSettings(cache=False), recorded.append) as client:
        client.calls.close()
        client.calls = _Full()
        with pytest.raises(Failed, match="no room left"):
            client.model("fake:rules").ask(HI)
    assert [call.paid for call in recorded] == [True]
