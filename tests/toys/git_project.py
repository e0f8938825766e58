"""A real git repository with one change, for the tests of what reads code."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reviewgauge.core.records import Change
from reviewgauge.repo.git.repository import Repository

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
Files = Mapping[str, str | bytes | None]


def run_git(folder: Path, *args: str, date: str = "", env: Mapping[str, str] | None = None) -> str:
    """Git as a developer runs it; `date` is what the clock says, `env` further environment."""
    dated = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
    everything = os.environ | IDENTITY | dated | dict(env or {})
    done = subprocess.run(["git", *args], cwd=folder, env=everything, capture_output=True, check=False)
    errors = done.stderr.decode("utf-8", "replace")
    assert done.returncode == 0, f"git {args[0]} ended with {done.returncode}: {errors}"
    return done.stdout.decode("utf-8", "replace").strip()


def starts(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that repositories start from now on."""
    started: list[subprocess.Popen[bytes]] = []
    start = Repository.start

    def kept(*args: Any, **how: Any) -> subprocess.Popen[bytes]:
        started.append(start(*args, **how))
        return started[-1]

    monkeypatch.setattr(Repository, "start", kept)
    return started


def head(folder: Path) -> str:
    """The id of the commit that is checked out; read without git where a file holds it."""
    ref = (folder / ".git" / "HEAD").read_text().strip().removeprefix("ref: ")
    file = folder / ".git" / ref
    return file.read_text().strip() if file.is_file() else run_git(folder, "rev-parse", "HEAD")


def write_files(folder: Path, files: Files) -> None:
    """Write `files`; None deletes one."""
    for name, content in files.items():
        target = folder / name
        if content is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)


def commit(folder: Path, files: Files, date: str = "") -> str:
    """Write `files` (None deletes) and commit; the commit's id."""
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        run_git(folder, "init", "-q", "-b", "main")
    write_files(folder, files)
    run_git(folder, "add", "-A", "-f")
    run_git(folder, "commit", "-q", "--allow-empty", "-m", "a change", date=date)
    return head(folder)


def between(folder: Path, base: str, head: str, name: str | None = None) -> Change:
    """The change from `base` to `head`, with its patches."""
    files = Repository(folder).changed_files(base, head)
    return Change(id=name, repo="acme/shop", base=base, head=head, files=files, git=str(folder))


def make_change(folder: Path, before: Files, after: Files, name: str | None = None) -> Change:
    """The change from the files `before` to those with `after` written over them."""
    base = commit(folder, before)
    return between(folder, base, commit(folder, after), name)
