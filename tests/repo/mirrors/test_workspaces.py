from __future__ import annotations

import os
import random
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from git_project import commit, run_git
from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.folders import export_files
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.mirrors.mirrors import mirror_local
from reviewgauge.repo.mirrors.workspaces import BRANCH, Workspace, workspace

SECRET = "the fix that came later"


class Project:
    """Five commits on main; the change under review is the fourth on the third. What came later is in many places."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commits = [commit(folder, {"a.py": f"line {n}\n" * n, f"f{n}.py": f"{n}\n"}) for n in range(1, 5)]
        self.base, self.head = self.commits[2:]
        later = commit(folder, {"a.py": SECRET})
        run_git(folder, "tag", "-a", "v2", "-m", SECRET)
        run_git(folder, "branch", "fix")
        run_git(folder, "update-ref", "refs/remotes/origin/fix", later)
        run_git(folder, "notes", "add", "-m", SECRET, self.head)
        (folder / "a.py").write_text(SECRET + " (stashed)")
        run_git(folder, "stash", "-q")
        commit(folder, {"lost.py": SECRET})
        run_git(folder, "reset", "-q", "--hard", self.head)  # now only the reflog names it
        run_git(folder, "gc", "-q")  # one pack with everything
        self.later = later


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def ids(folder: Path) -> set[str]:
    """Every object that is there, whether or not anything names it."""
    return set(run_git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("source", ["project", "mirror"])
@pytest.mark.slow
def test_nothing_later_than_head_is_in_a_workspace(
    tmp_path: Path, project: Project, history: bool, source: str
) -> None:
    repository = Repository(project.folder)
    if source == "mirror":
        repository = mirror_local(project.folder, tmp_path / "m.git")
    with workspace(repository, project.head, project.base, history=history) as made:
        git = made.folder / ".git"
        reached = set(run_git(made.folder, "rev-list", "--objects", "--no-object-names", BRANCH).split())
        assert ids(made.folder) == reached
        assert run_git(made.folder, "for-each-ref", "--format=%(refname)") == f"refs/heads/{BRANCH}"
        assert run_git(made.folder, "fsck", "--full", "--unreachable", "--no-reflogs") == ""
        assert run_git(made.folder, "reflog", "--all") == "" and not (git / "logs").exists()
        assert run_git(made.folder, "tag") == "" and run_git(made.folder, "stash", "list") == ""
        assert run_git(made.folder, "remote") == "" and run_git(made.folder, "notes", "list") == ""
        logged = run_git(made.folder, "log", "--all", "-p", "--format=%H %B")
        assert SECRET not in logged and "line 4" in logged
        for name in ("FETCH_HEAD", "ORIG_HEAD", "packed-refs", "hooks", "objects/info/alternates", "info", "modules"):
            assert not (git / name).exists(), name
        everything = b"".join(path.read_bytes() for path in made.folder.rglob("*") if path.is_file())
        assert SECRET.encode() not in everything and project.later.encode() not in everything
        assert str(project.folder).encode() not in everything and str(tmp_path / "m.git").encode() not in everything
        for word in (project.later, "v2", "fix", "ORIG_HEAD", "FETCH_HEAD", "HEAD@{1}"):
            with pytest.raises(AssertionError, match="rev-parse ended with"):
                run_git(made.folder, "rev-parse", "--verify", "--quiet", f"{word}^{{object}}")


@pytest.mark.parametrize("history", [False, True])
def test_what_is_checked_out_is_what_the_commit_holds(project: Project, history: bool) -> None:
    repository = Repository(project.folder)
    with workspace(repository, project.head, project.base, history=history) as w:
        there = {str(p.relative_to(w.folder)) for p in w.folder.rglob("*") if p.is_file() and ".git" not in p.parts}
        assert there == set(repository.paths(project.head))
        assert all((w.folder / path).read_bytes() == repository.blob(project.head, path) for path in there)
        assert run_git(w.folder, "status", "--porcelain") == "" and w.left_out == ()
        assert w.base is not None and run_git(w.folder, "rev-parse", "HEAD") == w.head
        theirs = repository.run("diff-tree", "-r", project.base, project.head)
        assert run_git(w.folder, "diff-tree", "-r", w.base, w.head).encode() == theirs.strip()
    assert not w.folder.parent.exists()


@pytest.mark.slow
def test_ids_are_real_with_history_and_made_up_but_stable_without(project: Project) -> None:
    repository = Repository(project.folder)
    seen = []
    for _ in range(2):
        with workspace(repository, project.head, project.base) as made:
            assert run_git(made.folder, "log", "--format=%H %P").split() == [made.head, made.base, made.base]
            assert not {made.head, made.base} & set(project.commits)
            seen.append((made.head, made.base))
    assert seen[0] == seen[1]
    with workspace(repository, project.head) as alone:
        assert run_git(alone.folder, "rev-list", "--parents", BRANCH) == alone.head and alone.base is None
    with workspace(repository, project.head, project.base, history=True) as whole:
        assert run_git(whole.folder, "rev-list", BRANCH).split() == project.commits[::-1]
        assert (whole.head, whole.base) == (project.head, project.base)


@pytest.mark.slow
def test_a_base_that_went_on_is_replaced_by_the_merge_base(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    start = commit(folder, {"a.py": "1\n"})
    run_git(folder, "checkout", "-q", "-b", "feature")
    head = commit(folder, {"b.py": "1\n"})
    run_git(folder, "checkout", "-q", "main")
    moved = commit(folder, {"a.py": SECRET})
    with workspace(Repository(folder), head, moved, history=True) as made:
        assert made.base == start
        assert SECRET not in run_git(made.folder, "log", "--all", "-p")
    run_git(folder, "checkout", "-q", "--orphan", "apart")
    apart = commit(folder, {"a.py": "other\n"})
    with workspace(Repository(folder), head, apart) as made:  # not later than head, so it can be the base
        assert run_git(made.folder, "show", f"{made.base}:a.py") == "other"
    later = run_git(folder, "cat-file", "commit", apart).replace("1704067200", "1804067200") + "\n"
    (folder / "later").write_text(later)
    late = run_git(folder, "hash-object", "-t", "commit", "-w", "later")
    with pytest.raises(UserError, match="later than head"), workspace(Repository(folder), head, late):
        pass


def odd_tree(repository: Repository, entries: list[tuple[str, bytes, str]]) -> str:
    """A commit with a tree that git itself would not make: (mode, name, object id) as they stand."""
    raw = b"".join(mode.encode() + b" " + name + b"\x00" + bytes.fromhex(oid) for mode, name, oid in entries)
    args = ("hash-object", "-t", "tree", "-w", "--literally", "--stdin")
    tree = repository.run(*args, stdin=raw).decode().strip()
    text = f"tree {tree}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nodd\n"
    return repository.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode()).decode().strip()


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[tuple[Repository, str]]:
    """A commit whose tree climbs out, names git's own, links away, nests a file under a file and holds a module."""
    folder = tmp_path / "odd"
    start = commit(folder, {"sub/x.py": "x\n"})
    repository = Repository(folder)
    blob = repository.run("hash-object", "-w", "--stdin", stdin=b"evil\n").decode().strip()
    away = repository.run("hash-object", "-w", "--stdin", stdin=b"../../../../etc/passwd").decode().strip()
    sub = run_git(folder, "rev-parse", "HEAD:sub")
    names = (b"..", b".git", b".GIT", b"git~1", b".g\xe2\x80\x8cit", b".git. ")
    entries = [("40000", name, sub) for name in names]
    entries += [("120000", b"link", away), ("120000", b".gitmodules", away), ("160000", b"module", start)]
    entries += [("100755", b"run.sh", blob), ("100644", b"caf\xe9 \xff.py", blob), ("100644", b"new\nline", blob)]
    entries += [("100644", b"A.py", blob), ("100644", b"a.py", blob), ("100644", b"dir", blob), ("40000", b"dir", sub)]
    yield repository, odd_tree(repository, entries)


@pytest.mark.parametrize("history", [False, True])
def test_odd_trees_become_plain_files_or_are_counted(
    tmp_path: Path, odd: tuple[Repository, str], history: bool
) -> None:
    repository, head = odd
    with workspace(repository, head, history=history, within=tmp_path) as made:
        found = [path for path in made.folder.rglob("*") if ".git" not in path.parts and path.name != "module"]
        names = {os.fsencode(path.relative_to(made.folder)) for path in found}
        assert names == {b"link", b"run.sh", b"caf\xe9 \xff.py", b"new\nline", b"A.py", b"a.py", b"dir"}
        assert all(stat.S_ISREG(path.lstat().st_mode) for path in found)
        assert (made.folder / "link").read_bytes() == b"../../../../etc/passwd"
        assert os.access(made.folder / "run.sh", os.X_OK) and not os.access(made.folder / "a.py", os.X_OK)
        assert list((made.folder / "module").iterdir()) == []
        reasons = {drop.item: drop.reason for drop in made.left_out}
        assert reasons["link"].startswith("is a symbolic link") and reasons["module"].startswith("is a submodule")
        assert reasons[".gitmodules"] == "is a link where git wants a file"
        assert reasons["dir/x.py"] == "occurs twice in the tree"
        assert sum("git's own" in reason for reason in reasons.values()) == 6
        if not history:
            assert run_git(made.folder, "status", "--porcelain") == ""
    assert not any(path.name == "x.py" for path in tmp_path.rglob("x.py") if "odd" not in path.parts)


@pytest.mark.slow
def test_a_mirror_with_a_part_of_the_files(tmp_path: Path, project: Project) -> None:
    run_git(project.folder, "config", "uploadpack.allowFilter", "true")
    run_git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{project.folder}", "part")
    part = tmp_path / "part"
    blob = run_git(project.folder, "rev-parse", f"{project.head}:a.py")
    run_git(part, "cat-file", "-p", blob)
    repository = Repository(part)
    with (
        pytest.raises(UserError, match=r"holds only 1 of the 5 files.*whole=False"),
        workspace(repository, project.head),
    ):
        pass
    with workspace(repository, project.head, project.base, whole=False) as made:
        assert [p.name for p in made.folder.iterdir() if p.name != ".git"] == ["a.py"]
        assert {drop.reason for drop in made.left_out} == {"is not in the repository"} and len(made.left_out) == 4
        assert run_git(made.folder, "status", "--porcelain") == ""


@pytest.mark.slow
def test_what_is_not_there_is_said_in_one_line(tmp_path: Path, project: Project) -> None:
    repository = Repository(project.folder)
    for head, base in (("1" * 40, None), (project.head, "2" * 40), ("--all", None), (project.head, "main..main")):
        with pytest.raises(UserError, match=r"no commit|is not a commit"), workspace(repository, head, base):
            pass
    with pytest.raises(UserError, match=r"no repository at .*moved"), workspace(Repository(tmp_path / "gone"), "main"):
        pass
    with pytest.raises(UserError, match="cannot make"), workspace(repository, project.head, within=tmp_path / "none"):
        pass


@pytest.mark.slow
def test_it_is_gone_afterwards_whatever_was_done_in_it(tmp_path: Path, project: Project) -> None:
    seen: list[Workspace] = []
    with pytest.raises(ZeroDivisionError), workspace(Repository(project.folder), project.head, within=tmp_path) as made:
        seen.append(made)
        locked = made.folder / "locked"
        (locked / "in").mkdir(parents=True)
        (locked / "in" / "file").write_text("x")
        (made.folder / "away").symlink_to(project.folder)
        (locked / "in").chmod(0o500)
        locked.chmod(0)
        raise ZeroDivisionError
    assert not seen[0].folder.parent.exists()
    assert (project.folder / "a.py").exists()
    assert not list(tmp_path.glob("reviewgauge-*"))


@pytest.mark.parametrize("kilobytes", [64, 200])
def test_a_full_disk_is_an_error_and_never_half_of_the_code(tmp_path: Path, kilobytes: int) -> None:
    files = {f"f{n}.bin": random.Random(n).randbytes(20_000) for n in range(20)}
    head = commit(tmp_path / "large", files)
    disk = tmp_path / "disk"
    disk.mkdir()
    size = f"size={kilobytes}k"
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(disk)], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with pytest.raises(UserError, match=r"(?i)space|disk|cannot make"):
            with workspace(Repository(tmp_path / "large"), head, within=disk) as made:
                assert not made.left_out and all((made.folder / name).exists() for name in files), "all or nothing"
            raise UserError("there was enough space")  # the largest of these disks may do
        assert not list(disk.iterdir())
        if kilobytes == 200:
            with pytest.raises(UserError, match="space"):
                export_files(Repository(tmp_path / "large"), head, disk / "out")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
