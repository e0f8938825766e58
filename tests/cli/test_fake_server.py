"""`reviewgauge fake-server` as a user runs it: an address, a model behind it, Ctrl-C, a summary."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from typing import IO

import pytest

from reviewgauge.api.fake_server import fake_server
from reviewgauge.cli.main import main

pytestmark = pytest.mark.processes

COMMAND = [sys.executable, "-m", "reviewgauge", "fake-server"]


def address(lines: IO[str]) -> str:
    found = re.match(r"listening on (http://127\.0\.0\.1:\d+) ", lines.readline())
    assert found is not None
    return found[1]


def ask(url: str) -> str:
    body = json.dumps({"model": "fake", "messages": [{"role": "user", "content": "hello"}]}).encode()
    request = urllib.request.Request(f"{url}/v1/chat/completions", data=body)
    with urllib.request.urlopen(request) as reply:
        return str(json.load(reply)["choices"][0]["message"]["content"])


def test_it_serves_until_interrupted_and_sums_up() -> None:
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = address(server.stdout)
        shown = [server.stdout.readline() for _ in range(4)]
        assert f"  openai:fake@{url}/v1\n" in shown
        assert f"  anthropic:fake@{url}\n" in shown
        assert "fake model" in ask(url)
        server.send_signal(signal.SIGINT)
        assert server.stdout.read() == "1 calls, 1 answered, at most 1 at the same time\n"
        assert server.wait() == 0


def test_json_is_all_of_the_output() -> None:
    command = [*COMMAND, "--json", "--fail", "empty"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert server.stdout is not None
        url = address(server.stderr)
        assert ask(url) == ""
        server.send_signal(signal.SIGTERM)
        result = json.loads(server.stdout.read())
    assert result["faults"] == {"empty": 1}
    assert result["openai"] == f"openai:fake@{url}/v1"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fail", "sabotage:0.1"], "unknown fault 'sabotage'"),
        (["--fail", "429:0.7,500:0.7"], "add up to 1.4"),
        (["--latency", "slow"], "'slow' is not a valid latency"),
        (["--model", "clever"], "no behaviour 'clever'"),
    ],
)
def test_bad_options_are_one_line(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fake-server", *options]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_the_function_is_a_context() -> None:
    with fake_server(fail="refuse") as server:
        assert server.spec() == f"openai:fake@{server.url}/v1"
        assert server.spec("fake-noisy", "anthropic") == f"anthropic:fake-noisy@{server.url}"
        ask(server.url)
        assert server.stats()["faults"] == {"refuse": 1}
