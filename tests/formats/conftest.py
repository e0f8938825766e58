"""A small real repository with one change, which the fixtures of all formats are about."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from git_project import commit
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Change, Side
from reviewgauge.repo.diff.anchors import anchor_all
from reviewgauge.repo.git.repository import Repository, code_reader

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
    "src/app.py": ["import os", "", "", "def load(path):", "    handle = open(path)", "    data = handle.read()",
        "    return eval(data)", "", "", "def total(items):", "    amount = 0", "    for i in range(len(items) + 1):",
        "        amount += items[i]", "    return amount"],
    "src/new_name.py": [*FILLER[:4], "LIMIT = 11", *FILLER[5:], "LIMIT = 10"],
    "lib/prüf liste.py": ["def check(x):", "    é = 1; import sys", "    return x == None"],
    "untouched.py": ["VALUE = 1"],
    "web ui/cart.js": ["const a = 1;", "", "export function same(x, y) {", "  let limit = 3;", "  return x == y;", "}"],
}  # fmt: skip


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


def _text(lines: list[str]) -> str:
    return "\n".join([*lines, ""])


def build(folder: Path) -> Shop:
    """The repository in `folder`."""
    base = commit(folder, {name: _text(lines) for name, lines in BASE.items()})
    gone = dict.fromkeys(BASE.keys() - HEAD.keys())
    head = commit(folder, gone | {name: _text(lines) for name, lines in HEAD.items()})
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
