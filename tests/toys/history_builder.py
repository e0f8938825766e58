"""A repository that is told commit by commit with messages and days, for the tests of what reads changes and fixes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from git_project import Files, head, run_git, write_files
from reviewgauge.repo.git.repository import Repository

BEGIN = datetime(2020, 1, 1, 12, tzinfo=UTC)
ADA = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.invalid"))
}


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
        return run_git(self.folder, *args, date=date, env=ADA | dict(env or {}))

    def commit(self, message: str, files: Files, days: float = 1) -> str:
        """Write files (None deletes one) and commit; the commit's id."""
        self.day += days
        write_files(self.folder, files)
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
        return head(self.folder)

    def branch(self, name: str) -> None:
        """Go on a new branch from here."""
        self.git("checkout", "-q", "-b", name)

    def merge(self, *names: str, message: str, into: str = "main", days: float = 1) -> str:
        """Merge branches without fast-forward; the merge's id."""
        self.day += days
        self.git("checkout", "-q", into)
        self.git("merge", "-q", "--no-ff", "-m", message, *names)
        return head(self.folder)

    def quiet(self, days: float) -> str:
        """A commit `days` later that changes nothing that matters: so long was the history watched."""
        return self.commit("watch", {"notes.txt": f"{self.day}\n"}, days)
