"""Nothing that a repository under review holds is run or obeyed by what reads repositories here."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import run_git
from malicious_repos import ARMS, GROUPS, armed
from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.blobs import BlobReader
from reviewgauge.repo.git.folders import export_files
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import read_history
from reviewgauge.repo.mirrors.mirrors import mirror_local, mirror_remote
from reviewgauge.repo.mirrors.workspaces import workspace
from reviewgauge.repo.szz.trace import trace

SPRING = tuple(name for name, arm in ARMS.items() if arm.triggers)


def test_no_trap_is_left_out() -> None:
    assert sorted(name for group in GROUPS.values() for name in group) == sorted(ARMS)


@pytest.mark.drill
@pytest.mark.parametrize("name", SPRING)
def test_each_trap_springs_for_plain_git(tmp_path: Path, name: str) -> None:
    trap = armed(tmp_path, name)
    assert not trap.sprung
    trap.trigger()
    assert trap.sprung, "the trap must spring for plain git, or the tests below show nothing"


@pytest.mark.parametrize("name", GROUPS)
def test_reading_springs_no_trap(tmp_path: Path, name: str) -> None:
    trap = armed(tmp_path, name)
    repository = Repository(trap.folder)
    (changed,) = [file for file in repository.changed_files(trap.base, trap.head) if file.path == "a.py"]
    assert changed.patch is not None and "+three" in changed.patch
    assert repository.blob(trap.head, "a.py") == b"one\nthree\n"
    assert "a.py" in repository.paths(trap.head) and repository.exists(trap.head)
    assert not repository.exists("1" * 40)
    export_files(repository, trap.head, tmp_path / "out")
    with BlobReader(repository) as blobs:
        assert blobs.read(f"{trap.head}:a.py") == b"one\nthree\n" and blobs.read("1" * 40) is None
    assert [commit.id for commit in read_history(repository)] == [trap.head, trap.base]
    for command in (("log", "-p", "--all"), ("show", trap.head), ("blame", trap.head, "--", "a.py")):
        repository.run(*command)
    for url in (
        "origin",
        f"ext::{trap.folder}/evil.sh",
        str(trap.folder),
        f"file://{trap.folder}",
        "ssh://host.invalid/x",
    ):
        with pytest.raises(UserError):
            repository.run("fetch", url, "main")
    trace(repository, trap.head)
    assert not trap.sprung


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.slow
def test_mirrors_and_workspaces_spring_no_trap(tmp_path: Path, name: str) -> None:
    trap = armed(tmp_path, name)
    if name == "alternates":
        with pytest.raises(UserError, match="borrows objects"):
            mirror_local(trap.folder, tmp_path / "m.git")
        (trap.folder / ".git" / "objects" / "info" / "alternates").unlink()
    mirror = mirror_local(trap.folder, tmp_path / "m.git")
    mirror_local(trap.folder, tmp_path / "m.git")
    assert not trap.sprung
    assert mirror.blob(trap.head, "a.py") == b"one\nthree\n"
    inside = {path.name for path in mirror.git_dir.rglob("*")}
    assert not inside & {"hooks", "alternates", "grafts", "replace", "attributes", "modules", "evil.sh"}
    assert "evil" not in (mirror.git_dir / "config").read_text()
    for history in (False, True):  # a mirror from others may be as armed as any, so straight from the source
        with workspace(Repository(trap.folder), trap.head, trap.base, history=history) as made:
            assert (made.folder / "a.py").read_bytes() == b"one\nthree\n"
            assert not (made.folder / ".git" / "hooks").exists()
            assert "evil" not in (made.folder / ".git" / "config").read_text()
    assert not trap.sprung


@pytest.mark.parametrize("name", GROUPS)
def test_fetching_from_one_springs_no_trap(tmp_path: Path, name: str) -> None:
    trap = armed(tmp_path, name)
    mirror = mirror_remote(f"file://{trap.folder}", tmp_path / "m.git", "main", ("file",))
    assert mirror.exists(trap.head) and not trap.sprung
    with pytest.raises(UserError):
        mirror_remote(f"ext::{trap.folder}/evil.sh", tmp_path / "n.git", "main")
    assert not trap.sprung


@pytest.mark.slow
def test_another_repositorys_objects_replaced_objects_and_grafts_stay_out(tmp_path: Path) -> None:
    trap = armed(tmp_path, "alternates")
    secret = run_git(trap.folder.parent / f"{trap.folder.name}-other", "rev-parse", "HEAD")
    run_git(trap.folder, "replace", trap.base, trap.head)
    (trap.folder / ".git" / "info").mkdir(exist_ok=True)
    (trap.folder / ".git" / "info" / "grafts").write_text(f"{trap.head}\n")
    (trap.folder / ".git" / "refs" / "heads" / "stolen").write_text(f"{secret}\n")
    with pytest.raises(UserError, match="borrows objects"):
        mirror_local(trap.folder, tmp_path / "m.git")
    with pytest.raises(UserError, match="borrows objects"), workspace(Repository(trap.folder), secret):
        pass
    (trap.folder / ".git" / "objects" / "info" / "alternates").unlink()
    (trap.folder / ".git" / "refs" / "heads" / "stolen").unlink()
    mirror = mirror_local(trap.folder, tmp_path / "m.git")
    assert not mirror.exists(secret)
    assert run_git(mirror.git_dir, "rev-list", "main").split() == [trap.head, trap.base]
    assert not trap.sprung
