"""The changes of a history on disk while a build looks at them twice: first for fixes, then one by one as cases."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from reviewgauge.repo.history.fix_messages import FixKind, Reading, read_message
from reviewgauge.repo.history.landed_changes import LandedChange, MergeKind


class ChangeStore:
    """Changes in the order in which they landed, in a file; in memory is only which change a commit belongs to.

    The file has no name and lies on the disk of `folder`: that of temporary files may be small.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by __exit__
        self._owner: dict[bytes, int] = {}
        self._starts: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, change: LandedChange) -> int:
        """Keep `change`; its number, counted from 0."""
        number = len(self._starts)
        self._starts.append(self._file.seek(0, 2))
        self._file.write(_line(change))
        for commit in (*change.commits, change.landed):
            self._owner.setdefault(bytes.fromhex(commit), number)
        return number

    def owner(self, commit: str) -> int | None:
        """The number of the change that `commit` belongs to, None when it came in by none."""
        return self._owner.get(bytes.fromhex(commit))

    def owner_of_short(self, commit: str) -> int | None:
        """As `owner`, for an id of which only the beginning is given; None when it is not unique."""
        if len(commit) in (40, 64):
            return self.owner(commit)
        found = {number for full, number in self._owner.items() if full.hex().startswith(commit)}
        return found.pop() if len(found) == 1 else None

    def get(self, number: int) -> LandedChange:
        """The change of that number."""
        self._file.seek(self._starts[number])
        return _read(self._file.readline())

    def __iter__(self) -> Iterator[LandedChange]:
        return (self.get(number) for number in range(len(self._starts)))


def _line(change: LandedChange) -> bytes:
    return (
        json.dumps(
            {
                "landing": change.landing.value,
                "landed": change.landed,
                "landed_at": change.landed_at.timestamp(),
                "base": change.base,
                "head": change.head,
                "commits": change.commits,
                "title": change.title,
                "description": change.description,
                "authored": change.authored.timestamp(),
                "message": change.message[:20_000],
            }
        ).encode()
        + b"\n"
    )


def _read(line: bytes) -> LandedChange:
    row = json.loads(line)
    return LandedChange(
        landing=MergeKind(row["landing"]),
        landed=row["landed"],
        landed_at=datetime.fromtimestamp(row["landed_at"], UTC),
        base=row["base"],
        head=row["head"],
        commits=tuple(row["commits"]),
        title=row["title"],
        description=row["description"],
        authored=datetime.fromtimestamp(row["authored"], UTC),
        message=row["message"],
    )


def read_change(change: LandedChange) -> Reading:
    """What a change says about mending: by the title of its pull request or its own message, whichever is surer.

    A branch of several commits is read by the merge's title, and where that has none by its first commit: what it put
    right along the way was often its own.
    """
    landed = read_message(change.message)
    if change.landing is not MergeKind.MERGE:
        return landed
    own = read_message(f"{change.title}\n\n{change.description}")
    named = landed.reason != "no bug fix: merge of lines" and _has_title(change.message)
    if not named:
        return own
    rank = {FixKind.YES: 2, FixKind.PERHAPS: 1, FixKind.NO: 0}
    if len(change.commits) == 1 and not landed.reason.startswith("no bug fix"):
        return max(landed, own, key=lambda reading: rank[reading.mending])
    return landed


def _has_title(message: str) -> bool:
    """Whether a merge's message says more than which branch was merged."""
    return len(message.strip().split("\n\n", 1)) == 2


def fix_text(change: LandedChange) -> str:
    """What a fix says of itself, for people: the title of its pull request or its own, and its description."""
    title = change.title
    if change.landing is MergeKind.MERGE and _has_title(change.message):
        told = change.message.strip().split("\n\n", 1)[1].strip().split("\n")[0].strip()
        title = told if len(told) > len(title) or len(change.commits) > 1 else title
    return f"{title}\n\n{change.description}".strip()
