"""A small real repository with one change, which the fixtures of all formats are about."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Change, Side
from reviewgauge.repo.diff.anchors import anchor_all, code_reader
from reviewgauge.repo.git.repository import Repository

FIXTURES = Path(__file__).parent / "fixtures"
ROOT = "/home/dev/shop"  # where the fixtures' tools ran
FILLER = [f"# rule {n}" for n in range(1, 41)]
BASE = {
    "src/app.py": ["def load(path):", "    return path", "", "", "def total(items):", "    return sum(items)"],
    "src/old_name.py": [*FILLER, "LIMIT = 10"],
    "lib/prüf liste.py": ["def check(x):", "    return x is None"],
    "gone.py": ["def unused():", "    pass"],
    "untouched.py": ["VALUE = 1"],
}
HEAD = {
    "src/app.py": [
        "import os",
        "",
        "",
        "def load(path):",
        "    handle = open(path)",
        "    data = handle.read()",
        "    return eval(data)",
        "",
        "",
        "def total(items):",
        "    amount = 0",
        "    for i in range(len(items) + 1):",
        "        amount += items[i]",
        "    return amount",
    ],
    "src/new_name.py": [*FILLER[:4], "LIMIT = 11", *FILLER[5:], "LIMIT = 10"],
    "lib/prüf liste.py": ["def check(x):", "    é = 1; import sys", "    return x == None"],
    "untouched.py": ["VALUE = 1"],
    "web ui/cart.js": ["const a = 1;", "", "export function same(x, y) {", "  let limit = 3;", "  return x == y;", "}"],
}


class Shop(NamedTuple):
    """The change and where its repository is."""

    change: Change
    folder: Path

    def places(self, parsed: Parsed) -> list[tuple[str | None, int | None, int | None, str]]:
        """(path, start, end, anchoring) of each comment, anchored."""
        found = anchor_all(parsed.comments, self.change, parsed.root, code_reader(self.change))
        return [
            (
                c.span.path if c.span else None,
                c.span.start if c.span else None,
                c.span.end if c.span else None,
                f"{c.anchoring}" + (" old" if c.span and c.span.side is Side.OLD else ""),
            )
            for c in found
        ]


def _write(folder: Path, files: dict[str, list[str]]) -> None:
    for name, lines in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join([*lines, ""]), encoding="utf-8")


def build(folder: Path) -> Shop:
    """The repository in `folder`."""
    folder.mkdir(parents=True)
    identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    config = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*args: str) -> str:
        done = subprocess.run(
            ["git", *args], cwd=folder, env=os.environ | identity | config, capture_output=True, check=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    commits: list[str] = []
    for files in (BASE, HEAD):
        if commits:
            for name in BASE:
                (folder / name).unlink()
        _write(folder, files)
        git("add", "-A")
        git("commit", "-q", "-m", "a change")
        commits.append(git("rev-parse", "HEAD"))
    base, head = commits
    change = Change(
        repo="shop",
        base=base,
        head=head,
        url="https://github.com/acme/shop/pull/7",
        files=Repository(folder).changed_files(base, head),
        git=str(folder / ".git"),
    )
    return Shop(change, folder)


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return build(tmp_path_factory.mktemp("formats") / "shop")


def read(form: Format, name: str) -> list[Parsed]:
    """A fixture, read."""
    return form.read((FIXTURES / name).read_bytes(), name)
