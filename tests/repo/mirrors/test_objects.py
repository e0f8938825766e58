from __future__ import annotations

import os
from pathlib import Path

import pytest

from git_project import commit, run_git
from malicious_repos import armed
from reviewgauge.repo.mirrors.mirrors import mirror_local
from reviewgauge.repo.mirrors.objects import find_escape


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
