from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from local_forge import Forge, git, serve
from local_forge import commit as commit_files
from reviewgauge.core.data_card import Card, Tree
from reviewgauge.core.errors import UserError
from reviewgauge.datasets.aacr_bench import AacrBench
from reviewgauge.datasets.code_reviewer import CodeReviewer
from reviewgauge.datasets.files.get import fetch_code, fetch_files
from reviewgauge.datasets.jsonl import Jsonl
from reviewgauge.datasets.martian import Martian
from reviewgauge.datasets.review_bench import ReviewBench
from reviewgauge.datasets.sample import Sample


def test_files_are_taken_into_the_data_home_and_found_there(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(tmp_path))
    with pytest.raises(UserError, match="reviewgauge get martian"):
        Martian().cases()
    got = fetch_files(Martian(), source=shared_data / "martian")
    assert got.folder == tmp_path / "martian" and got.files == got.fetched == 10
    assert len(got.differs) == 6 and got.absent == ("golden_comments/discourse.json", "golden_comments/keycloak.json")
    assert len(Martian().cases()) == 30
    fetch_files(AacrBench(), source=shared_data / "aacr-bench", out=tmp_path / "elsewhere")
    assert len(AacrBench(path=str(tmp_path / "elsewhere")).cases()) == 200


def test_a_data_set_without_files_or_commits_is_named(shared_data: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="ships no code"):
        fetch_files(Jsonl())
    with pytest.raises(UserError, match="martian names no commits"):
        fetch_code(Martian(), shared_data / "martian")


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Forge]:
    with serve(tmp_path / "forge") as made:
        yield made


@pytest.mark.slow
def test_code_is_fetched_beside_the_files_and_attached(forge: Forge, tmp_path: Path) -> None:
    change = forge.add("owner/name").change
    files = tmp_path / "files"
    files.mkdir()
    sample = {
        "change_line_count": 5, "project_main_language": "Python", "source_commit": change.base,
        "target_commit": change.head, "githubPrUrl": "https://github.com/owner/name/pull/1", "comments": [],
        "category": "Bug Fix",
    }  # fmt: skip
    (files / "positive_samples.json").write_text(json.dumps([sample]))
    (files / "negative_samples.json").write_text("[]")
    data = AacrBench(path=str(files))
    got = fetch_code(data, files, forge=forge.url)
    assert got == (1, 1, 0, ())
    assert data.cases()[0].change.has_diff
    assert fetch_code(data, files, forge=forge.url) == (1, 0, 1, ())


class SmallBench(ReviewBench):
    """ReviewBench out of a repository of this test."""

    tree: ClassVar[Tree]

    @property
    def card(self) -> Card:
        return super().card.model_copy(update={"tree": self.tree})


class Elsewhere(Martian):
    """Martian's files out of a repository of this test."""

    url: ClassVar[str]

    @property
    def card(self) -> Card:
        return super().card.model_copy(update={"origin": self.url})


def test_another_version_comes_by_its_commit_into_a_folder_of_its_own(
    forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(tmp_path / "data"))
    clone = forge.root / "bench.git"
    said = {"comment": "c", "category": "style"}
    for name, content in {
        "offline/golden_comments/sentry.json": [
            {"pr_title": "t", "url": "https://github.com/a/b/pull/1", "comments": [said]}
        ],
        "offline/results/gpt-5.5/candidates.json": {},
        "online/other.json": {},
    }.items():
        (clone / name).parent.mkdir(parents=True)
        (clone / name).write_text(json.dumps(content))
    git(clone, "init", "-q", "-b", "main")
    commit = commit_files(clone, "files")
    Elsewhere.url = f"{forge.url}/bench"
    got = fetch_files(Elsewhere(), commit=commit)
    assert got.folder.name.endswith(f"-{commit[:12]}") and got[1:] == (2, 2, (), ())
    assert fetch_files(Elsewhere(), commit=commit) == got._replace(fetched=0)
    strict = Martian(path=str(got.folder), profile="core")
    assert [(len(case.references), len(case.neutral)) for case in strict.cases()] == [(0, 1)]
    assert fetch_files(Elsewhere(), source=clone, commit=commit, out=tmp_path / "again").files == 2
    with pytest.raises(UserError, match="not a clone that holds commit"):
        fetch_files(Elsewhere(), source=tmp_path, commit=commit)
    with pytest.raises(UserError, match="not a whole commit id"):
        fetch_files(Elsewhere(), commit=commit[:12])
    with pytest.raises(UserError, match="there is one version of it"):
        fetch_files(CodeReviewer(), commit=commit)


@pytest.mark.slow
def test_the_files_of_a_repository_are_fetched_at_their_commit(
    forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(tmp_path / "data"))
    change = forge.add("review-bench/owner_name").change  # its own copy of github.com/owner/name
    assert change.base and change.head
    pull = {"repo": "https://github.com/owner/name", "pr_number": 1, "base": change.base, "head": change.head}
    key = f"owner_name_1-{change.head[:8]}"
    finding = {"file": "a.py", "start_line": 2, "end_line": 2, "message": "m", "tp_fp": "tp", "producer": "people"}
    golden = {"pr_key": key, "pr": pull, "findings": [finding]}
    folder = forge.root / "bench.git"
    (folder / "golden").mkdir(parents=True)
    (folder / "golden" / f"{key}.json").write_text(json.dumps(golden))
    git(folder, "init", "-q", "-b", "main")
    commit = commit_files(folder, "files")
    SmallBench.tree = Tree(url=f"{forge.url}/bench.git", commit=commit, paths=("golden", "corpus"))
    data = SmallBench(path=str(tmp_path / "data"))
    assert fetch_files(data, out=tmp_path / "data")[1:] == (1, 1, (), ())
    assert fetch_files(data, out=tmp_path / "data")[1:] == (1, 0, (), ())
    assert fetch_files(data, source=folder, out=tmp_path / "again")[1:] == (1, 1, (), ())  # a clone is official
    copied = fetch_files(ReviewBench(), source=folder)  # it has not the commit of the card
    assert copied.differs == (f"what lies in {folder}",) and len(ReviewBench().cases()) == 1
    got = fetch_code(data, tmp_path / "data", forge=forge.url)
    assert got.fetched == 1 and data.cases()[0].change.has_diff


def test_the_sample_puts_its_repository_where_tools_can_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(tmp_path / "data"))
    got = fetch_files(Sample(), out=tmp_path / "wayside")
    heads = {case.change.head for case in Sample().cases()}
    log = subprocess.run(
        ["git", "-C", str(got.folder), "log", "--format=%H"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert heads < set(log)
    assert len(log) == len(heads) + 1
    assert (got.folder / "api").is_dir()
    with pytest.raises(UserError, match="is not empty"):
        fetch_files(Sample(), out=tmp_path / "wayside")
