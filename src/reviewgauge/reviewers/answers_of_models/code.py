"""The patches of a change for reviewers that read code: those that it carries, else those of its commits."""

from __future__ import annotations

from pathlib import Path

from reviewgauge.core.errors import NeedsCode
from reviewgauge.core.records import Change
from reviewgauge.repo.git.repository import Repository


def with_patches(change: Change, who: str) -> Change:
    """`change` with the patches of its files. Raises NeedsCode when neither they nor the commits are at hand."""
    if change.has_diff:
        return change
    if change.git is None or change.base is None or change.head is None:
        raise NeedsCode(who)
    files = Repository(Path(change.git)).changed_files(change.base, change.head)
    return change.model_copy(update={"files": files})
