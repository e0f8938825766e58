"""Which files a suggestion may edit: code of the repository, and nothing that decides how that code is judged."""

from __future__ import annotations

import shlex
from collections.abc import Container
from itertools import pairwise

from reviewgauge.repo.diff.edits import Refusal
from reviewgauge.repo.git.repository import is_sound
from reviewgauge.repo.syntax.languages import is_test
from reviewgauge.repo.tables import read_table

_TABLE: dict[str, list[str]] = read_table(__package__, "refused")


def check_path(path: str, tests: Container[str], command: str, *, creates: bool) -> None:
    """Raise Refusal for a path outside of the repository, a test, one of `tests`, or what runs them.

    `creates`: the file is a new one, which must not stand in the way of the module that `python -m` runs.
    """
    if not is_sound(path) or path.startswith(("/", "~")) or "\\" in path or ":" in path:
        raise Refusal("leaves the repository", path)
    *folders, name = path.split("/")
    if path in tests or is_test(path) or name == "conftest.py":
        raise Refusal("edits tests", path)
    named = name in _TABLE["names"] or name.startswith(tuple(_TABLE["beginnings"]))
    if named or name.endswith(tuple(_TABLE["endings"])) or set(folders) & set(_TABLE["folders"]):
        raise Refusal("edits what runs the tests", path)
    words = shlex.split(command)
    shadows = creates and ["-m", folders[0] if folders else name.removesuffix(".py")] in map(list, pairwise(words))
    if shadows or any(word.removeprefix("./") == path for word in words):
        raise Refusal("edits the test command", path)
