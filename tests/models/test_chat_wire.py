"""What goes over the line to each provider, and what is read from its answers, with the real SDKs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.models.chat.client import ChatClient, track_usage
from reviewgauge.models.providers.openai import is_strict
from reviewgauge.models.request.messages import (
    Answer,
    Message,
    Request,
    Role,
    Stop,
    Tool,
    ToolCall,
    assistant,
    system,
    user,
)
from reviewgauge.models.request.model_spec import ChatSettings
from scripted_endpoint import KEY, Protocol, Say, Scripted

pytestmark = pytest.mark.usefixtures("own_environment")
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
TALK = (system("Be short."), system("Be kind."), user("Hi."), assistant("Hello."), user("Bye \u2192 \U0001f600"))


def ask(client: ChatClient, spec: str, *messages: Message, **more: Any) -> Answer:
    return client.model(spec).ask(Request(messages=messages or (user("Say yes."),), **more))


def test_the_turns_of_a_talk(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    ask(client, protocol.spec(server), *TALK)
    body = server.bodies[0]
    turns = [(turn["role"], turn["content"]) for turn in body["messages"]]
    talk = [("user", "Hi."), ("assistant", "Hello."), ("user", TALK[-1].text)]
    if protocol.provider == "openai":
        assert turns == [("system", "Be short."), ("system", "Be kind."), *talk]
    else:
        assert (turns, body["system"]) == (talk, "Be short.\n\nBe kind.")
    assert server.asked[0].path == protocol.path


def test_nothing_is_sent_that_was_not_asked_for(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    ask(client, protocol.spec(server))
    assert set(server.bodies[0]) == {"model", "messages", "max_tokens"}
    assert server.bodies[0]["max_tokens"] == 8192


def test_parameters_go_out_under_the_protocols_names(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    query = "?temperature=0&top_p=0.9&top_k=20&reasoning=high&max_tokens=3000"
    ask(client, protocol.spec(server, query))
    body = server.bodies[0]
    assert [body[name] for name in ("temperature", "top_p", "top_k", "max_tokens")] == [0, 0.9, 20, 3000]
    if protocol.provider == "openai":
        assert body["reasoning_effort"] == "high"
    else:
        assert body["thinking"] == {"type": "adaptive"}
        assert body["output_config"] == {"effort": "high"}


def test_repeats_get_seeds_of_their_own(server: Scripted, protocol: Protocol, client: ChatClient) -> None:
    if protocol.provider == "anthropic":
        pytest.skip("its protocol has no seed")
    for attempt in (1, 2, 3):
        with track_usage(attempt):
            ask(client, protocol.spec(server, "?seed=7"))
    assert [body["seed"] for body in server.bodies] == [7, 8, 9]


def test_tools_go_both_ways(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    tool = Tool(name="read", description="Read a file.", parameters=SCHEMA)
    if protocol.provider == "openai":
        call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"a": 1}'}}
        server.script = [Say(protocol.good(None, "tool_calls", message={"tool_calls": [call]}))]
    else:
        use = {"type": "tool_use", "id": "c1", "name": "read", "input": {"a": 1}}
        server.script = [Say(protocol.good(finish="tool_use", content=[use]))]
    answer = ask(client, protocol.spec(server), user("Read."), tools=(tool,))
    assert (answer.stop, answer.text) == (Stop.TOOL, "")
    assert [(call.id, call.name, json.loads(call.arguments)) for call in answer.tool_calls] == [
        ("c1", "read", {"a": 1})
    ]
    said = Message(role=Role.ASSISTANT, tool_calls=(*answer.tool_calls, ToolCall(id="c2", name="read", arguments="{")))
    results = [Message(role=Role.TOOL, text=text, answers=name) for text, name in (("one", "c1"), ("two", "c2"))]
    ask(client, protocol.spec(server), user("Read."), said, *results, tools=(tool,))
    turns = server.bodies[1]["messages"]
    if protocol.provider == "openai":
        assert server.bodies[0]["tools"][0]["function"]["parameters"] == SCHEMA
        assert [turn["role"] for turn in turns] == ["user", "assistant", "tool", "tool"]
        assert turns[1]["tool_calls"][1]["function"]["arguments"] == "{"
        assert (turns[2]["tool_call_id"], turns[3]["content"]) == ("c1", "two")
    else:
        assert server.bodies[0]["tools"][0]["input_schema"] == SCHEMA
        assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
        assert turns[1]["content"][1]["input"] == {"unreadable": "{"}
        assert [block["tool_use_id"] for block in turns[2]["content"]] == ["c1", "c2"]


@pytest.mark.parametrize("off", [False, True])
def test_a_schema_is_sent_unless_turned_off(
    off: bool, protocol: Protocol, server: Scripted, client: ChatClient
) -> None:
    ask(client, protocol.spec(server, "?json=off" if off else ""), answer_schema=SCHEMA)
    assert protocol.schema_in(server.bodies[0]) == (None if off else SCHEMA)


def test_which_schemas_are_strict() -> None:
    closed = {**SCHEMA, "required": ["a"], "additionalProperties": False}
    assert is_strict(closed)
    assert is_strict({"type": "array", "items": closed})
    assert not is_strict(SCHEMA)
    assert not is_strict({**closed, "properties": {"a": SCHEMA}})


def test_an_answer_with_its_tokens(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    with track_usage() as tracker:
        answer = ask(client, protocol.spec(server))
    assert (answer.text, answer.model, answer.stop, answer.counted, answer.fake) == (
        "yes", "m-1", Stop.END, True, False,
    )  # fmt: skip
    assert (answer.usage.calls, answer.usage.tokens_in, answer.usage.tokens_out) == (1, 11, 7)
    assert answer.usage.seconds > 0
    assert tracker.usage.tokens_out == 7


def test_reasoning_counts_as_output(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    if protocol.provider == "openai":  # a gateway that leaves reasoning out of one number, and not of the other
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 118}
    else:
        usage = {"input_tokens": 4, "cache_read_input_tokens": 7, "output_tokens": 107}
    server.always = lambda _: Say(protocol.good(usage=usage))
    found = ask(client, protocol.spec(server)).usage
    assert (found.tokens_in, found.tokens_out) == (11, 107)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": -3, "input_tokens": "many"}, [1], {"output_tokens": True}]
)
def test_tokens_that_nobody_counts_are_estimated(
    usage: object, protocol: Protocol, server: Scripted, client: ChatClient
) -> None:
    server.always = lambda _: Say(protocol.good("x" * 80, usage=usage))
    answer = ask(client, protocol.spec(server), user("y" * 400))
    assert not answer.counted
    assert (answer.usage.tokens_in, answer.usage.tokens_out) == (100, 20)


def test_a_fake_says_so(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.script = [
        Say(protocol.good(model="reviewgauge-fake")),
        Say(protocol.good(system_fingerprint="reviewgauge-fake-1")),
    ]
    for text in ("one", "two"):
        with track_usage() as tracker:
            assert ask(client, protocol.spec(server), user(text)).fake
        assert tracker.fake


def test_half_characters_are_replaced(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    body = json.dumps(protocol.good("a\ud800b\x00")).encode()
    server.script = [Say(body)]
    assert ask(client, protocol.spec(server)).text == "a\N{REPLACEMENT CHARACTER}b\x00"


def test_text_in_parts(server: Scripted, protocol: Protocol, client: ChatClient) -> None:
    parts = [{"type": "text", "text": "y"}, {"type": "thinking", "thinking": "no"}, {"type": "text", "text": "es"}]
    good = protocol.good(parts) if protocol.provider == "openai" else protocol.good(content=parts)  # type: ignore[arg-type]
    server.script = [Say(good)]
    assert ask(client, protocol.spec(server)).text == "yes"


def test_without_a_key_nothing_of_the_environment_is_sent(
    protocol: Protocol, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(protocol.variable)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Gateway: also-secret")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-secret")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "admin-secret")
    with ChatClient(ChatSettings(cache=False)) as client:
        assert ask(client, protocol.spec(server)).text == "yes"
    assert "secret" not in str(server.asked[0].headers)
    assert "authorization" not in server.asked[0].headers


def test_the_address_of_the_environment_is_used(
    protocol: Protocol, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = protocol.spec(server).partition("@")[2]
    monkeypatch.setenv(protocol.variable.replace("API_KEY", "BASE_URL"), address)
    with ChatClient(ChatSettings(cache=False)) as client:
        assert ask(client, f"{protocol.provider}:m").text == "yes"
    assert KEY in server.asked[0].headers["authorization"]


def test_behind_a_proxy_calls_go_through_it(
    protocol: Protocol, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    monkeypatch.setenv("no_proxy", "")
    with ChatClient(ChatSettings(cache=False, patience=0.002)) as client:
        assert ask(client, f"{protocol.provider}:m@http://model.invalid/v1").text == "yes"
    assert server.asked[0].path.startswith("http://model.invalid/v1/")
    assert "authorization" not in server.asked[0].headers  # plain http to another machine


def test_a_parameter_that_the_protocol_does_not_have_is_refused_before_any_call(client: ChatClient) -> None:
    with pytest.raises(UserError, match="no seed"):
        client.model("anthropic:claude-sonnet-4-5?seed=1")


def test_older_models_think_by_budget(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    if protocol.provider == "openai":
        pytest.skip("Anthropic's protocol alone has a budget")
    spec = protocol.spec(server, "?reasoning=medium&max_tokens=4096").replace(":m@", ":claude-sonnet-4-5@")
    ask(client, spec)
    assert server.bodies[0]["thinking"] == {"type": "enabled", "budget_tokens": 2048}
