"""Pull requests that grow in a real repository, commit by commit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from git_project import commit, head, run_git
from pull_toys import ANN, thread
from reviewgauge.core.pull_requests import PullCommit, PullRequest, Revision, Thread
from reviewgauge.stages.pull_requests.adoption import adoptions

BASE = [f"line {n}" for n in range(1, 31)]
ADDED = ["def f(x):", "    y = x + 1", "    z = open(x)", "    return y", ""]
FIRST = [*BASE[:10], *ADDED, *BASE[10:]]  # the pull request adds lines 11 to 15


def text(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def swapped(lines: list[str], **swaps: str) -> str:
    """The lines, with some replaced: `n13="..."`."""
    return text(*(swaps.get(f"n{n}", line) for n, line in enumerate(lines, 1)))


class Story:
    """A repository with a pull request in it."""

    def __init__(self, folder: Path, first: str = "", base: str = "") -> None:
        self.folder = folder
        self.base = commit(folder, {"a.py": base or text(*BASE), "b.py": "b\n"})
        run_git(folder, "checkout", "-q", "-b", "topic")
        self.heads = [commit(folder, {"a.py": first or text(*FIRST)})]
        self.tip = self.base

    def push(self, files: Mapping[str, str | bytes | None], date: str = "") -> str:
        self.heads.append(commit(self.folder, files, date))
        return self.heads[-1]

    def main(self, files: Mapping[str, str | bytes | None]) -> None:
        """A commit on the base branch."""
        run_git(self.folder, "checkout", "-q", "main")
        self.tip = commit(self.folder, files)
        run_git(self.folder, "checkout", "-q", "topic")

    def merge_main(self) -> None:
        run_git(self.folder, "merge", "-q", "--no-edit", "main")
        self.heads.append(head(self.folder))

    def rebase(self) -> None:
        run_git(self.folder, "rebase", "-q", "main")
        self.heads.append(head(self.folder))

    def pull(self, *threads: Thread, seen: int = 1) -> PullRequest:
        """The pull request; of its states, the first `seen` and the last were looked at."""
        heads = [*self.heads[:seen], self.heads[-1]]
        return PullRequest(
            repo="acme/shop",
            number=1,
            author=ANN,
            base=self.tip,
            head=self.heads[-1],
            revisions=tuple(Revision(head=head) for head in dict.fromkeys(heads)),
            commits=tuple(PullCommit(id=head, message=f"Commit {n}") for n, head in enumerate(self.heads)),
            threads=tuple(one.model_copy(update={"commit": one.commit or self.heads[0]}) for one in threads),
            git=str(self.folder),
        )

    def changed(self, *threads: Thread, seen: int = 1) -> list[bool | None]:
        found = adoptions(self.pull(*threads, seen=seen))
        return [one.changed if one is not None else None for one in found.values()]


def on(line: int, name: str = "t", **more: Any) -> Thread:
    return thread(name, line=line, **more)
