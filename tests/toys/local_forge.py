"""A forge for tests: real git repositories behind a real git server on the loopback interface."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from git_project import head, run_git
from reviewgauge.core.records import Case, Change
from waiting import until

PEOPLE = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "n"), ("EMAIL", "e@example.org"))
}


def git(folder: Path, *args: str) -> str:
    return run_git(folder, *args, env=PEOPLE)


def commit(folder: Path, message: str, **files: str) -> str:
    for name, content in files.items():
        (folder / f"{name}.py").write_text(content)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message, "--allow-empty")
    return head(folder)


class Forge:
    """Real repositories behind a real git server on the loopback interface."""

    def __init__(self, root: Path) -> None:
        self.root = root
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.server: subprocess.Popen[bytes] | None = None
        self.merge_bases: dict[str, str] = {}

    @property
    def url(self) -> str:
        return f"git://127.0.0.1:{self.port}"

    def start(self) -> None:
        program = Path(git(self.root, "--exec-path")) / "git-daemon"
        if not program.exists():
            pytest.skip("git daemon is not installed: no real git server to fetch from")
        options = [f"--base-path={self.root}", "--export-all", "--listen=127.0.0.1", f"--port={self.port}"]
        self.server = subprocess.Popen([program, *options, "--reuseaddr"], stderr=subprocess.DEVNULL)
        until(self._listens, self.server)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        if self.server is not None:
            self.server.kill()
            self.server.wait()
            self.server = None

    def add(self, repo: str, main_moves: int = 3) -> Case:
        """A repository where a pull request and the main branch went on from one commit."""
        folder = self.root / f"{repo}.git"
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "-b", "main")
        git(folder, "config", "uploadpack.allowFilter", "true")
        git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
        start = commit(folder, "start", a="one\ntwo\nthree\n", gone="x = 1\ny = 2\nz = 3\n", untouched=f"# {repo}\n")
        git(folder, "checkout", "-qb", "feature")
        (folder / "gone.py").rename(folder / "moved.py")
        head = commit(folder, "feature", a="one\nTWO\nthree\n", new="print()\n")
        git(folder, "checkout", "-q", "main")
        base = start
        for n in range(main_moves):
            base = commit(folder, f"main {n}", main=f"n = {n}\n")
        git(folder, "branch", "-qD", "feature")  # as on a forge: no branch holds the head any more
        git(folder, "update-ref", "refs/pull/1/head", head)
        case = Case(id=f"{repo}#1", change=Change(repo=repo, base=base, head=head))
        self.merge_bases[case.id] = start
        return case


@contextmanager
def serve(root: Path) -> Iterator[Forge]:
    """A running forge with its repositories below `root`."""
    root.mkdir()
    made = Forge(root)
    made.start()
    try:
        yield made
    finally:
        made.stop()
