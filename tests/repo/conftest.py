"""Real git repositories for the tests of this unit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.invalid",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.invalid",
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
}

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Runs git, as a developer would, in a fresh repository at tmp_path / "repo"."""
    folder = tmp_path / "repo"
    folder.mkdir()

    def call(*args: str) -> str:
        done = subprocess.run(
            ["git", *args], cwd=folder, env=os.environ | IDENTITY, capture_output=True, check=True, text=True
        )
        return done.stdout.strip()

    call("init", "-q", "-b", "main")
    return call


@pytest.fixture
def commit(git: Git) -> Callable[[], str]:
    """Commits everything and returns the id."""

    def make() -> str:
        git("add", "-A", "-f")
        git("commit", "-q", "--allow-empty", "-m", "a change")
        return git("rev-parse", "HEAD")

    return make
