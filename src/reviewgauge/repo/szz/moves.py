"""Lines that a commit moved: deleted in one place, added in another, in the same file or in another one.

The thresholds are those of `git blame -M` and `-C`: 20 letters and digits within a file, 40 between files. White space
is not compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reviewgauge.repo.szz.diffs import FileDiff

_WITHIN, _BETWEEN = 20, 40
_ENOUGH = 400  # letters and digits; a longer block is no better evidence
_MOST_PLACES = 50  # at which one text stands; a commoner line is not evidence
_MOST_LINES = 50_000  # on one side of a commit; beyond it no move is looked for


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring lines on one side of a commit, without their white space."""

    path: str
    start: int
    lines: tuple[bytes, ...]


class _Side:
    """All that a commit deleted, or all that it added."""

    def __init__(self, files: Sequence[FileDiff], *, old: bool) -> None:
        self.runs = list(_runs(files, old=old))
        self._of_path: dict[str, list[_Run]] = {}
        for run in self.runs:
            self._of_path.setdefault(run.path, []).append(run)
        self.places = _places(self.runs)

    def run(self, path: str, line: int) -> _Run | None:
        """The run that holds a line."""
        runs = self._of_path.get(path, [])
        at = bisect_right(runs, line, key=lambda run: run.start) - 1
        return runs[at] if at >= 0 and line < runs[at].start + len(runs[at].lines) else None


class Moves:
    """Where the lines of one commit came from, or went to."""

    def __init__(self, files: Sequence[FileDiff]) -> None:
        self._deleted, self._added = _Side(files, old=True), _Side(files, old=False)
        self._new_path = {file.old: file.new for file in files if file.old is not None}

    def came_from(self, path: str, line: int) -> tuple[str, int] | None:
        """The (path, line) before the commit of a line that it added; None where it was not moved."""
        return self._other(self._added, self._deleted, path, line, lambda other: (other, path))

    def went_to(self, path: str, line: int) -> tuple[str, int] | None:
        """The (path, line) after the commit of a line that it deleted; None where it was not moved."""
        return self._other(self._deleted, self._added, path, line, lambda other: (path, other))

    def _other(
        self, here: _Side, there: _Side, path: str, line: int, pair: Callable[[str], tuple[str, str]]
    ) -> tuple[str, int] | None:
        run = here.run(path, line)
        if run is None:
            return None
        at = line - run.start
        best: tuple[int, int, str, int] | None = None
        for index, other_at in there.places.get(run.lines[at], []):
            other = there.runs[index]
            before, after = pair(other.path)
            weight = _common(run.lines, at, other.lines, other_at)
            if weight >= (_WITHIN if self._new_path.get(before) == after else _BETWEEN):
                number = other.start + other_at
                found = (weight, -abs(number - line), other.path, number)
                best = found if best is None else max(best, found)
        return None if best is None else best[2:]


def _runs(files: Sequence[FileDiff], *, old: bool) -> Iterator[_Run]:
    for file in files:
        path = file.old if old else file.new
        if path is not None:
            for patch in file.patches:
                lines, start = (patch.old, patch.old_start) if old else (patch.new, patch.new_start)
                if lines:
                    yield _Run(path, start, tuple(b"".join(line.split()) for line in lines))


def _places(runs: Sequence[_Run]) -> dict[bytes, list[tuple[int, int]]]:
    """(run, line of it) at which each text stands."""
    if sum(len(run.lines) for run in runs) > _MOST_LINES:
        return {}
    found: dict[bytes, list[tuple[int, int]]] = {}
    for index, run in enumerate(runs):
        for at, line in enumerate(run.lines):
            if line:
                found.setdefault(line, []).append((index, at))
    return {line: places for line, places in found.items() if len(places) <= _MOST_PLACES}


def _common(one: Sequence[bytes], at: int, other: Sequence[bytes], other_at: int) -> int:
    """Letters and digits of the longest equal block around two equal lines, up to what any threshold asks."""
    weight = _weight(one[at])
    for step in (-1, 1):
        a, b = at + step, other_at + step
        while 0 <= a < len(one) and 0 <= b < len(other) and one[a] == other[b] and weight < _ENOUGH:
            weight += _weight(one[a])
            a, b = a + step, b + step
    return weight


def _weight(line: bytes) -> int:
    return sum(chr(c).isalnum() for c in line)
