"""Histories that are told commit by commit, one a day, for the tests of SZZ."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from git_project import Files, head, run_git, write_files
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.szz.trace import Fix, SzzSettings, Trace, trace

BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
SOMEBODY = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class Story:
    """A repository that grows by one commit a day."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.day = 0
        self.git("init", "-q", "-b", "main")

    @property
    def repository(self) -> Repository:
        return Repository(self.folder)

    def git(self, *args: str, day: int | None = None) -> str:
        """Git as a developer runs it, on a day of the story."""
        date = (BEGIN + timedelta(days=self.day if day is None else day)).isoformat()
        return run_git(self.folder, *args, date=date, env=SOMEBODY)

    def write(self, files: Files) -> None:
        """Write files; None deletes one."""
        write_files(self.folder, files)

    def commit(self, files: Files, *, day: int | None = None) -> str:
        """Write and commit files; the commit's id."""
        self.write(files)
        self.day += 1
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", "a change", day=day)
        return head(self.folder)

    def merge(self, branch: str, files: Files) -> str:
        """Merge a branch with what the files say as the result; the merge's id."""
        self.day += 1
        self.git("merge", "-q", "--no-ff", "--no-commit", "-s", "ours", branch)
        self.write(files)
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "-m", "a merge")
        return head(self.folder)

    def trace(self, fix: str | Fix, variant: str = "ma", **settings: object) -> Trace:
        """The trace of a fix."""
        return trace(self.repository, fix, SzzSettings(variant, **settings))  # type: ignore[arg-type]

    def blames(self, fix: str | Fix, variant: str = "ma", **settings: object) -> set[str]:
        """The inducing commits of a fix."""
        return set(self.trace(fix, variant, **settings).commits)


def reasons(found: Trace) -> list[str]:
    """Why lines, files or the fix were skipped, each once."""
    return sorted({drop.reason for drop in found.skipped})
