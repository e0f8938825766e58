"""The fake server, asked by the real SDKs: what they parse, and what they raise for each fault."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.models.fake import service
from reviewgauge.models.fake.faults import FAULTS
from reviewgauge.models.fake.model import UNKNOWN
from reviewgauge.models.fake.server import FakeServer, digest_of, read_latency
from reviewgauge.models.request.messages import Request, user
from waiting import until

ASKED: list[Any] = [{"role": "user", "content": "Is this fine?"}]
SAME = (
    "Review Comment 1:\n{}\n\nReview Comment 2:\n{}\n\n-Task-\n"
    "Determine whether two given review comments express the same concern"
)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"fine": {"type": "boolean"}, "why": {"type": "string"}},
    "required": ["fine", "why"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def good() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


def ask_openai(server: FakeServer, timeout: float | None = None, **more: Any) -> Any:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="sk-secret", max_retries=0, timeout=timeout) as client:
        return client.chat.completions.create(**{"model": "fake", "messages": ASKED, **more})


def ask_anthropic(server: FakeServer, timeout: float | None = None, **more: Any) -> Any:
    with anthropic.Anthropic(base_url=server.url, api_key="sk-secret", max_retries=0, timeout=timeout) as client:
        return client.messages.create(**{"model": "fake", "messages": ASKED, "max_tokens": 100, **more})


def test_openai_answers(good: FakeServer) -> None:
    answer = ask_openai(good)
    assert answer.choices[0].message.content == UNKNOWN
    assert answer.choices[0].finish_reason == "stop"
    assert answer.model == "reviewgauge-fake"
    assert answer.system_fingerprint == "fp_reviewgauge_fake"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer._request_id.startswith("req_fake")


def test_anthropic_answers(good: FakeServer) -> None:
    answer = ask_anthropic(good, system="You review code.")
    assert answer.content[0].text == UNKNOWN
    assert answer.stop_reason == "end_turn"
    assert answer.model == "reviewgauge-fake"
    assert answer.usage.output_tokens == len(UNKNOWN) // 4


def test_both_answer_with_the_shape_of_a_schema(good: FakeServer) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA, "strict": True}}
    text = ask_openai(good, response_format=form).choices[0].message.content
    assert json.loads(text) == {"fine": False, "why": "fake"}
    output = {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert json.loads(ask_anthropic(good, output_config=output).content[0].text) == json.loads(text)


def test_openai_calls_the_first_tool_once(good: FakeServer) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": SCHEMA}}
    answer = ask_openai(good, tools=[tool])
    call = answer.choices[0].message.tool_calls[0]
    assert (answer.choices[0].finish_reason, call.function.name) == ("tool_calls", "look")
    assert json.loads(call.function.arguments) == {"fine": False, "why": "fake"}
    told = {"role": "tool", "tool_call_id": call.id, "content": "seen"}
    asked = [*ASKED, answer.choices[0].message.model_dump(exclude_none=True), told]
    assert ask_openai(good, tools=[tool], messages=asked).choices[0].message.content == UNKNOWN


def test_anthropic_calls_the_first_tool_once(good: FakeServer) -> None:
    tool = {"name": "look", "input_schema": SCHEMA}
    answer = ask_anthropic(good, tools=[tool])
    assert answer.stop_reason == "tool_use"
    assert answer.content[0].input == {"fine": False, "why": "fake"}
    told = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": answer.content[0].id, "content": "x"}]}
    block = answer.content[0].model_dump(exclude_none=True)
    block = {name: block[name] for name in ("type", "id", "name", "input")}
    asked = [*ASKED, {"role": "assistant", "content": [block]}, told]
    assert ask_anthropic(good, tools=[tool], messages=asked).content[0].text == UNKNOWN


def test_both_stream(good: FakeServer) -> None:
    with openai.OpenAI(base_url=f"{good.url}/v1", api_key="k") as client:
        chunks = list(client.chat.completions.create(model="fake", messages=ASKED, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == UNKNOWN
    assert chunks[-1].usage is not None
    with (
        anthropic.Anthropic(base_url=good.url, api_key="k") as client_too,
        client_too.messages.stream(model="fake", messages=ASKED, max_tokens=50) as stream,
    ):
        assert stream.get_final_message().stop_reason == "end_turn"
        assert stream.get_final_text() == UNKNOWN


def test_answers_are_cut_at_the_most_tokens(good: FakeServer) -> None:
    answer = ask_openai(good, max_completion_tokens=2)
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == (UNKNOWN[:8], "length")
    assert ask_anthropic(good, max_tokens=2).stop_reason == "max_tokens"


def test_models_are_listed_in_both_shapes(good: FakeServer) -> None:
    with openai.OpenAI(base_url=f"{good.url}/v1", api_key="k") as client:
        assert "fake" in [model.id for model in client.models.list()]
    with anthropic.Anthropic(base_url=good.url, api_key="k") as client_too:
        assert "fake" in [model.id for model in client_too.models.list()]


OPENAI_RAISES: dict[str, type[Exception]] = {
    "timeout": openai.APITimeoutError,
    "drop": openai.APIConnectionError,
    "reset": openai.APIConnectionError,
    "cut": openai.APIConnectionError,
    "429": openai.RateLimitError,
    "500": openai.InternalServerError,
    "502": openai.InternalServerError,
    "503": openai.InternalServerError,
    "504": openai.InternalServerError,
    "529": openai.InternalServerError,
    "quota": openai.RateLimitError,
    "401": openai.AuthenticationError,
    "403": openai.PermissionDeniedError,
    "404": openai.NotFoundError,
    "418": openai.APIStatusError,
    "overflow": openai.BadRequestError,
}


@pytest.mark.parametrize("fault", OPENAI_RAISES)
@pytest.mark.slow
def test_openai_raises(fault: str) -> None:
    with FakeServer(fail=fault) as server:
        with pytest.raises(OPENAI_RAISES[fault]):
            ask_openai(server, timeout=0.3 if fault == "timeout" else None)
        until(lambda: server.stats()["faults"] == {fault: 1})  # it may hear of it after the client has given up
    assert server.stats()["answered"] == 0


ANTHROPIC_RAISES: dict[str, tuple[type[Exception], str]] = {
    "timeout": (anthropic.APITimeoutError, ""),
    "drop": (anthropic.APIConnectionError, ""),
    "reset": (anthropic.APIConnectionError, ""),
    "cut": (anthropic.APIConnectionError, ""),
    "429": (anthropic.RateLimitError, "rate_limit_error"),
    "500": (anthropic.InternalServerError, "api_error"),
    "502": (anthropic.InternalServerError, ""),
    "503": (anthropic.InternalServerError, "api_error"),
    "529": (anthropic.InternalServerError, "overloaded_error"),
    "quota": (anthropic.APIStatusError, "billing_error"),
    "401": (anthropic.AuthenticationError, "authentication_error"),
    "403": (anthropic.PermissionDeniedError, "permission_error"),
    "404": (anthropic.NotFoundError, "not_found_error"),
    "overflow": (anthropic.BadRequestError, "prompt is too long"),
}


@pytest.mark.parametrize("fault", ANTHROPIC_RAISES)
@pytest.mark.slow
def test_anthropic_raises(fault: str) -> None:
    kind, words = ANTHROPIC_RAISES[fault]
    with FakeServer(fail=fault) as server, pytest.raises(kind) as raised:
        ask_anthropic(server, timeout=0.3 if fault == "timeout" else None)
    assert words in str(raised.value)


def test_codes_say_what_was_wrong() -> None:
    for fault, code in {"quota": "insufficient_quota", "overflow": "context_length_exceeded"}.items():
        with FakeServer(fail=fault) as server, pytest.raises(openai.APIStatusError) as raised:
            ask_openai(server)
        assert raised.value.code == code


def test_retry_after_is_announced() -> None:
    with FakeServer(fail="429,retry-after=3") as server, pytest.raises(openai.RateLimitError) as raised:
        ask_openai(server)
    assert raised.value.response.headers["retry-after"] == "3"


def test_a_wrong_key_is_repeated_in_the_error() -> None:
    with FakeServer(key="right") as server:
        with pytest.raises(openai.AuthenticationError, match="sk-secret"):
            ask_openai(server)
        with pytest.raises(anthropic.AuthenticationError, match="sk-secret"):
            ask_anthropic(server)
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key="right") as client:
            assert client.chat.completions.create(model="fake", messages=ASKED).choices
        assert server.stats()["calls"] == 1, "a refused key is not a call to the model"


@pytest.mark.slow
def test_refused_parameters_are_refused_only_when_sent() -> None:
    with FakeServer(fail="param") as server:
        assert ask_openai(server).choices
        with pytest.raises(openai.BadRequestError) as raised:
            ask_openai(server, temperature=0.5)
        assert raised.value.param == "temperature"
        with pytest.raises(anthropic.BadRequestError):
            ask_anthropic(server, extra_body={"temperature": 0.5})  # its SDK takes none by name any more
    with FakeServer(fail="nojson") as server:
        assert ask_openai(server).choices
        with pytest.raises(openai.BadRequestError):
            ask_openai(server, response_format={"type": "json_object"})
        with pytest.raises(anthropic.BadRequestError):
            ask_anthropic(server, output_config={"format": {"type": "json_schema", "schema": SCHEMA}})
    with FakeServer(fail="maxtokens") as server:
        assert ask_openai(server, max_completion_tokens=50).choices
        with pytest.raises(openai.BadRequestError, match="max_completion_tokens"):
            ask_openai(server, max_tokens=50)
        assert ask_anthropic(server).content


def openai_says(fault: str) -> Any:
    with FakeServer(fail=fault) as server:
        return ask_openai(server)


@pytest.mark.slow
def test_openai_answers_that_are_none() -> None:
    """What arrives with status 200 and is still no good: none of it makes the SDK raise."""
    cut = openai_says("truncate").choices[0]
    assert (cut.message.content, cut.finish_reason) == (UNKNOWN[: len(UNKNOWN) // 2], "stop")
    assert openai_says("length").choices[0].finish_reason == "length"
    assert openai_says("empty").choices[0].message.content == ""
    refused = openai_says("refuse").choices[0].message
    assert refused.content is None
    assert refused.refusal
    assert openai_says("filter").choices[0].finish_reason == "content_filter"
    thought = openai_says("reasoning")
    assert thought.choices[0].message.content == ""
    assert thought.usage.completion_tokens_details.reasoning_tokens == thought.usage.completion_tokens > 0
    assert openai_says("nousage").usage is None
    assert openai_says("garbage").choices[0].message.content != UNKNOWN
    assert isinstance(openai_says("html"), str), "the SDK hands a page on as text"
    assert openai_says("error200").choices is None
    assert openai_says("close").choices[0].message.content == UNKNOWN


@pytest.mark.slow
def test_anthropic_answers_that_are_none() -> None:
    def says(fault: str) -> Any:
        with FakeServer(fail=fault) as server:
            return ask_anthropic(server)

    assert says("truncate").content[0].text == UNKNOWN[: len(UNKNOWN) // 2]
    assert says("length").stop_reason == "max_tokens"
    assert says("empty").content == []
    assert says("refuse").stop_reason == "refusal"
    assert [block.type for block in says("reasoning").content] == ["thinking"]
    assert says("nousage").usage is None
    assert says("garbage").content[0].text != UNKNOWN


@pytest.mark.parametrize("fault", ["badjson", "blank", "badutf8"])
def test_bodies_that_cannot_be_read(fault: str) -> None:
    """Each SDK raises its own error or another's for these; what matters is that neither takes them for an answer."""
    with FakeServer(fail=fault) as server:
        for ask in (ask_openai, ask_anthropic):
            try:
                answer = ask(server)
            except (ValueError, openai.OpenAIError, anthropic.AnthropicError):
                continue
            assert str(answer) != UNKNOWN


@pytest.mark.slow
def test_a_slow_answer_comes_in_the_end() -> None:
    with FakeServer(fail="slow,slow=0.4") as server:
        began = time.perf_counter()
        assert ask_openai(server).choices[0].message.content == UNKNOWN
    assert time.perf_counter() - began > 0.3


def test_every_fault_has_a_test_here() -> None:
    files = (Path(__file__), Path(__file__).with_name("test_http_server.py"))
    source = "".join(file.read_text(encoding="utf-8") for file in files)
    assert [fault for fault in FAULTS if f'"{fault}' not in source] == []


def test_stats_count_each_request_and_whole_answers_only() -> None:
    with FakeServer(fail="500:each=1") as server:
        for text in ("a", "a", "b", "b", "b"):
            try:
                ask_openai(server, messages=[{"role": "user", "content": text}])
            except openai.InternalServerError:
                assert text in "ab"
        stats = server.stats()
    assert (stats["calls"], stats["answered"], stats["faults"]) == (5, 3, {"500": 2})
    assert stats["requests"][digest_of(Request(messages=(user("a"),)))] == [2, 1, 1]
    assert stats["requests"][digest_of(Request(messages=(user("b"),)))] == [3, 2, 2]
    assert [seen.fault for seen in server.seen] == ["500", "", "500", "", ""]
    assert server.seen[0].body["messages"] == [{"role": "user", "content": "a"}]


def test_faults_change_while_it_runs_and_it_starts_again_on_its_port() -> None:
    with FakeServer() as server:
        assert ask_openai(server).choices
        server.change(fail="500")
        with pytest.raises(openai.InternalServerError):
            ask_openai(server)
        server.stop()
        with pytest.raises(openai.APIConnectionError):
            ask_openai(server)
        server.change(fail="")
        server.start()
        assert ask_openai(server).choices
        assert server.calls == server.stats()["calls"] == 3


def test_a_port_that_is_taken_is_one_clear_line(good: FakeServer) -> None:
    with pytest.raises(UserError, match=f"port {good.port} cannot be used"), FakeServer(port=good.port):
        pass


@pytest.mark.slow
def test_latency_is_held_and_read_strictly() -> None:
    with FakeServer(latency="0.2") as server:
        began = time.perf_counter()
        ask_openai(server)
    assert time.perf_counter() - began >= 0.2
    between = read_latency("0.1-2.0")
    drawn = [between.of(number, 0) for number in range(200)]
    assert 0.1 <= min(drawn) < 0.3
    assert 1.8 < max(drawn) <= 2
    for bad in ("-1", "fast", "2-1", "", "nan", "1e9"):
        with pytest.raises(UserError):
            read_latency(bad)


@pytest.mark.slow
def test_a_noisy_model_differs_from_call_to_call_whatever_fails_between() -> None:
    """Over HTTP the repeat is the number of the answer to these words, so failures before it change nothing."""
    texts: list[list[str]] = []
    asked = [{"role": "user", "content": SAME.format("a missing check", "the check is missing")}]
    for fail in ("", "500:every=2"):
        with FakeServer(model="noisy-50", fail=fail) as server:
            said: list[str] = []
            while len(said) < 12:
                try:
                    said.append(ask_openai(server, messages=asked).choices[0].message.content)
                except openai.InternalServerError:
                    assert fail
        texts.append(said)
    assert texts[0] == texts[1]
    assert len(set(texts[0])) == 2


@pytest.mark.slow
def test_without_its_libraries_the_command_names_the_extra() -> None:
    code = "import sys; sys.modules['uvicorn'] = None; from reviewgauge.cli.main import main; main(['fake-server'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'reviewgauge[models]'" in done.stderr


@pytest.mark.parametrize("said", [b"content-length: 100\r\n\r\n{", b"transfer-encoding: chunked\r\n\r\n5\r\n{"])
def test_a_client_that_leaves_within_its_body_is_not_heard_of(
    good: FakeServer, said: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    calls = good.calls
    with socket.create_connection(("127.0.0.1", good.port)) as client:
        client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n" + said)
        time.sleep(0.1)
    assert ask_openai(good).choices
    time.sleep(0.1)
    assert not caplog.records
    assert good.calls == calls + 1


def status_of(server: FakeServer, body: bytes | Iterator[bytes]) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
        connection.request("POST", "/v1/chat/completions", body)
        return connection.getresponse().status


def test_a_body_nested_without_end_is_refused(good: FakeServer, caplog: pytest.LogCaptureFixture) -> None:
    assert status_of(good, b"[" * 1_000_000) == 400
    assert not caplog.records


def test_a_body_too_large_that_does_not_say_so_is_refused(good: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_BODY", 1_000)
    assert status_of(good, iter([b"x" * 600] * 3)) == 413
