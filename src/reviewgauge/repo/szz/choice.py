"""Which of the lines that a fix deleted or modified count, and why the others do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviewgauge.repo.szz.blame import History
from reviewgauge.repo.szz.diffs import FileDiff, Patch
from reviewgauge.repo.szz.lines import same_code
from reviewgauge.repo.szz.moves import Moves
from reviewgauge.repo.szz.renames import renamed_code
from reviewgauge.repo.szz.skip_commits import hunk_tokens, lines_of, plain_tokens, renames_in

DELETED, MODIFIED, BESIDE = "deleted by the fix", "modified by the fix", "beside what the fix adds"
BLANK, COMMENT, FORMAT, MOVED, RENAMED = (
    "a blank line",
    "a comment",
    "the fix changes its format only",
    "the fix moves it",
    "the fix renames identifiers only",
)
LINE_REASONS = frozenset({BLANK, COMMENT, FORMAT, MOVED, RENAMED})


@dataclass(frozen=True, slots=True)
class Touched:
    """A line before the fix: its text, what the fix did to it, and why it does not count (empty: it does)."""

    text: bytes
    reason: str
    skipped: str = ""


class Choice:
    """The lines of one fix. What does not count: `form`: blank lines, comments, format; `moves`; `renames`."""

    def __init__(
        self, history: History, files: Sequence[FileDiff], *, form: bool, moves: bool = False, renames: bool = False
    ) -> None:
        self._history, self._form = history, form
        self._moves = Moves(files) if moves else None
        self._renames = renames_in(files) if renames else {}

    def lines(self, file: FileDiff) -> dict[int, Touched]:
        """Every line that the fix deleted or modified in one file, by its number before the fix."""
        found: dict[int, Touched] = {}
        for patch in file.patches:
            skipped = self._skipped(file, patch) if patch.old else {}
            reason = MODIFIED if patch.new else DELETED
            for at, text in enumerate(patch.old):
                line = patch.old_start + at
                found[line] = Touched(text, reason, skipped.get(at, ""))
        return found

    def unknown(self, file: FileDiff) -> str:
        """Why lines were chosen without knowing the syntax of the file; empty where it is known or not asked for."""
        touched = file.old is not None and any(patch.old for patch in file.patches)
        lines = lines_of(self._history, file.old_blob, file.old or file.path) if self._form and touched else None
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
            old, new = hunk_tokens(self._history, file, patch)
            why |= dict.fromkeys(same_code(new, old), FORMAT)
            lines = lines_of(self._history, file.old_blob, file.old or file.path)
            for at, text in enumerate(patch.old):
                kind = ("code" if text.strip() else "blank") if lines is None else lines.kind(patch.old_start + at)
                if kind != "code":
                    why[at] = BLANK if kind == "blank" else COMMENT
        return why

    def beside(self, file: FileDiff, count: int) -> dict[int, Touched]:
        """The `count` lines before and after each place where the fix only adds; none in a new file."""
        if file.old is None or not count:
            return {}
        content = self._history.content(file.old_blob)
        if content is None:
            return {}
        rows = content.removesuffix(b"\n").split(b"\n")
        kinds = lines_of(self._history, file.old_blob, file.old) if self._form else None
        found: dict[int, Touched] = {}
        for patch in file.patches:
            if not patch.old:
                near = range(max(1, patch.old_start - count + 1), min(len(rows), patch.old_start + count) + 1)
                found |= {n: Touched(rows[n - 1], BESIDE) for n in near}
        return {n: line for n, line in found.items() if kinds is None or kinds.kind(n) == "code"}
