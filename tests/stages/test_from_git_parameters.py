"""What people tell `from_git`: branches with odd names, dates, names, and a history that ends before today."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.core.building import Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.repo.szz import trace
from reviewgauge.stages.from_git import FromGit
from reviewgauge.stages.history.memory import code_fingerprint, fingerprint


@pytest.fixture
def told(tmp_path: Path) -> Told:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    told.commit("Add total", {"shop/total.py": "def total(items):\n    return sum(items[1:])\n"})
    told.commit("Fix total forgetting one", {"shop/total.py": "def total(items):\n    return sum(items)\n"}, days=20)
    told.commit("Add late", {"shop/late.py": "def late(day):\n    return day + 1\n"}, days=300)
    return told


def outcome(folder: Path, out: Path, stage: FromGit) -> dict[str, str]:
    """What became of each change: its title, or the reason of its drop, by the number of the commit."""
    place = BuildFolder(out, str(folder))
    try:
        found: dict[str, str] = {}
        for item in stage.apply([], place):
            if isinstance(item, Candidate):
                found[item.id] = "clean" if item.case.clean else "changed"
            elif isinstance(item, Drop):
                found[item.item] = item.reason
        return found
    finally:
        place.close()


@pytest.mark.parametrize("branch", ["früh/☃-x", "#12-fix&more"])
@pytest.mark.slow
def test_a_branch_may_be_called_anything_that_git_allows(told: Told, tmp_path: Path, branch: str) -> None:
    usual = outcome(told.folder, tmp_path / "a", FromGit())
    told.git("branch", "-m", "main", branch)
    assert outcome(told.folder, tmp_path / "b", FromGit(branch=branch)) == usual


@pytest.mark.parametrize("branch", ["stable", "", "--output=x", "main:README.md", "HEAD~99", "v/no"])
def test_a_branch_that_is_not_there_is_said_with_those_that_are(told: Told, tmp_path: Path, branch: str) -> None:
    told.git("update-ref", "refs/remotes/origin/stable", "HEAD~1")
    with pytest.raises(UserError, match="shop has no branch, tag or commit") as raised:
        outcome(told.folder, tmp_path / "b", FromGit(branch=branch))
    assert "--set branch=NAME; its branches: " in str(raised.value) and "origin/stable" in str(raised.value)
    assert ("main" in str(raised.value).partition("branches:")[2]) == (branch != "stable"), "the likely one alone"


@pytest.mark.slow
def test_a_head_that_names_no_commit_is_no_end_where_a_branch_is_named(told: Told, tmp_path: Path) -> None:
    usual = outcome(told.folder, tmp_path / "a", FromGit())
    told.git("symbolic-ref", "HEAD", "refs/heads/master")  # as on servers whose branch was renamed
    with pytest.raises(UserError, match=r"HEAD of shop does not name a commit .*its branches: main"):
        outcome(told.folder, tmp_path / "b", FromGit())
    assert outcome(told.folder, tmp_path / "c", FromGit(branch="main")) == usual


@pytest.mark.parametrize(("spec", "problem"), [
    ("from_git(since='yesterday')", "since must be a date such as 2024-01-31, got 'yesterday'"),
    ("from_git(until='2020-13-01')", "until must be a date such as 2024-01-31, got '2020-13-01'"),
    ("from_git(limit=-5)", "limit=-5 must be 0 or more"),
    ("from_git(name='../x')", "name climbs out of its folder with '..'"),
    ("from_git(name='/x')", "name is an absolute path"),
    ("from_git(horizon=0)", "horizon=0 must be 1 or more"),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused_before_anything_is_read(spec: str, problem: str) -> None:
    with pytest.raises(UserError) as raised:
        load(Stage, spec)
    assert problem in str(raised.value)


@pytest.mark.slow
def test_nothing_was_observed_after_the_last_commit(told: Told, tmp_path: Path) -> None:
    """A clone that nobody fetched since shows no fixes either, so a late `until` makes no change clean."""
    assert "clean" not in outcome(told.folder, tmp_path / "a", FromGit(until="2023-01-01", clean_days=365)).values()
    told.quiet(400)
    assert "clean" in outcome(told.folder, tmp_path / "c", FromGit()).values()


def test_what_other_code_found_out_is_not_remembered(tmp_path: Path) -> None:
    shutil.copytree(Path(trace.__file__).parent.parent, tmp_path / "repo")
    same = fingerprint(tmp_path / "repo")
    assert same == code_fingerprint("reviewgauge.repo")
    (tmp_path / "repo" / "notes.txt").write_text("no code")
    assert fingerprint(tmp_path / "repo") == same
    with (tmp_path / "repo" / "szz" / "skipping.py").open("a") as file:
        file.write("# another rule\n")
    assert fingerprint(tmp_path / "repo") != same
