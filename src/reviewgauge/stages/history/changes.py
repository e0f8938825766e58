"""The changes of a history on disk while a build looks at them twice: first for fixes, then one by one as cases."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from reviewgauge.repo.history.commits import Commit
from reviewgauge.repo.history.fix_messages import LONGEST_READ, FixKind, FixSigns, read_message
from reviewgauge.repo.history.landed_changes import LandedChange, MergeKind

_REVERT_TEMPLATE = re.compile(
    r"this reverts (?:commit|merge)s? [0-9a-f]+[^\n]*|^revert\w*[^\n]*", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class FoundFix:
    """A change that fixes, or may fix, something. `commit` brought it in and has no message here.

    `number` is its own number, `reverted` that of the change that it reverts. `explained`: it says why.
    """

    number: int
    commit: Commit
    kind: FixKind
    is_revert: bool
    reverted: int | None
    explained: bool


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
        shortened = change.commit.model_copy(update={"message": change.commit.message[:LONGEST_READ]})
        self._file.write(change.model_copy(update={"commit": shortened}).to_line())
        for commit in (*change.commits, change.commit.id):
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
        return LandedChange.model_validate_json(self._file.readline())

    def __iter__(self) -> Iterator[LandedChange]:
        return (self.get(number) for number in range(len(self._starts)))

    def found_fix(self, number: int, change: LandedChange, signs: FixSigns) -> FoundFix | None:
        """The fix that a change is by its `signs`; None where it is not one. Only earlier changes can be reverted."""
        if signs.kind is FixKind.NO:
            return None
        own_words = re.findall(r"\w+", _REVERT_TEMPLATE.sub("", change.description))
        return FoundFix(
            number=number,
            commit=change.commit.model_copy(update={"message": ""}),
            kind=signs.kind,
            is_revert=signs.is_revert,
            reverted=next((owner for c in signs.reverts if (owner := self.owner_of_short(c)) is not None), None),
            explained=len(own_words) >= 4,
        )


def read_signs(change: LandedChange) -> FixSigns:
    """The signs of a fix in a change: by the title of its pull request or its own message, whichever is surer.

    A branch of several commits is read by the merge's title, and where that has none by its first commit: what it
    corrected along the way was often its own.
    """
    landed = read_message(change.commit.message)
    if change.landing is not MergeKind.MERGE:
        return landed
    own = read_message(f"{change.title}\n\n{change.description}")
    if landed.reason == "no bug fix: merge of lines" or not _has_title(change.commit.message):
        return own
    rank = {FixKind.YES: 2, FixKind.PERHAPS: 1, FixKind.NO: 0}
    if len(change.commits) == 1 and not landed.reason.startswith("no bug fix"):
        return max(landed, own, key=lambda signs: rank[signs.kind])
    return landed


def _has_title(message: str) -> bool:
    """Whether a merge's message says more than which branch was merged."""
    return len(message.strip().split("\n\n", 1)) == 2


def fix_text(change: LandedChange) -> str:
    """The text of a fix, for people: the title of its pull request or its own, and its description."""
    title, message = change.title, change.commit.message
    if change.landing is MergeKind.MERGE and _has_title(message):
        pull_title = message.strip().split("\n\n", 1)[1].strip().split("\n")[0].strip()
        title = pull_title if len(pull_title) > len(title) or len(change.commits) > 1 else title
    return f"{title}\n\n{change.description}".strip()
