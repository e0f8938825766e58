"""Real git repositories for the tests of this unit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from git_project import head, run_git

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Runs git, as a developer would, in a fresh repository at tmp_path / "repo"."""
    folder = tmp_path / "repo"
    folder.mkdir()

    def call(*args: str) -> str:
        return run_git(folder, *args)

    call("init", "-q", "-b", "main")
    return call


@pytest.fixture
def commit(git: Git, tmp_path: Path) -> Callable[[], str]:
    """Commits everything and returns the id."""

    def make() -> str:
        git("add", "-A", "-f")
        git("commit", "-q", "--allow-empty", "-m", "a change")
        return head(tmp_path / "repo")

    return make
