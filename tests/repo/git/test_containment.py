from __future__ import annotations

import os
from pathlib import Path

import pytest

from git_project import commit, run_git
from malicious_repos import armed
from reviewgauge.core.errors import UserError
from reviewgauge.repo.git import repository as repository_module
from reviewgauge.repo.git.containment import find_escape
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.mirrors.mirrors import mirror_local


@pytest.fixture
def private(tmp_path: Path) -> Path:
    commit(tmp_path / "private", {"secret.txt": "hunter2\n"})
    return tmp_path / "private"


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    folder = tmp_path / "bench"
    commit(folder / "shop", {"a.py": "x = 1\n"})
    mirror_local(folder / "shop", folder / "shop.git")
    run_git(folder / "shop", "worktree", "add", "-q", "--detach", str(folder / "tree"))
    return folder


def test_ordinary_repositories_stay_where_they_are(bench: Path) -> None:
    for name in ("shop", "shop.git", "tree", "nothing", "shop/.git"):
        assert find_escape(bench / name, [bench]) is None, name
    run_git(bench, "clone", "-q", "--shared", "shop", "borrows")
    assert find_escape(bench / "borrows", [bench]) is None, "it borrows from one that may be read"


@pytest.mark.parametrize(
    "how", ["link", "git link", "gitdir", "commondir", "alternates", "second alternates", "objects", "pack", "up"]
)
def test_every_way_out_is_seen(bench: Path, private: Path, how: str) -> None:
    odd = bench / "shop" / ".git"
    (odd / "objects" / "info").mkdir(exist_ok=True)
    theirs = private / ".git"
    place = bench / "shop"
    match how:
        case "link":
            place = bench / "away"
            place.symlink_to(private)
        case "git link":
            (bench / "linked").mkdir()
            place = bench / "linked"
            (place / ".git").symlink_to(theirs)
        case "gitdir":
            (bench / "dir").mkdir()
            place = bench / "dir"
            (place / ".git").write_text(f"gitdir: {os.path.relpath(theirs, place)}\n")
        case "commondir":
            (odd / "commondir").write_text(f"{theirs}\n")
        case "alternates":
            (odd / "objects" / "info" / "alternates").write_text(f"# a note\n{theirs}/objects\n")
        case "second alternates":
            (odd / "objects" / "info" / "alternates").write_text("../../../shop.git/objects\n")
            (bench / "shop.git" / "objects" / "info" / "alternates").write_text(f"{theirs}/objects\n")
        case "objects":
            (bench / "shop.git" / "objects").rename(bench / "old")
            (bench / "shop.git" / "objects").symlink_to(theirs / "objects")
            place = bench / "shop.git"
        case "pack":
            (bench / "shop.git" / "objects" / "pack" / "x.pack").symlink_to(theirs / "HEAD")
            place = bench / "shop.git"
        case "up":
            place = bench / ".." / "private"
    found = find_escape(place, [bench])
    assert found is not None and found.is_relative_to(private)
    assert find_escape(place, [bench, private]) is None


def test_circles_end_and_an_armed_one_is_refused(tmp_path: Path, bench: Path) -> None:
    (bench / "shop" / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (bench / "shop" / ".git" / "objects" / "info" / "alternates").write_text("../objects\n../../../shop.git/objects\n")
    (bench / "shop.git" / "objects" / "info" / "alternates").write_text("../../shop/.git/objects\n")
    (bench / "round").symlink_to(bench / "round")
    assert find_escape(bench / "shop", [bench]) is None
    assert find_escape(bench / "round", [bench]) is None
    trap = armed(tmp_path, "alternateRefsCommand")
    assert find_escape(trap.folder, [trap.folder]) is not None and not trap.sprung


@pytest.mark.parametrize(
    "name", ["HEAD", "refs/heads/a/b/c", "objects/ab/0123", "objects/info/alternates", "worktrees/tree/refs/x"]
)
def test_no_link_in_a_git_directory_leads_out(bench: Path, private: Path, name: str) -> None:
    link = bench / "shop" / ".git" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(private / ".git" / "HEAD")
    assert find_escape(bench / "shop", [bench]) == private / ".git" / "HEAD"
    assert find_escape(bench / "shop", [bench, private]) is None
    if name.startswith("objects/"):
        assert find_escape(bench / "tree", [bench]) is not None, "a linked work tree reads them too"


def test_files_that_lead_elsewhere_are_read_as_git_reads_them(bench: Path, private: Path) -> None:
    odd = bench / "shop" / ".git"
    (odd / "x\n..").mkdir()
    (odd / "commondir").write_text("x\n../../../../../private/.git\n")
    assert find_escape(bench / "shop", [bench]) == private / ".git"
    (odd / "commondir").unlink()
    (odd / "objects" / "info").mkdir(exist_ok=True)
    (odd / "objects" / "info" / "alternates").write_text(f'"{private}/.git/objects"\n')
    assert find_escape(bench / "shop", [bench]) == private / ".git" / "objects"


def test_a_quoted_path_that_is_not_plain_is_refused(bench: Path) -> None:
    alternates = bench / "shop" / ".git" / "objects" / "info" / "alternates"
    alternates.parent.mkdir(exist_ok=True)
    for odd in ('"\\057etc"', '""/etc', '"a"b', '"a'):
        alternates.write_text(f"{odd}\n")
        assert find_escape(bench / "shop", [bench]) == Path("/")


def include(repository: Path, path: str) -> None:
    with (repository / ".git" / "config").open("a") as config:
        config.write(f"[Include]\n\tpath = {path}\n")


@pytest.mark.parametrize("how", ["config", "HEAD", "objects/aa/bb", "refs/heads/x", "link"])
def test_a_pipe_in_the_place_of_a_file_is_named(bench: Path, how: str) -> None:
    odd = bench / "shop" / ".git"
    file = odd / ("packed-refs" if how == "link" else how)
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    os.mkfifo(odd / "hooks-pipe" if how == "link" else file)
    if how == "link":
        file.symlink_to("/dev/zero")
    with pytest.raises(UserError, match=r"is a (pipe|device), not a file"):
        Repository(bench / "shop").run("rev-parse", "--git-dir")


@pytest.mark.slow
@pytest.mark.parametrize("path", ["../../pipe", "/dev/stdin", "/proc/self/fd/0"])
def test_an_include_that_never_ends_is_an_error(bench: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository_module, "_CONFIG_SECONDS", 0.5)
    os.mkfifo(bench / "pipe")
    include(bench / "shop", path)
    with pytest.raises(UserError, match=r"git does not finish reading the configuration of shop .*about `include` in"):
        Repository(bench / "shop").run("rev-parse", "HEAD")


def test_an_include_of_ones_own_is_read(bench: Path) -> None:
    (bench / "more").write_text("[user]\n\tname = me\n")
    include(bench / "shop", "../../more")
    assert Repository(bench / "shop").run("rev-parse", "--git-dir")
