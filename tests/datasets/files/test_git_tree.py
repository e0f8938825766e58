"""The files of a data set out of one commit of a git repository: from a real server, a clone, or a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from git_project import run_git
from local_forge import PEOPLE, Forge, serve
from reviewgauge.core.data_card import Card, Tree
from reviewgauge.core.errors import UserError
from reviewgauge.datasets.files.get import DONE, fetch_files
from reviewgauge.datasets.review_bench import ReviewBench


class Small(ReviewBench):
    """A data set out of a repository of these tests."""

    tree: ClassVar[Tree]

    @property
    def card(self) -> Card:
        return super().card.model_copy(update={"tree": self.tree})


def got(tree: Tree, folder: Path, source: Path | None = None) -> tuple[int, int, bool]:
    """How many files there are, how many came now, and whether they are official."""
    Small.tree = tree
    found = fetch_files(Small(), source=source, out=folder)
    return found.files, found.fetched, not found.differs


WANTED = {"golden/a.json": "{}", "golden/deep/b.json": "[1]", "LICENSE": "MIT"}


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Forge]:
    with serve(tmp_path / "forge") as made:
        yield made


@pytest.fixture
def origin(forge: Forge) -> Tree:
    """A repository whose wanted commit is not its last one, with links among the files."""
    folder = forge.root / "bench.git"
    folder.mkdir(parents=True)

    def git(*args: str) -> str:
        return run_git(folder, *args, env=PEOPLE)

    git("init", "-q", "-b", "main")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    for name, text in {**WANTED, "scripts/golden.ts": "x", "goldenrod.txt": "y"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "golden/link.json").symlink_to("/etc/hostname")
    git("add", "-A")
    git("commit", "-qm", "one")
    commit = git("rev-parse", "HEAD").strip()
    (folder / "golden/a.json").write_text("changed later")
    git("commit", "-qam", "two")
    return Tree(url=f"{forge.url}/bench.git", commit=commit, paths=("LICENSE", "golden"))


def files(folder: Path) -> dict[str, str]:
    found = {p.relative_to(folder).as_posix(): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}
    found.pop(DONE, None)
    return found


@pytest.mark.slow
def test_the_files_of_the_commit_are_fetched_once(forge: Forge, origin: Tree, tmp_path: Path) -> None:
    target = tmp_path / "data"
    (target / "code").mkdir(parents=True)  # what lies beside them stays
    assert got(origin, target) == (3, 3, True)
    assert files(target) == WANTED
    forge.stop()
    assert got(origin, target) == (3, 0, True)  # no server is needed for what is there
    assert (target / "code").is_dir()


@pytest.mark.slow
def test_a_commit_that_the_server_does_not_have_and_a_dead_server_are_named(
    forge: Forge, origin: Tree, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="not our ref"):
        got(origin.model_copy(update={"commit": "f" * 40}), tmp_path / "data")
    with pytest.raises(UserError, match=r"holds none of nowhere"):
        got(origin.model_copy(update={"paths": ("nowhere",)}), tmp_path / "data")
    forge.stop()
    with pytest.raises(UserError, match="cannot fetch commit"):
        got(origin, tmp_path / "data")
    for url in ("file:///etc", "/etc", "--upload-pack=touch", "ext::sh -c touch"):
        with pytest.raises(UserError, match="is not the address of a git server"):
            got(origin.model_copy(update={"url": url}), tmp_path / "data")
    assert not (tmp_path / "data" / DONE).exists()


def test_a_clone_gives_the_files_of_the_commit_whatever_is_checked_out(
    forge: Forge, origin: Tree, tmp_path: Path
) -> None:
    assert got(origin, tmp_path / "data", forge.root / "bench.git") == (3, 3, True)
    assert files(tmp_path / "data") == WANTED


def test_a_folder_gives_what_lies_in_it_and_says_that_it_is_not_checked(tmp_path: Path) -> None:
    tree = Tree(url="https://example.org/x.git", commit="a" * 40, paths=("LICENSE", "golden"))
    source = tmp_path / "excerpt"
    (source / "golden").mkdir(parents=True)
    (source / "golden/a.json").write_text("mine")
    (source / "golden/b.json").symlink_to("/etc/hostname")
    assert got(tree, tmp_path / "data", source) == (1, 1, False)
    assert files(tmp_path / "data") == {"golden/a.json": "mine"}
    with pytest.raises(UserError, match="is the target folder itself"):
        got(tree, source, source)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds none of LICENSE, golden"):
        got(tree, tmp_path / "data", tmp_path / "empty")
