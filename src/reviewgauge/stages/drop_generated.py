"""Drop changes that nobody wrote by hand: every changed line in generated, vendored, minified or lock files.

Source: what counts as generated or vendored is github.com/github-linguist/linguist's rules (docs/overrides.md), as
repo/syntax/languages.py has them. None of the three papers says that it leaves such files out; reviewers do.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change, FileStatus
from reviewgauge.repo.diff.diffs import count_changed
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.syntax.languages import is_generated_or_vendored


@dataclass(frozen=True)
class DropGenerated(Stage):
    """Drop where all changed lines (all files, where there are none) lie in such files.

    By path, and by the first lines of the file where the code is at hand. The files themselves stay in the changes
    that are kept, since they are part of base and head.
    """

    costly: ClassVar[bool] = True

    @override
    def keep(self, case: Case) -> Case | str:
        change = case.change
        if not change.files:
            return "no changed files at hand"
        heads = _heads(change)
        sizes = {file.path: count_changed([file]) for file in change.files}
        if not any(sizes.values()):
            sizes = dict.fromkeys(sizes, 1)
        generated = sum(size for path, size in sizes.items() if is_generated_or_vendored(path, heads.get(path)))
        return "generated or vendored files" if generated == sum(sizes.values()) else case


def _heads(change: Change) -> dict[str, bytes | None]:
    """What the changed files hold at the head, else at the base for those that are gone."""
    if change.git is None:
        return {}
    repository = Repository(Path(change.git))
    gone = [file.path for file in change.files if file.status is FileStatus.DELETED]
    there = [file.path for file in change.files if file.status is not FileStatus.DELETED]
    found: dict[str, bytes | None] = {}
    for commit, paths in ((change.head, there), (change.base, gone)):
        if commit is not None and paths and repository.exists(commit):
            found.update(repository.blobs(commit, paths))
    return found
