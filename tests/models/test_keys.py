"""Keys and addresses that cannot be used: said by their variable, before a call, and never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.messages import Request, user
from reviewgauge.models.request.model_spec import parse_model
from scripted_endpoint import KEY, OpenAI, Protocol, Scripted

pytestmark = pytest.mark.usefixtures("own_environment")
HI = Request(messages=(user("Say yes."),))
ADDRESSES = [
    "ftp://x", "localhost:8000/v1", "http://", "http://[", "http://h:99999/v1", "http://u:p@h/v1", "http://h/v1#key",
    "http://h/v1?key=1", "http://a b/v1",
]  # fmt: skip


def variable(protocol: Protocol, what: str) -> str:
    return f"{'OPENAI' if isinstance(protocol, OpenAI) else 'ANTHROPIC'}_{what}"


@pytest.mark.parametrize(("key", "what"), [
    ("schlüssel✓", "character 5 is"),
    ("sk-first\nsk-second", "character 9 is"),
    ("sk-first\r\nX-Evil: 1", "character 9 is"),
    ("sk-first second", "character 9 is"),
    ("sk-first\x07", "character 9 is"),
])  # fmt: skip
def test_a_key_that_no_header_can_hold(
    key: str, what: str, protocol: Protocol, server: Scripted, client: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = variable(protocol, "API_KEY")
    monkeypatch.setenv(name, key)
    with pytest.raises(Failed, match=f"{name} is not a valid API key: {what}") as caught:
        client.model(protocol.spec(server)).ask(HI)
    assert caught.value.kind is FailureKind.REQUEST and caught.value.stops
    assert key not in str(caught.value) and not server.asked


def test_the_line_break_at_the_end_of_a_key_is_no_part_of_it(
    protocol: Protocol, server: Scripted, client: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable(protocol, "API_KEY"), f"{KEY}\n")
    assert client.model(protocol.spec(server)).ask(HI).text == "yes"
    assert hide_secrets(f"you sent {KEY}.") == "you sent ***."


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_in_the_environment_that_is_none(
    address: str, protocol: Protocol, client: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = variable(protocol, "BASE_URL")
    monkeypatch.setenv(name, address)
    with pytest.raises(Failed, match=f"{name} is not an http or https address.*export {name}=") as caught:
        client.model("openai:m" if isinstance(protocol, OpenAI) else "anthropic:m").ask(HI)
    assert caught.value.stops


@pytest.mark.parametrize("address", ["http://[", "http://h:99999/v1", "http://h:x/v1"])
def test_an_address_in_a_spec_that_is_none(address: str) -> None:
    with pytest.raises(UserError, match="is not an http or https address"):
        parse_model(f"openai:m@{address}")


def test_the_command_line_ends_with_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", "ftp://x")
    assert main(["review", "sample", "prompt(model='openai:m')", "-o", "run"]) == 2
    assert "OPENAI_BASE_URL is not an http or https address" in capsys.readouterr().err
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setenv("OPENAI_API_KEY", "schlüssel✓")
    assert main(["review", "sample", "prompt(model='openai:m')", "-o", "run"]) == 2
    said = capsys.readouterr()
    assert "OPENAI_API_KEY is not a valid API key" in said.err and "crash" not in said.err + said.out
    assert "schlüssel" not in said.err + said.out


@pytest.mark.parametrize("words", [
    ["review", "sample", f"prompt(model='openai:m@http://HOST/v1/{KEY}')", "-o", "run"],
    ["review", "sample", f"prompt(model='openai:{KEY}')", "-o", "run"],
    ["score", "old", f"hits(judge='openai:m@http://HOST/v1/{KEY}')"],
    ["validate", "old", f"openai:m@http://HOST/v1/{KEY}"],
    ["score", "old", "--labels", f"openai:m@http://HOST/v1/{KEY}"],
])  # fmt: skip
def test_a_model_that_holds_a_key_is_refused_before_anything_is_written(
    words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["review", "sample", "silent", "-o", "old"]) == 0
    capsys.readouterr()
    assert main(words) == 2
    said = capsys.readouterr()
    assert "the value of OPENAI_API_KEY is in" in said.err, said.err
    assert KEY not in said.out + said.err
    assert not any(KEY.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
