"""Which commits touched a line without bringing what it says, and where the line was before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviewgauge.repo.syntax.functions import LineKinds, code_lines
from reviewgauge.repo.szz.blame import Blamed, History, Kept, Made, Missing
from reviewgauge.repo.szz.diffs import FileDiff, Patch
from reviewgauge.repo.szz.lines import Tokens, likeness, same_code, tokens_of, words
from reviewgauge.repo.szz.moves import Moves
from reviewgauge.repo.szz.renames import find_renames, renamed_code

MERGE, FORMAT, COPIED, MOVED, RENAMED = (
    "merges",
    "changes the format only",
    "copies the file as it was",
    "moves the line",
    "renames identifiers only",
)
WRITTEN_IN_MERGE = "written in a merge"
_ALIKE = 0.5  # of its tokens a line of a merge shares with the line of a parent that it stands for
_REMEMBERED = 256  # commits, hunks; and of what moved, times _BYTES of diffs
_BYTES = 20_000
_MOST_RENAMED = 5_000  # lines on both sides of a commit; beyond it no identifiers are compared


@dataclass(frozen=True, slots=True)
class Before:
    """Lines of `path` in `parent` that became the one asked about, and what the commit in between did."""

    parent: str
    path: str
    lines: tuple[int, ...]
    why: str


class Through:
    """Looks behind commits, with what one SZZ variant and its options allow."""

    def __init__(self, history: History, *, form: bool, meta: bool, refactoring: bool) -> None:
        self._history, self._form, self._meta, self._refactoring = history, form, meta, refactoring
        self._moves: Kept[str, Moves] = Kept(_REMEMBERED)
        self._renames: Kept[str, dict[str, str]] = Kept(_REMEMBERED)
        self._same: Kept[tuple[str, str, int, bool], dict[int, tuple[int, ...]]] = Kept(_REMEMBERED)

    def before(self, commit: Made, line: Blamed) -> tuple[Before, ...] | str:
        """Where the line was before `commit`; empty when the commit brought it, or why it cannot be followed."""
        if not commit.parents or not (self._form or self._meta or self._refactoring):
            return ()
        try:
            if len(commit.parents) > 1:
                return self._merged(commit, line) if self._meta else ()
            return self._changed(commit, line)
        except Missing:
            return ()

    def _changed(self, commit: Made, line: Blamed) -> tuple[Before, ...]:
        parent = commit.parents[0]
        if line.previous is None and not self._meta and not self._refactoring:
            return ()
        files = self._history.diff(commit.id, parent)
        file = next((f for f in files if f.new == line.path), None)
        if file is None:
            return ()
        if file.old is None:
            if self._meta and (source := self._history.holds(parent, file.new_blob)) is not None:
                return (Before(parent, source, (line.origin,), COPIED),)
        elif (patch := _patch_of(file, line.origin)) is not None:
            if self._form and (lines := self._same_lines(commit.id, file, patch, {}).get(line.origin)):
                return (Before(parent, file.old, lines, FORMAT),)
            renames = self._renames_of(commit.id, files) if self._refactoring else {}
            if renames and (lines := self._same_lines(commit.id, file, patch, renames).get(line.origin)):
                return (Before(parent, file.old, lines, RENAMED),)
        if self._refactoring and (place := self._moves_of(commit.id, files).came_from(line.path, line.origin)):
            return (Before(parent, place[0], (place[1],), MOVED),)
        return ()

    def _same_lines(
        self, commit: str, file: FileDiff, patch: Patch, renames: dict[str, str]
    ) -> dict[int, tuple[int, ...]]:
        """For lines of the new file the lines of the old one that say the same."""
        key = (commit, file.path, patch.new_start, bool(renames))
        found = self._same.get(key)
        if found is None:
            same = renamed_code(*plain_tokens(patch), renames) if renames else same_code(*self._tokens(file, patch))
            found = {
                patch.new_start + line: tuple(patch.old_start + one for one in lines) for line, lines in same.items()
            }
            self._same.put(key, found)
        return found

    def _tokens(self, file: FileDiff, patch: Patch) -> tuple[tuple[Tokens, ...], tuple[Tokens, ...]]:
        return hunk_tokens(self._history, file, patch)

    def _moves_of(self, commit: str, files: tuple[FileDiff, ...]) -> Moves:
        found = self._moves.get(commit)
        if found is None:
            found = Moves(files)
            self._moves.put(commit, found, sum(len(file.body) for file in files) // _BYTES + 1)
        return found

    def _renames_of(self, commit: str, files: tuple[FileDiff, ...]) -> dict[str, str]:
        found = self._renames.get(commit)
        if found is None:
            found = renames_in(files)
            self._renames.put(commit, found)
        return found

    def _merged(self, commit: Made, line: Blamed) -> tuple[Before, ...] | str:
        """The lines of the parents that one of a merge stands for: those most like it, one of each parent at most."""
        found: list[tuple[float, Before]] = []
        for parent in commit.parents:
            file = next((f for f in self._history.diff(commit.id, parent) if f.new == line.path), None)
            patch = None if file is None or file.old is None else _patch_of(file, line.origin)
            if file is None or file.old is None or patch is None:
                continue
            old, new = self._tokens(file, patch)
            mine = new[line.origin - patch.new_start]
            values = [likeness(other, mine) for other in old]
            if values and max(values) >= _ALIKE:
                at = patch.old_start + values.index(max(values))
                found.append((max(values), Before(parent, file.old, (at,), MERGE)))
        best = max((value for value, _ in found), default=0.0)
        return tuple(before for value, before in found if value == best) or WRITTEN_IN_MERGE


def renames_in(files: Sequence[FileDiff]) -> dict[str, str]:
    """The identifiers that a commit renamed; none for one that is too large to say."""
    patches = [patch for file in files if file.old and file.new for patch in file.patches]
    if sum(len(patch.old) + len(patch.new) for patch in patches) > _MOST_RENAMED:
        return {}
    return find_renames([plain_tokens(patch) for patch in patches])


def plain_tokens(patch: Patch) -> tuple[tuple[Tokens, ...], tuple[Tokens, ...]]:
    """The words and signs of a hunk's old and new lines, whatever its language."""
    return tuple(map(words, patch.old)), tuple(map(words, patch.new))


def hunk_tokens(history: History, file: FileDiff, patch: Patch) -> tuple[tuple[Tokens, ...], tuple[Tokens, ...]]:
    """The tokens of a hunk's old and new lines, in the light of the whole files where these are here."""
    before, after = file.old or file.path, file.path
    old, new = lines_of(history, file.old_blob, before), lines_of(history, file.new_blob, after)
    if (old is None and patch.old) or (new is None and patch.new):
        return plain_tokens(patch)
    return (
        () if old is None else tokens_of(old, before, patch.old_start, len(patch.old)),
        () if new is None else tokens_of(new, after, patch.new_start, len(patch.new)),
    )


def lines_of(history: History, blob: str, path: str) -> LineKinds | None:
    """The lines of a blob by its syntax; None when it is not here or too large."""
    content = history.content(blob)
    return None if content is None else code_lines(content, path)


def _patch_of(file: FileDiff, line: int) -> Patch | None:
    """The hunk that added a line."""
    return next((p for p in file.patches if p.new_start <= line < p.new_start + len(p.new)), None)
