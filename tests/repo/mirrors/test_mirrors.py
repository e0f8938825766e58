from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from git_project import commit, run_git
from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.repository import Repository, git_error, is_full, no_room
from reviewgauge.repo.mirrors.mirrors import mirror_local
from reviewgauge.repo.mirrors.objects import missing_objects


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Three commits on main, a branch, a tag, a remote-tracking ref, a stash and a commit that nothing names."""
    folder = tmp_path / "source"
    commit(folder, {"a.py": "one\n"})
    run_git(folder, "tag", "-a", "v1", "-m", "first")
    commit(folder, {"a.py": "two\n", "lib/b.py": "b\n"})
    run_git(folder, "branch", "side")
    commit(folder, {"a.py": "lost\n"})
    run_git(folder, "reset", "-q", "--hard", "HEAD~1")
    run_git(folder, "update-ref", "refs/remotes/origin/pull", commit(folder, {"c.py": "c\n"}))
    (folder / "a.py").write_text("stashed\n")
    run_git(folder, "stash", "-q")
    return folder


def objects(folder: Path) -> set[str]:
    return set(run_git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


def reachable(folder: Path, refs: Iterable[str]) -> set[str]:
    return {line.split()[0] for line in run_git(folder, "rev-list", "--objects", "--no-object-names", *refs).split()}


def test_a_mirror_holds_what_refs_reach_and_nothing_else(tmp_path: Path, source: Path) -> None:
    mirror = mirror_local(source, tmp_path / "m.git")
    wanted = reachable(source, ["HEAD", "--branches", "--tags", "--remotes"])
    assert objects(mirror.git_dir) == wanted and wanted < objects(source)
    assert run_git(mirror.git_dir, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert run_git(mirror.git_dir, "rev-parse", "HEAD") == run_git(source, "rev-parse", "HEAD")
    assert run_git(mirror.git_dir, "for-each-ref", "refs/heads", "refs/tags", "refs/remotes") == run_git(
        source, "for-each-ref", "refs/heads", "refs/tags", "refs/remotes"
    )
    assert run_git(mirror.git_dir, "fsck", "--full", "--unreachable") == ""
    shutil.rmtree(source)
    assert mirror.blob("main", "lib/b.py") == b"b\n"


@pytest.mark.slow
def test_a_second_call_brings_what_is_new_and_forgets_nothing(tmp_path: Path, source: Path) -> None:
    mirror = mirror_local(source, tmp_path / "m.git")
    packs = set((mirror.git_dir / "objects" / "pack").glob("*.pack"))
    mirror_local(source, tmp_path / "m.git")
    assert set((mirror.git_dir / "objects" / "pack").glob("*.pack")) == packs
    old = run_git(source, "rev-parse", "side")
    run_git(source, "branch", "-D", "side")
    new = commit(source, {"d.py": "d\n"})
    before = objects(mirror.git_dir)
    mirror_local(source, tmp_path / "m.git")
    assert len(set((mirror.git_dir / "objects" / "pack").glob("*.pack"))) == len(packs) + 1
    assert len(objects(mirror.git_dir) - before) == 3  # a commit, its tree and a blob
    assert mirror.exists(new) and mirror.exists(old)
    assert not Repository(mirror.git_dir).exists("side")


@pytest.mark.slow
def test_shallow_linked_bare_and_detached_sources(tmp_path: Path, source: Path) -> None:
    head = run_git(source, "rev-parse", "HEAD")
    run_git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "shallow")
    shallow = mirror_local(tmp_path / "shallow", tmp_path / "shallow.git")
    assert missing_objects(shallow).shallow
    assert run_git(shallow.git_dir, "rev-list", "HEAD") == head
    run_git(tmp_path / "shallow", "fetch", "-q", "--unshallow")
    mirror_local(tmp_path / "shallow", tmp_path / "shallow.git")
    assert not missing_objects(shallow).shallow
    assert len(run_git(shallow.git_dir, "rev-list", "--objects", "HEAD").split()) > 3

    run_git(source, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "HEAD~1")
    linked = mirror_local(tmp_path / "linked", tmp_path / "linked.git")
    assert run_git(linked.git_dir, "rev-parse", "HEAD") == run_git(source, "rev-parse", "HEAD~1")
    assert linked.exists(head)

    run_git(tmp_path, "clone", "-q", "--bare", str(source), "bare")
    assert mirror_local(tmp_path / "bare", tmp_path / "bare.git").exists(head)
    assert missing_objects(linked) == (False, False)


def test_a_partial_source_gives_a_partial_mirror(tmp_path: Path, source: Path) -> None:
    run_git(source, "config", "uploadpack.allowFilter", "true")
    run_git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", f"file://{source}", "partial")
    head = run_git(source, "rev-parse", "HEAD")
    mirror = mirror_local(tmp_path / "partial", tmp_path / "m.git")
    assert missing_objects(mirror).partial
    assert mirror.paths(head) == ["a.py", "c.py", "lib/b.py"]
    assert mirror.blob(head, "a.py") is None
    assert missing_objects(Repository(tmp_path / "partial")).partial
    run_git(tmp_path / "partial", "fetch", "-q", "--refetch", "--no-filter", "origin")
    assert any((tmp_path / "partial" / "objects" / "pack").glob("*.promisor"))
    assert not missing_objects(Repository(tmp_path / "partial")).partial, "all was fetched; the mark is left over"


def test_what_is_no_repository_is_said_in_one_line(tmp_path: Path, source: Path) -> None:
    for name, words in {
        "nowhere": "does not exist",
        "folder": "is not a git repository",
        "empty": "has no commits",
    }.items():
        if name != "nowhere":
            (tmp_path / name).mkdir()
        if name == "empty":
            run_git(tmp_path / name, "init", "-q")
        with pytest.raises(UserError, match=words):
            mirror_local(tmp_path / name, tmp_path / f"{name}.git")


@pytest.mark.parametrize("said", [
    "fatal: write error: No space left on device",
    "fatal: sha1 file 'm.git/objects/info/commit-graph.lock' write error. Out of diskspace",
    "error: unable to write file: Disk quota exceeded",
])  # fmt: skip
def test_a_full_disk_is_no_damage(said: str) -> None:
    assert is_full(said) and not is_full("fatal: write error: Broken pipe")
    assert "free some space and run the same command again" in str(git_error("commit-graph", "shop", said, 128))
    assert "no room left to write (free some space" in str(no_room(Path("bench/repos/shop.git")))


@pytest.mark.slow
def test_a_damaged_source_is_said_in_one_line(tmp_path: Path, source: Path) -> None:
    blob = run_git(source, "rev-parse", "HEAD:lib/b.py")
    file = source / ".git" / "objects" / blob[:2] / blob[2:]
    content = file.read_bytes()
    file.chmod(0o644)
    file.unlink()
    with pytest.raises(UserError, match=r"damaged: .*git fsck"):
        mirror_local(source, tmp_path / "m.git")
    file.write_bytes(content[:-3])
    with pytest.raises(UserError, match="damaged"):
        mirror_local(source, tmp_path / "n.git")


def test_what_a_killed_call_left_is_cleared_and_done_again(tmp_path: Path, source: Path) -> None:
    target = tmp_path / "m.git"
    (target / "objects" / "pack").mkdir(parents=True)
    (target / "objects" / "info").mkdir()
    (target / "objects" / "pack" / "tmp_pack_abc").write_bytes(b"half")
    (target / "objects" / "info" / "alternates").write_text(f"{source}/.git/objects\n")
    (target / "config").write_text("[core]\n\tfsmonitor = /bin/false\n")
    mirror = mirror_local(source, target)
    assert not list(target.rglob("tmp_*")) and not list(target.rglob("alternates"))
    assert "fsmonitor" not in (target / "config").read_text()
    assert mirror.exists("main") and run_git(target, "fsck", "--full") == ""
