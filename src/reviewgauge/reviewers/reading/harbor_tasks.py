"""How Harbor calls our cases, and the digest by which it knows a task.

Source: Harbor 0.25, `constants.py` (names) and `publisher/packager.py` (digests).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from reviewgauge.core.files import files_below, plain_file, read_file

_ODD = re.compile(r"[^A-Za-z0-9._-]+|\.\.+")


def task_names(cases: Iterable[str]) -> Iterator[str]:
    """The name of each case's task, in their order: its letters and digits, numbered where two are the same."""
    taken: set[str] = set()
    for case in cases:
        name = plain = _ODD.sub("-", case).strip("-._")[:100] or "case"
        number = 1
        while name.lower() in taken:  # a disk may take A and a for one
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.lower())
        yield name


def digest_of(task: Path) -> str:
    """The digest of a task's folder, as `dataset.toml` and the lock of a trial have it."""
    whole = hashlib.sha256()
    found = {file.relative_to(task).as_posix(): file for file in files_below(task)}
    for name in sorted(found):
        whole.update(f"{name}\0{hashlib.sha256(read_file(plain_file(found[name]))).hexdigest()}\n".encode())
    return f"sha256:{whole.hexdigest()}"
