"""A forge that says what a test tells it to, over real HTTP, and a client whose clock leaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fake_clock import LeapingClock
from reviewgauge.forges.github import Github
from reviewgauge.repo.forge.client import Forge
from scripted_endpoint import Say, Scripted
from scripted_forge import TOKEN

Opened = Callable[..., Forge]


@pytest.fixture
def server() -> Iterator[Scripted]:
    made = Scripted(lambda _: Say(b'{"items": []}'))  # an object, and a page without items
    yield made
    made.stop()


@pytest.fixture
def clock() -> LeapingClock:
    return LeapingClock()


@pytest.fixture
def opened(server: Scripted, clock: LeapingClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    forges: list[Forge] = []

    def make(folder: str = "forge", api: str = "", progress: object = None) -> Forge:
        forges.append(Forge(tmp_path / folder, Github(), api=api or server.url, clock=clock, progress=progress))  # type: ignore[arg-type]
        return forges[-1]

    yield make
    for forge in forges:
        forge.close()


@pytest.fixture
def forge(opened: Opened) -> Forge:
    return opened()
