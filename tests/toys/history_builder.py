"""A repository that is told commit by commit with messages and days, for the tests of what reads changes and fixes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reviewgauge.repo.git.repository import Repository

BEGIN = datetime(2020, 1, 1, 12, tzinfo=UTC)
Files = Mapping[str, str | bytes | None]


class Told:
    """A repository on branch main; every commit is one day after the one before, unless `days` says otherwise."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.day = 0.0
        self.git("init", "-q", "-b", "main")

    @property
    def repository(self) -> Repository:
        return Repository(self.folder)

    def git(self, *args: str, env: Mapping[str, str] | None = None) -> str:
        """Git as a developer runs it, on the day of the story."""
        date = (BEGIN + timedelta(days=self.day)).isoformat()
        people = {f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")}
        people |= {f"GIT_{who}_EMAIL": "ada@example.invalid" for who in ("AUTHOR", "COMMITTER")}
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        everything = os.environ | people | quiet | dates | dict(env or {})
        done = subprocess.run(["git", *args], cwd=self.folder, env=everything, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return done.stdout.decode("utf-8", "replace").strip()

    def commit(self, message: str, files: Files, days: float = 1) -> str:
        """Write files (None deletes one) and commit; the commit's id."""
        self.day += days
        for name, content in files.items():
            target = self.folder / name
            if content is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str) -> None:
        """Go on a new branch from here."""
        self.git("checkout", "-q", "-b", name)

    def merge(self, *names: str, message: str, into: str = "main", days: float = 1) -> str:
        """Merge branches without fast-forward; the merge's id."""
        self.day += days
        self.git("checkout", "-q", into)
        self.git("merge", "-q", "--no-ff", "-m", message, *names)
        return self.git("rev-parse", "HEAD")

    def quiet(self, days: float) -> str:
        """A commit `days` later that changes nothing that matters: so long was the history watched."""
        return self.commit("watch", {"notes.txt": f"{self.day}\n"}, days)
