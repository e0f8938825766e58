"""What tests of stages share: a build's folder, a door to models that is listened at, a forge that was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recorded_forge import TOKEN, Forge
from reviewed_pulls import listening
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.models.request.messages import Call


@pytest.fixture
def context(tmp_path: Path) -> Iterator[BuildFolder]:
    """A build that has just begun."""
    made = BuildFolder(tmp_path / "bench")
    yield made
    made.close()


@pytest.fixture
def calls() -> Iterator[list[Call]]:
    """The calls of models, of which none comes from a cache."""
    with listening() as heard:
        yield heard


@pytest.fixture
def forge(running: Forge, monkeypatch: pytest.MonkeyPatch) -> Forge:
    """The forge that a file of tests runs, as if nobody had asked it yet."""
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    running.reset()
    return running
