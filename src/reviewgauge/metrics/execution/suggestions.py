"""What the suggestions of a review make of the files of a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from reviewgauge.core.records import Case, Comment
from reviewgauge.metrics.execution.allowed import check_path
from reviewgauge.metrics.execution.runs import TestedChange
from reviewgauge.repo.diff.edits import Edit, Refusal, apply_edits, suggested_edits
from reviewgauge.repo.git.folders import LINK, MODULE
from reviewgauge.repo.syntax.tree import SyntaxTree, parse


@dataclass(frozen=True)
class Suggestion:
    """One suggestion that applies. `unparsed` are files that no longer parse, `outside` files not of the change."""

    comment: str
    edits: tuple[Edit, ...]
    files: Mapping[str, bytes]
    unparsed: tuple[str, ...]
    outside: tuple[str, ...]


@dataclass(frozen=True)
class Suggestions:
    """Reads suggestions for one change. `command` is what runs its tests."""

    case: Case
    tested: TestedChange
    command: str

    @cached_property
    def _modes(self) -> Mapping[str, str]:
        return {entry.path: entry.mode for entry in self.tested.repository.entries(self.tested.head)}

    def read(self, comment: Comment) -> Suggestion | Refusal | None:
        """The suggestion of a comment, why it cannot be applied, or None where it makes none."""
        try:
            edits = suggested_edits(comment)
            return self.applied(comment.id, edits) if edits else None
        except Refusal as refusal:
            return refusal

    def together(self, suggestions: Sequence[Suggestion]) -> tuple[Mapping[str, bytes], int]:
        """The files with all suggestions applied in their order, and how many were left out as they overlap others."""
        files: Mapping[str, bytes] = {}
        kept: list[Edit] = []
        left = 0
        for one in suggestions:
            try:
                files = self.applied("", [*kept, *one.edits]).files
                kept += [edit for edit in one.edits if edit not in kept]
            except Refusal:
                left += 1
        return files, left

    def applied(self, name: str, edits: Sequence[Edit]) -> Suggestion:
        """The files that edits make. Raises Refusal."""
        paths = list(dict.fromkeys(edit.path for edit in edits))
        for path in paths:
            check_path(path, self.tested.paths, self.command, creates=path not in self._modes)
            if self._modes.get(path) in (LINK, MODULE):
                raise Refusal("not a file", path)
        raw = self.tested.repository.blobs(self.tested.head, paths)
        try:
            before = {path: None if (content := raw[path]) is None else content.decode() for path in paths}
        except UnicodeDecodeError:
            raise Refusal("not text", ", ".join(paths)) from None
        files = {path: text.encode() for path, text in apply_edits(list(dict.fromkeys(edits)), before).items()}
        unparsed = tuple(path for path in files if _parses(raw[path] or b"", path) and not _parses(files[path], path))
        inside = {file.path for file in self.case.change.files}
        return Suggestion(name, tuple(edits), files, unparsed, tuple(path for path in files if path not in inside))


def _parses(content: bytes, path: str) -> bool:
    return isinstance(parse(content, path), SyntaxTree)


def suggests(comment: Comment) -> bool:
    """Whether a comment suggests code that can be read."""
    try:
        return bool(suggested_edits(comment))
    except Refusal:
        return False
