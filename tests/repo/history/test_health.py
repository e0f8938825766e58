from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import read_history
from reviewgauge.repo.history.health import inspect
from written_history import Written, write_history

DAY = 86_400
NOW = datetime(2024, 1, 1, tzinfo=UTC)


def at(day: int) -> str:
    """A day after 2020 began."""
    return f"{1_577_836_800 + day * DAY} +0000"


def clone(source: Path, target: Path, *options: str) -> Repository:
    subprocess.run(["git", "config", "uploadpack.allowFilter", "true"], cwd=source, check=True)
    subprocess.run(["git", "clone", "-q", *options, f"file://{source}", str(target)], check=True, capture_output=True)
    return Repository(target)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    history = [Written({b"f": b"%d\n" % n}, when=at(n)) for n in range(6)]
    history += [Written({b"g": b"1"}, when=at(7), parents=(2,)), Written({b"g": b"1"}, when=at(8), parents=(5, 6))]
    write_history(tmp_path / "source.git", history)
    return tmp_path / "source.git"


def test_a_sound_repository(source: Path) -> None:
    found = inspect(Repository(source), now=NOW)
    assert (found.name, found.branch, found.bare, found.detached) == ("source", "main", True, False)
    assert (found.commits, found.merges) == (8, 1)
    assert (found.first, found.last) == (datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 9, tzinfo=UTC))
    assert found.warnings == () and not (found.shallow or found.partial or found.empty or found.borrows)


@pytest.mark.slow
def test_what_is_lacking_is_said(source: Path, tmp_path: Path) -> None:
    shallow = inspect(clone(source, tmp_path / "s", "--depth=2"), now=NOW)
    assert shallow.shallow and not shallow.bare and shallow.commits < 8
    assert "shallow" in shallow.warnings[0] and "--unshallow" in shallow.warnings[0]
    repository = clone(source, tmp_path / "p", "--bare", "--filter=blob:none")
    partial = inspect(repository, now=NOW)
    assert partial.partial and partial.commits == 8 and "partial" in partial.warnings[0]
    with pytest.raises(UserError, match=r"partial clone are missing.*without --filter"):
        list(read_history(repository))
    assert (
        len(list(read_history(clone(source, tmp_path / "s2", "--depth=3", "--bare"))))
        == inspect(Repository(tmp_path / "s2"), now=NOW).commits
    )
    with pytest.raises(UserError, match=r"lacks the files of HEAD \(clone it again without --filter\)"):
        inspect(clone(source, tmp_path / "t", "--bare", "--filter=tree:0"))
    subprocess.run(["git", "clone", "-q", "-s", "--bare", str(source), str(tmp_path / "b")], check=True)
    assert inspect(Repository(tmp_path / "b"), now=NOW).borrows


def test_empty_detached_and_unborn(source: Path, tmp_path: Path) -> None:
    write_history(tmp_path / "empty", [])
    empty = inspect(Repository(tmp_path / "empty"))
    assert empty.empty and empty.commits == 0 and empty.branch == "main" and "no commits yet" in empty.warnings[0]
    checkout = tmp_path / "c"
    clone(source, checkout)
    subprocess.run(["git", "checkout", "-q", "--detach", "HEAD~1"], cwd=checkout, check=True)
    detached = inspect(Repository(checkout), now=NOW)
    assert detached.detached and detached.commits == 6 and not detached.bare and detached.name == "c"
    linked = tmp_path / "linked"
    subprocess.run(["git", "worktree", "add", "-q", "-b", "other", str(linked)], cwd=checkout, check=True)
    found = inspect(Repository(linked), now=NOW)
    assert (found.branch, found.bare, found.commits) == ("other", False, 6)
    subprocess.run(["git", "symbolic-ref", "HEAD", "refs/heads/nowhere"], cwd=source, check=True)
    with pytest.raises(
        UserError, match=r"HEAD of source names nowhere, which does not exist \(name one of its branches: main\)"
    ):
        inspect(Repository(source))
    assert inspect(Repository(source), "main", now=NOW).commits == 8
    (source / "HEAD").unlink()
    with pytest.raises(UserError):
        inspect(Repository(source))
    with pytest.raises(UserError, match="is not a git directory"):
        inspect(Repository(tmp_path / "nowhere"))


def test_wrong_clocks_are_counted(tmp_path: Path) -> None:
    days = [10, 11, 3, 12, 11]  # the third is eight days before its parent, the last only one
    history = [Written({b"f": b"%d\n" % n}, when=at(day)) for n, day in enumerate(days)]
    history += [Written(when=at(9_999)), Written(when="0 +0000"), Written(when="99999999999999 +0000")]
    write_history(tmp_path / "r", history)
    found = inspect(Repository(tmp_path / "r"), now=NOW)
    assert (found.commits, found.skewed, found.implausible) == (8, 1, 3)
    assert (found.first, found.last) == (datetime(2020, 1, 4, tzinfo=UTC), datetime(2020, 1, 13, tzinfo=UTC))
    assert found.warnings == (
        "1 commit of r is dated over a day before a parent",
        "3 commits of r are dated before 1990, in the future, or not at all",
    )
