from __future__ import annotations

from pathlib import Path

import pytest

from git_project import commit, run_git
from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import PullRequest, Revision
from reviewgauge.core.records import Case, Change
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.mirrors.mirrors import mirror_local
from reviewgauge.repo.mirrors.workspaces import workspace
from reviewgauge.stages.add_workspace import AddWorkspace

GONE = "1" * 40


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, str, str]:
    folder = tmp_path / "project"
    base = commit(folder, {"a.py": "one\n"})
    return folder, base, commit(folder, {"a.py": "two\n", "b.py": "b\n"})


def candidate(base: str | None, head: str | None, git: object = None, pull: PullRequest | None = None) -> Candidate:
    change = Change(repo="acme/shop", base=base, head=head, git=None if git is None else str(git))
    return Candidate(case=Case(id=f"acme/shop/{(head or 'none')[:7]}", change=change), pull=pull)


def one(context: BuildFolder, item: Candidate) -> Candidate | Drop:
    (made,) = AddWorkspace().apply([item], context)
    assert isinstance(made, Candidate | Drop)
    return made


@pytest.mark.parametrize("name", ["acme+shop.git", "acme-shop.git"])
def test_a_mirror_of_the_build_is_found_by_name_or_as_given(
    context: BuildFolder, project: tuple[Path, str, str], name: str
) -> None:
    folder, base, head = project
    mirror = mirror_local(folder, context.code / name)
    for git in (None, mirror.git_dir):
        made = one(context, candidate(base, head, git))
        assert isinstance(made, Candidate) and made.case.change.git == str(mirror.git_dir.resolve())


def test_a_repository_elsewhere_is_mirrored_once(context: BuildFolder, project: tuple[Path, str, str]) -> None:
    folder, base, head = project
    made = list(AddWorkspace().apply([candidate(base, head, folder), candidate(None, base, folder)], context))
    assert [isinstance(item, Candidate) for item in made] == [True, True]
    assert [path.name for path in context.code.iterdir()] == ["acme+shop.git"]
    assert isinstance(made[0], Candidate) and made[0].case.change.git is not None
    with workspace(Repository(Path(made[0].case.change.git)), head, base) as there:
        assert (there.folder / "b.py").read_text() == "b\n"


def test_what_cannot_be_had_is_dropped_with_its_reason(context: BuildFolder, project: tuple[Path, str, str]) -> None:
    folder, base, head = project
    nothing = one(context, candidate(base, head))
    assert isinstance(nothing, Drop) and nothing.reason == "its repository is not at hand"
    elsewhere = one(context, candidate(base, head, folder.parent / "nowhere"))
    assert isinstance(elsewhere, Drop) and "does not exist" in elsewhere.detail
    mirror_local(folder, context.code / "acme+shop.git")
    pull = PullRequest(repo="acme/shop", number=1)
    forced = (Revision(head=GONE), Revision(head=head, forced=True))
    expected = {
        "it names no head commit": candidate(base, None), "its head commit is not in the mirror": candidate(base, GONE),
        "its base commit is not in the mirror": candidate(GONE, head),
        "its head commit is not in the mirror: its fork was deleted": candidate(base, GONE,
            pull=pull.model_copy(update={"fork_gone": True})),
        "its head commit is not in the mirror: it was pushed over": candidate(base, GONE,
            pull=pull.model_copy(update={"revisions": forced})),
    }  # fmt: skip
    for reason, item in expected.items():
        made = one(context, item)
        assert isinstance(made, Drop) and made.reason == reason and made.by == "add_workspace"


def test_a_partial_repository_is_told_by_its_files(
    tmp_path: Path, context: BuildFolder, project: tuple[Path, str, str]
) -> None:
    folder, base, head = project
    run_git(folder, "config", "uploadpack.allowFilter", "true")
    run_git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", f"file://{folder}", "part")
    made = one(context, candidate(base, head, tmp_path / "part"))
    assert isinstance(made, Drop) and made.reason == "not all of its files are in the mirror"
    assert "only 0 of the 2 files" in made.detail
