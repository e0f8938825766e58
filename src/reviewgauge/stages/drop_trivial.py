"""Drop changes in which nothing that runs changes: layout, comments, renames, version numbers, documentation.

Source: AACR-Bench (arXiv:2601.19494, appendix A) excludes "trivial changes that were detached from the project's
business context or lacked actual semantic meaning"; people decided there, and its Table 5 has 12 pull requests of
documentation and comments and 8 of code style: so they are not trivial (`words=False`). This is the part of it that
syntax can decide. By default more is trivial: nothing to find a defect in, which is this project's own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change, FileStatus
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.points.triviality import triviality

Blob = bytes | None


@dataclass(frozen=True)
class DropTrivial(Stage):
    """Drop where every file is trivial; `documentation`: files of prose and pictures are.

    With `words=False` only what nobody reads is: blank lines and blanks at the end of lines, renames, modes, version
    numbers, empty files. What changes a comment, a file of documentation or the layout of a line then stays.

    Whole files are compared where the code is at hand, else the lines that the patch shows. A layout that changes what
    runs (indentation in Python) is not layout. What cannot be read (binary files, no patch) is not trivial.
    """

    documentation: bool = True
    words: bool = True

    def keep(self, case: Case) -> Case | str:
        """The case, or what alone changes."""
        change = case.change
        if not change.files:
            return "no changed files at hand"
        old, new = _blobs(change)
        found: Counter[str] = Counter()
        for file in change.files:
            sides = (old.get(file.old_path or file.path), new.get(file.path)) if new or old else (None, None)
            kind = triviality(file, *sides, words=self.words)
            if not kind or (kind == "documentation" and not self.documentation):
                return case
            found[kind] += 1
        return f"only {next(iter(found))} change" if len(found) == 1 else "nothing that runs changes"


def _blobs(change: Change) -> tuple[dict[str, Blob], dict[str, Blob]]:
    """The changed files before and after; a file that is not there is empty. Nothing without both commits."""
    if change.git is None or change.base is None or change.head is None:
        return {}, {}
    repository = Repository(Path(change.git))
    if not repository.exists(change.base) or not repository.exists(change.head):
        return {}, {}
    before = [f.old_path or f.path for f in change.files if f.status is not FileStatus.ADDED]
    after = [f.path for f in change.files if f.status is not FileStatus.DELETED]
    old: dict[str, Blob] = {f.path: b"" for f in change.files if f.status is FileStatus.ADDED}
    new: dict[str, Blob] = {f.path: b"" for f in change.files if f.status is FileStatus.DELETED}
    return old | repository.blobs(change.base, before), new | repository.blobs(change.head, after)
