"""A build and the reviewers behind it spring no trap of a repository, whichever way it is armed."""

from __future__ import annotations

from pathlib import Path

import pytest

from malicious_repos import GROUPS, armed
from reviewgauge.core.building import Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.reviewers.analyser import Analyser
from reviewgauge.reviewers.command import Command
from reviewgauge.stages.add_workspace import AddWorkspace
from reviewgauge.stages.from_git import FromGit


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.slow
def test_a_build_springs_no_trap(tmp_path: Path, name: str) -> None:
    trap = armed(tmp_path, name)
    alternates = trap.folder / ".git" / "objects" / "info" / "alternates"
    place = BuildFolder(tmp_path / "bench", source=str(trap.folder))
    if alternates.exists():
        with pytest.raises(UserError):
            list(FromGit(name="acme/armed").apply([], place))
        alternates.unlink()
    read = list(FromGit(name="acme/armed").apply([], place))
    assert read, "the history was read"
    files = Repository(trap.folder).changed_files(trap.base, trap.head)
    change = Change(repo="acme/armed", base=trap.base, head=trap.head, files=files, git=str(trap.folder))
    (made,) = AddWorkspace().apply([Candidate(case=Case(id="armed/1", change=change))], place)
    assert isinstance(made, Candidate)
    place.close()
    Analyser(tools=("ruff",)).review(change)
    look = "git status --porcelain; git diff {base} {head}; git log -p --all; echo '- a.py:2 looked at'"
    review = Command(run=("sh", "-c", look), lines="added").review(made.case.change)
    assert len(review.comments) == 1
    assert not trap.sprung
