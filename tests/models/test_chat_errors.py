"""What each way of not answering becomes: the kind, the remedy, how often it was tried, and whether the run stops."""

from __future__ import annotations

import logging
import shutil
import subprocess
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.chat.client import ChatClient, track_usage
from reviewgauge.models.request.messages import Request, user
from reviewgauge.models.request.model_spec import ChatSettings
from scripted_endpoint import KEY, Asked, Protocol, Say, Scripted

pytestmark = pytest.mark.usefixtures("own_environment")
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


def ask(client: ChatClient, spec: str, text: str = "Say yes.") -> str:
    return client.model(spec).ask(Request(messages=(user(text),))).text


def failure(client: ChatClient, spec: str, text: str = "Say yes.") -> Failed:
    with pytest.raises(Failed) as caught:
        ask(client, spec, text)
    assert KEY not in str(caught.value)
    assert KEY not in str(caught.value.raw)
    return caught.value


GARBAGE = [
    Say(b'{"choices": [\xff\xfe]}'), Say(b"<html>busy</html>"), Say(b""), Say(b"[]"), Say(b'{"model": "m"}'),
    Say(b"[" * 100_000),
    Say(b'{"choices": [{"message": {"content": "y', status=200),
]  # fmt: skip


@pytest.mark.parametrize("say", GARBAGE, ids=["not utf-8", "html", "empty", "list", "no answer", "deep", "half"])
def test_garbage_is_asked_again(say: Say, protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.script = [say, say]
    assert ask(client, protocol.spec(server)) == "yes"
    assert len(server.asked) == 3


def test_garbage_for_good_is_a_network_failure(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.always = lambda _: Say(b"\xff")
    failed = failure(client, protocol.spec(server))
    assert failed.kind is FailureKind.NETWORK
    assert not failed.stops
    assert "6 tries" in str(failed)
    assert "not UTF-8" in str(failed)
    assert len(server.asked) == 6


@pytest.mark.parametrize("say", [Say(status=0), Say(b"x" * 500, cut=100)], ids=["dropped", "truncated"])
def test_a_line_that_dies_is_tried_again(say: Say, protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.script = [say]
    assert ask(client, protocol.spec(server)) == "yes"
    server.always = lambda _: say
    assert failure(client, protocol.spec(server), "again").kind is FailureKind.NETWORK


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504, 520, 529])
def test_what_may_pass_is_tried_again(status: int, protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.script = [Say(protocol.error("busy"), status=status)]
    assert ask(client, protocol.spec(server)) == "yes"


def test_an_error_inside_a_success_counts_as_one(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.script = [Say({"error": {"code": 503, "message": "upstream is busy"}}), Say({"error": "something"})]
    assert ask(client, protocol.spec(server)) == "yes"
    server.script = [Say({"error": {"code": 402, "message": "no money"}})]
    assert failure(client, protocol.spec(server), "again").kind is FailureKind.BUDGET


@pytest.mark.parametrize("after", ["0.3", "date", "ms"])
@pytest.mark.slow
def test_retry_after_is_honoured(after: str, protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    headers = {
        "0.3": {"Retry-After": "0.3"},
        "date": {"Retry-After": formatdate(time.time() + 2, usegmt=True)},
        "ms": {"retry-after-ms": "300", "Retry-After": "60"},
    }[after]
    server.script = [Say(protocol.error("slow down"), status=429, headers=headers)]
    assert ask(client, protocol.spec(server)) == "yes"
    assert server.asked[1].at - server.asked[0].at > 0.25


def test_an_absurd_retry_after_ends_the_run(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.always = lambda _: Say(protocol.error("tomorrow"), status=429, headers={"Retry-After": "12000"})
    failed = failure(client, protocol.spec(server))
    assert (failed.kind, failed.stops, len(server.asked)) == (FailureKind.NETWORK, True, 1)
    assert "3.3 hours" in str(failed)
    assert "UTC" in str(failed)


def test_too_many_requests_for_good_ends_the_run(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.always = lambda _: Say(protocol.error("slow down"), status=429, headers={"Retry-After": "0"})
    failed = failure(client, protocol.spec(server))
    assert (failed.kind, failed.stops, len(server.asked)) == (FailureKind.NETWORK, True, 20)
    assert "--rpm" in failed.remedy


def test_credit_that_is_spent_ends_the_run(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    answers = [
        Say(protocol.error("You exceeded your current quota", "insufficient_quota"), status=429),
        Say(protocol.error("Your credit balance is too low to access the API"), status=400),
        Say(protocol.error("Insufficient Balance"), status=402),
    ]
    for number, say in enumerate(answers):
        server.always = lambda _, say=say: say  # type: ignore[misc]
        failed = failure(client, protocol.spec(server), str(number))
        assert (failed.kind, failed.stops, len(server.asked)) == (FailureKind.BUDGET, True, number + 1)


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_names_its_variable(status: int, protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.always = lambda asked: Say(protocol.error(f"wrong key: {asked.headers['authorization']}"), status=status)
    failed = failure(client, protocol.spec(server))
    assert (failed.kind, failed.stops, len(server.asked)) == (FailureKind.REQUEST, True, 1)
    assert protocol.variable in str(failed)


def test_a_missing_key_names_its_variable_before_any_call(
    protocol: Protocol, client: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(protocol.variable)
    failed = failure(client, f"{protocol.provider}:m")
    assert (failed.kind, failed.stops) == (FailureKind.REQUEST, True)
    assert f"{protocol.variable} is not set" in str(failed)


def test_an_unknown_model_ends_the_run(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.always = lambda _: Say(protocol.error("model 'm' not found"), status=404)
    failed = failure(client, protocol.spec(server))
    assert (failed.kind, failed.stops, len(server.asked)) == (FailureKind.REQUEST, True, 1)
    assert "model" in failed.remedy


def test_a_redirect_is_not_followed(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.always = lambda _: Say(b"", status=307, headers={"Location": "http://127.0.0.1:1/elsewhere"})
    failed = failure(client, protocol.spec(server))
    assert (failed.kind, failed.stops, len(server.asked)) == (FailureKind.REQUEST, True, 1)
    assert "elsewhere" in str(failed)


LONG = [
    (400, "This model's maximum context length is 8192 tokens. However, you requested 9000.",
        "context_length_exceeded"),
    (400, "prompt is too long: 210000 tokens > 200000 maximum", ""),
    (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", ""),
    (413, "Request exceeds the maximum size", "request_too_large"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "words", "code"), LONG)
def test_a_prompt_that_is_too_long_says_how_long(
    status: int, words: str, code: str, protocol: Protocol, server: Scripted, client: ChatClient
) -> None:
    server.always = lambda _: Say(protocol.error(words, code, "messages"), status=status)
    failed = failure(client, protocol.spec(server), "x" * 12_345)
    assert (failed.kind, failed.stops, len(server.asked)) == (FailureKind.REQUEST, False, 1)
    assert "12,345 characters" in str(failed)


@pytest.mark.parametrize("name", ["temperature", "top_p", "top_k", "max_tokens", "reasoning"])
def test_a_refused_parameter_is_named(name: str, protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    value = {"reasoning": "low", "temperature": "0.5", "top_p": "0.5"}.get(name, "2000")
    sent = {"reasoning": "reasoning_effort" if protocol.provider == "openai" else "thinking"}.get(name, name)
    words = f"Unsupported parameter: '{sent}' is not supported with this model."
    for param in (sent, ""):
        server.always = lambda _, param=param: Say(protocol.error(words, param=param), status=400)  # type: ignore[misc]
        failed = failure(client, protocol.spec(server, f"?{name}={value}"), param)
        assert (failed.kind, failed.stops) == (FailureKind.REQUEST, True)
        assert f"does not take {name}" in str(failed)
    assert len(server.asked) == 2


def test_a_refusal_keeps_its_text_and_cost(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.always = lambda _: Say(protocol.refused())
    with track_usage() as tracker:
        failed = failure(client, protocol.spec(server))
    assert (failed.kind, failed.stops, len(server.asked)) == (FailureKind.REFUSAL, False, 1)
    assert "I cannot help with that" in str(failed)
    assert (tracker.usage.calls, tracker.usage.tokens_in, tracker.usage.tokens_out) == (1, 11, 7)
    assert client.budget.totals.tokens_out == 7


def test_a_filter_is_a_refusal(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    filtered = protocol.good(None, "content_filter" if protocol.provider == "openai" else "refusal")
    server.script = [Say(filtered)]
    assert failure(client, protocol.spec(server)).kind is FailureKind.REFUSAL
    server.script = [
        Say(protocol.error("flagged as violating our usage policy", "content_policy_violation"), status=400)
    ]
    failed = failure(client, protocol.spec(server))
    assert (failed.kind, failed.stops) == (FailureKind.REFUSAL, False)


@pytest.mark.parametrize("text", ["half an ans", ""])
def test_an_answer_that_is_cut_off_is_none(text: str, protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.always = lambda _: Say(protocol.cut_off(text))
    with track_usage() as tracker:
        failed = failure(client, protocol.spec(server, "?max_tokens=7"))
    assert (failed.kind, failed.stops, len(server.asked)) == (FailureKind.BUDGET, False, 1)
    assert "raise max_tokens, which is 7" in failed.remedy
    assert ("all of it went into reasoning" in str(failed)) == (not text)
    assert failed.raw == (text or None)
    assert (tracker.usage.tokens_out, client.budget.totals.tokens_out) == (7, 7)


def test_an_empty_answer_is_asked_for_once_more(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    server.script = [Say(protocol.good(" \n"))]
    with track_usage() as tracker:
        assert ask(client, protocol.spec(server)) == "yes"
    assert (tracker.usage.calls, tracker.usage.tokens_in) == (2, 22)  # both were paid for
    server.always = lambda _: Say(protocol.good(""))
    failed = failure(client, protocol.spec(server), "again")
    assert (failed.kind, failed.stops, len(server.asked)) == (FailureKind.UNREADABLE, False, 4)


@pytest.mark.slow
def test_an_answer_that_takes_too_long_is_tried_once_more(
    protocol: Protocol, server: Scripted, client: ChatClient
) -> None:
    server.always = lambda _: Say(b"x" * 1000, drip=0.05)
    failed = failure(client, protocol.spec(server, "?timeout=1"))
    assert (failed.kind, failed.stops, len(server.asked)) == (FailureKind.TIMEOUT, False, 2)
    assert "timeout" in failed.remedy


def until_it_stops(client: ChatClient, spec: str) -> tuple[Failed, int]:
    """The failure that ends a run that asks one thing after the other, and how many failed alone before."""
    for trial in range(40):
        failed = failure(client, spec, f"Say {trial}.")
        if failed.stops:
            return failed, trial
    raise AssertionError("it went on and on")


NO_CHOICES = Say({"id": "a", "object": "chat.completion", "choices": [], "usage": {"prompt_tokens": 1}})
PAGE = Say(b"<html><title>Sign in</title></html>", headers={"Content-Type": "text/html"})


@pytest.mark.parametrize("say", [Say(b'{"choices": "\xe9"}'), PAGE, NO_CHOICES], ids=["bytes", "page", "no choices"])
def test_an_endpoint_that_answers_rubbish_only_is_not_said_to_be_down(
    say: Say, protocol: Protocol, server: Scripted, client: ChatClient
) -> None:
    """It may bill for each, so the run ends; first some items fail on their own, with their own words."""
    server.always = lambda _: say
    alone = failure(client, protocol.spec(server), "Say it.")
    assert (alone.kind, alone.stops) == (FailureKind.NETWORK, False)
    assert "not the page of a proxy" in alone.remedy
    ended, before = until_it_stops(client, protocol.spec(server))
    assert before > 0
    assert "answers, but not in the protocol" in str(ended)
    assert "is down" not in str(ended)
    assert "ends in /v1" in ended.remedy
    assert len(server.asked) < 40


def test_nobody_there_ends_the_run_soon(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    spec = protocol.spec(server)
    server.stop()
    failed = failure(client, spec)
    assert (failed.kind, failed.stops) == (FailureKind.NETWORK, True)
    assert "cannot be reached" in str(failed)
    assert "is the address right" in failed.remedy


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate that nobody signed, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    folder = tmp_path_factory.mktemp("certificate")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "only.pem"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_bytes((folder / "key.pem").read_bytes() + (folder / "only.pem").read_bytes())
    return both


@pytest.fixture
def secure(protocol: Protocol, certificate: Path) -> Iterator[Scripted]:
    made = Scripted(lambda _: Say(protocol.good()), certificate)
    yield made
    made.stop()


@pytest.mark.slow
def test_a_certificate_that_nobody_signed(
    protocol: Protocol, secure: Scripted, certificate: Path, client: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = failure(client, protocol.spec(secure))
    assert (failed.kind, failed.stops) == (FailureKind.NETWORK, True)
    assert "SSL_CERT_FILE" in failed.remedy
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_name("only.pem")))
    with ChatClient(ChatSettings(cache=False)) as trusting:
        assert ask(trusting, protocol.spec(secure)) == "yes"  # what the remedy says does help


def test_a_schema_that_is_not_taken_is_left_out(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    def picky(asked: Asked) -> Say:
        if protocol.schema_in(asked.body) is not None:
            name = "response_format" if protocol.provider == "openai" else "output_config"
            return Say(protocol.error(f"{name} is not supported by this model"), status=400)
        return Say(protocol.good())

    server.always = picky
    model = client.model(protocol.spec(server))
    for text in ("one", "two"):
        assert model.ask(Request(messages=(user(text),), answer_schema=SCHEMA)).text == "yes"
    assert [protocol.schema_in(body) is not None for body in server.bodies] == [True, False, False]


def test_a_limit_by_another_name(protocol: Protocol, server: Scripted, client: ChatClient) -> None:
    if protocol.provider == "anthropic":
        pytest.skip("its protocol has one name")

    def picky(asked: Asked) -> Say:
        words = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        bad = Say(protocol.error(words, "unsupported_parameter", "max_tokens"), status=400)
        return bad if "max_tokens" in asked.body else Say(protocol.good())

    server.always = picky
    assert [ask(client, protocol.spec(server, "?max_tokens=50"), text) for text in ("one", "two")] == ["yes", "yes"]
    assert [body.get("max_completion_tokens") for body in server.bodies] == [None, 50, 50]


def test_the_key_stands_in_nothing_that_is_kept_or_shown(
    protocol: Protocol, server: Scripted, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def tells(asked: Asked) -> Say:
        return Say(protocol.good(f"your headers: {sorted(asked.headers.items())}"))

    server.always = tells
    kept: list[bytes] = []
    with (
        caplog.at_level(logging.DEBUG),
        ChatClient(ChatSettings(), record=lambda call: kept.append(call.to_line())) as client,
    ):
        model = client.model(protocol.spec(server))
        answer = model.ask(Request(messages=(user("hi"),)))
        shown = f"{client!r} {model!r} {answer!r} {vars(client)!r}"
    assert KEY in server.asked[0].headers["authorization"]  # it did go out
    assert "***" in answer.text
    assert KEY not in shown
    assert KEY not in caplog.text
    assert KEY.encode() not in b"".join(kept)
    for path in (tmp_path / "cache").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()
