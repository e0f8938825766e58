"""What does not count, and why: lines that a fix touched, and commits that touched a line without writing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reviewgauge.repo.history.commits import Commit
from reviewgauge.repo.processes import RecentlyUsed
from reviewgauge.repo.syntax.functions import code_lines
from reviewgauge.repo.syntax.languages import language
from reviewgauge.repo.syntax.lines import LineKinds
from reviewgauge.repo.szz.blame import Blamed, FileDiff, GitReader, Missing, Patch
from reviewgauge.repo.szz.same_code import (
    Moves,
    Tokens,
    find_renames,
    likeness,
    renamed_code,
    same_code,
    tokens_of,
    words,
)

DELETED, MODIFIED, BESIDE = "deleted by the fix", "modified by the fix", "beside what the fix adds"
INSIDE = "in a condition or text that the fix adds to"
BLANK, COMMENT, FORMAT, TYPES, MOVED, RENAMED = (
    "a blank line",
    "a comment",
    "the fix changes its format only",
    "the fix changes type annotations only",
    "the fix moves it",
    "the fix renames identifiers only",
)
LINE_REASONS = frozenset({BLANK, COMMENT, FORMAT, TYPES, MOVED, RENAMED})
_OPERATORS = frozenset({"and", "or", "&", "|"})  # at the end or the beginning of a line: a condition goes on


@dataclass(frozen=True, slots=True)
class Touched:
    """A line before the fix: its text, what the fix did to it, and why it does not count (empty: it does)."""

    text: bytes
    reason: str
    skipped: str = ""


class FixLines:
    """The lines of one fix. What does not count: `form`: blank lines, comments, format; `moves`; `renames`."""

    def __init__(
        self, git: GitReader, files: Sequence[FileDiff], *, form: bool, moves: bool = False, renames: bool = False
    ) -> None:
        self._git, self._form = git, form
        self._moves = Moves(files) if moves else None
        self._renames = renames_in(files) if renames else {}
        self._refactoring = form and renames

    def lines(self, file: FileDiff) -> dict[int, Touched]:
        """Every line that the fix deleted or modified in one file, by its number before the fix."""
        found: dict[int, Touched] = {}
        for patch in file.patches:
            skipped = self._skipped(file, patch) if patch.old else {}
            reason = MODIFIED if patch.new else DELETED
            for at, text in enumerate(patch.old):
                line = patch.old_start + at
                found[line] = Touched(text, reason, skipped.get(at, ""))
            if self._refactoring and not patch.old:
                found |= {line: text for line, text in self._around(file, patch) if line not in found}
        return found

    def _around(self, file: FileDiff, patch: Patch) -> Iterator[tuple[int, Touched]]:
        """The lines around new ones that go into a condition or a text of several lines: part of what was wrong."""
        lines = lines_of(self._git, file.entry.old, file.old) if file.old is not None else None
        new = lines_of(self._git, file.entry.new, file.path)
        if lines is None or new is None:
            return
        at, content = patch.old_start, self._git.content(file.entry.old) or b""
        begins, ends = new.tokens(patch.new_start)[:1], lines.tokens(at)[-1:]
        if lines.splits(at) or not _OPERATORS.isdisjoint((*begins, *ends)):
            rows = content.split(b"\n")
            for line in (at, at + 1):
                if lines.kind(line) == "code":
                    yield line, Touched(rows[line - 1], INSIDE)

    def unknown(self, file: FileDiff) -> str:
        """Why lines were chosen without knowing the syntax of the file; empty where it is known or not needed."""
        touched = file.old is not None and any(patch.old for patch in file.patches)
        lines = lines_of(self._git, file.entry.old, file.old or file.path) if self._form and touched else None
        return lines.reason if lines is not None and not lines.known else ""

    def _skipped(self, file: FileDiff, patch: Patch) -> dict[int, str]:
        """For lines of a hunk's old side that do not count: why."""
        why: dict[int, str] = {}
        if self._moves is not None and file.old is not None:
            numbers = range(len(patch.old))
            why = {at: MOVED for at in numbers if self._moves.went_to(file.old, patch.old_start + at)}
        if self._renames:
            old, new = plain_tokens(patch)
            why |= dict.fromkeys(renamed_code(new, old, {b: a for a, b in self._renames.items()}), RENAMED)
        if self._form:
            if self._refactoring:
                old, new = untyped_tokens(self._git, file, patch)
                why |= dict.fromkeys(same_code(new, old), TYPES)
            old, new = hunk_tokens(self._git, file, patch)
            why |= dict.fromkeys(same_code(new, old), FORMAT)
            lines = lines_of(self._git, file.entry.old, file.old or file.path)
            for at, text in enumerate(patch.old):
                kind = ("code" if text.strip() else "blank") if lines is None else lines.kind(patch.old_start + at)
                if kind != "code":
                    why[at] = BLANK if kind == "blank" else COMMENT
        return why

    def beside(self, file: FileDiff, count: int) -> dict[int, Touched]:
        """The `count` lines before and after each place where the fix only adds; none in a new file."""
        if file.old is None or not count:
            return {}
        content = self._git.content(file.entry.old)
        if content is None:
            return {}
        rows = content.removesuffix(b"\n").split(b"\n")
        kinds = lines_of(self._git, file.entry.old, file.old) if self._form else None
        found: dict[int, Touched] = {}
        for patch in file.patches:
            if not patch.old:
                near = range(max(1, patch.old_start - count + 1), min(len(rows), patch.old_start + count) + 1)
                found |= {n: Touched(rows[n - 1], BESIDE) for n in near}
        return {n: line for n, line in found.items() if kinds is None or kinds.kind(n) == "code"}


MERGE, FORMAT_ONLY, COPIED, MOVED_LINE, EXTRACTED, RENAMED_NAMES = (
    "merges",
    "changes the format only",
    "copies the file as it was",
    "moves the line",
    "moves the line, with other names of variables",
    "renames identifiers only",
)
WRITTEN_IN_MERGE = "written in a merge"
_ALIKE = 0.5  # share of tokens that a line of a merge has in common with its line in a parent
_REMEMBERED = 256  # commits, hunks; and of what moved, times _BYTES of diffs
_BYTES = 20_000
_MOST_SHAPED = 300_000  # bytes of a commit's diff; beyond it no line is looked for under other names
_MOST_RENAMED = 5_000  # lines on both sides of a commit; beyond it no identifiers are compared


@dataclass(frozen=True, slots=True)
class EarlierLines:
    """Lines of `path` in `parent` that became a line, and what the commit in between did."""

    parent: str
    path: str
    lines: tuple[int, ...]
    why: str


class CommitSkipper:
    """Finds lines before commits that do not count, as one SZZ variant and its options allow."""

    def __init__(self, git: GitReader, *, form: bool, meta: bool, refactoring: bool) -> None:
        self._git, self._form, self._meta, self._refactoring = git, form, meta, refactoring
        self._moves: RecentlyUsed[str, Moves] = RecentlyUsed(_REMEMBERED)
        self._shapes: RecentlyUsed[str, Moves] = RecentlyUsed(_REMEMBERED)
        self._renames: RecentlyUsed[str, dict[str, str]] = RecentlyUsed(_REMEMBERED)
        self._same: RecentlyUsed[tuple[str, str, int, bool], dict[int, tuple[int, ...]]] = RecentlyUsed(_REMEMBERED)

    def before(self, commit: Commit, line: Blamed) -> tuple[EarlierLines, ...] | str:
        """Where the line was before `commit`; empty when the commit brought it, or why it cannot be followed."""
        if not commit.parents or not (self._form or self._meta or self._refactoring):
            return ()
        try:
            if len(commit.parents) > 1:
                return self._merged(commit, line) if self._meta else ()
            return self._changed(commit, line)
        except Missing:
            return ()

    def _changed(self, commit: Commit, line: Blamed) -> tuple[EarlierLines, ...]:
        parent = commit.parents[0]
        if line.previous is None and not self._meta and not self._refactoring:
            return ()
        files = self._git.diff(commit.id, parent)
        file = next((f for f in files if f.new == line.path), None)
        if file is None:
            return ()
        if file.old is None:
            if self._meta and (source := self._git.holds(parent, file.entry.new)) is not None:
                return (EarlierLines(parent, source, (line.origin,), COPIED),)
        elif (patch := _patch_of(file, line.origin)) is not None:
            if self._form and (lines := self._same_lines(commit.id, file, patch, {}).get(line.origin)):
                return (EarlierLines(parent, file.old, lines, FORMAT_ONLY),)
            renames = self._renames.of(commit.id, lambda: renames_in(files)) if self._refactoring else {}
            if renames and (lines := self._same_lines(commit.id, file, patch, renames).get(line.origin)):
                return (EarlierLines(parent, file.old, lines, RENAMED_NAMES),)
        if self._refactoring and (place := self._moves_of(commit.id, files).came_from(line.path, line.origin)):
            return (EarlierLines(parent, place[0], (place[1],), MOVED_LINE),)
        if self._refactoring and (place := self._shapes_of(commit.id, files).came_from(line.path, line.origin)):
            return (EarlierLines(parent, place[0], (place[1],), EXTRACTED),)
        return ()

    def _same_lines(
        self, commit: str, file: FileDiff, patch: Patch, renames: dict[str, str]
    ) -> dict[int, tuple[int, ...]]:
        """For lines of the new file the equal lines of the old one."""

        def find() -> dict[int, tuple[int, ...]]:
            old, new = plain_tokens(patch) if renames else hunk_tokens(self._git, file, patch)
            same = renamed_code(old, new, renames) if renames else same_code(old, new)
            return {patch.new_start + n: tuple(patch.old_start + one for one in lines) for n, lines in same.items()}

        return self._same.of((commit, file.path, patch.new_start, bool(renames)), find)

    def _moves_of(self, commit: str, files: tuple[FileDiff, ...]) -> Moves:
        weight = sum(len(file.body) for file in files) // _BYTES + 1
        return self._moves.of(commit, lambda: Moves(files), lambda _: weight)

    def _shapes_of(self, commit: str, files: tuple[FileDiff, ...]) -> Moves:
        """Moves with other names; in code only, and none in a commit that is too large."""
        size = sum(len(file.body) for file in files if language(file.path))
        code = tuple(file for file in files if language(file.path)) if size <= _MOST_SHAPED else ()
        return self._shapes.of(commit, lambda: Moves(code, shapes=True), lambda _: size // _BYTES + 1)

    def _merged(self, commit: Commit, line: Blamed) -> tuple[EarlierLines, ...] | str:
        """The lines of the parents behind a line of a merge: those most like it, at most one of each parent."""
        found: list[tuple[float, EarlierLines]] = []
        for parent in commit.parents:
            file = next((f for f in self._git.diff(commit.id, parent) if f.new == line.path), None)
            patch = None if file is None or file.old is None else _patch_of(file, line.origin)
            if file is None or file.old is None or patch is None:
                continue
            old, new = hunk_tokens(self._git, file, patch)
            mine = new[line.origin - patch.new_start]
            values = [likeness(other, mine) for other in old]
            if values and max(values) >= _ALIKE:
                at = patch.old_start + values.index(max(values))
                found.append((max(values), EarlierLines(parent, file.old, (at,), MERGE)))
        best = max((value for value, _ in found), default=0.0)
        return tuple(before for value, before in found if value == best) or WRITTEN_IN_MERGE


def renames_in(files: Sequence[FileDiff]) -> dict[str, str]:
    """The identifiers that a commit renamed; none for a commit that is too large."""
    patches = [patch for file in files if file.old and file.new for patch in file.patches]
    if sum(len(patch.old) + len(patch.new) for patch in patches) > _MOST_RENAMED:
        return {}
    return find_renames([plain_tokens(patch) for patch in patches])


def plain_tokens(patch: Patch) -> tuple[tuple[Tokens, ...], tuple[Tokens, ...]]:
    """The words and signs of a hunk's old and new lines, whatever its language."""
    return tuple(map(words, patch.old)), tuple(map(words, patch.new))


def hunk_tokens(git: GitReader, file: FileDiff, patch: Patch) -> tuple[tuple[Tokens, ...], tuple[Tokens, ...]]:
    """The tokens of a hunk's old and new lines, in the light of the whole files where these are here."""
    before, after = file.old or file.path, file.path
    old, new = lines_of(git, file.entry.old, before), lines_of(git, file.entry.new, after)
    if (old is None and patch.old) or (new is None and patch.new):
        return plain_tokens(patch)
    return (
        () if old is None else tokens_of(old, before, patch.old_start, len(patch.old)),
        () if new is None else tokens_of(new, after, patch.new_start, len(patch.new)),
    )


def untyped_tokens(git: GitReader, file: FileDiff, patch: Patch) -> tuple[tuple[Tokens, ...], tuple[Tokens, ...]]:
    """As `hunk_tokens`, without type annotations, and with `elif` as `if`."""
    old, new = lines_of(git, file.entry.old, file.old or file.path), lines_of(git, file.entry.new, file.path)
    if old is None or new is None:
        return (), ()
    return (
        tuple(old.untyped(patch.old_start + at) for at in range(len(patch.old))),
        tuple(new.untyped(patch.new_start + at) for at in range(len(patch.new))),
    )


def lines_of(git: GitReader, blob: str, path: str) -> LineKinds | None:
    """The lines of a blob by its syntax; None when it is not here or too large."""
    content = git.content(blob)
    return None if content is None else code_lines(content, path)


def _patch_of(file: FileDiff, line: int) -> Patch | None:
    """The hunk that added a line."""
    return next((p for p in file.patches if p.new_start <= line < p.new_start + len(p.new)), None)
