"""Fixtures of the tests that go through the client to a scripted endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.model_spec import ChatSettings
from scripted_endpoint import KEY, Anthropic, OpenAI, Protocol, Say, Scripted


@pytest.fixture
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=[OpenAI(), Anthropic()], ids=["openai", "anthropic"])
def protocol(request: pytest.FixtureRequest) -> Protocol:
    made: Protocol = request.param
    return made


@pytest.fixture
def server(protocol: Protocol) -> Iterator[Scripted]:
    made = Scripted(lambda _: Say(protocol.good()))
    yield made
    made.stop()


@pytest.fixture
def client() -> Iterator[ChatClient]:
    with ChatClient(ChatSettings(cache=False, patience=0.002)) as opened:
        yield opened
