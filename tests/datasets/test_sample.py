"""The shipped sample: rebuilt from its source, unpacked, and sound in every version."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, RequiredContext, Side
from reviewgauge.core.specs import load
from reviewgauge.datasets.sample import Sample, unpack
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.git.folders import export_files
from reviewgauge.repo.git.repository import Repository

ROOT = Path(__file__).parents[2]
PACKAGED = ROOT / "src" / "reviewgauge" / "datasets" / "_sample"


@pytest.fixture(scope="session")
def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sample_build", ROOT / "sample" / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sample_build"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def cases(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(home))
    return list(Sample().cases())


@pytest.fixture(scope="module")
def built(builder: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The sample, built on a machine whose git has settings of its own."""
    folder = tmp_path_factory.mktemp("built")
    settings = folder / "gitconfig"
    settings.write_text("[commit]\n\tgpgSign = true\n[core]\n\tautocrlf = true\n[user]\n\tname = Somebody\n")
    with pytest.MonkeyPatch.context() as machine:
        machine.setenv("GIT_CONFIG_GLOBAL", str(settings))
        machine.setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
        return builder.build(folder / "sample")


@pytest.mark.slow
def test_a_build_gives_the_same_commits_and_the_same_cases_on_every_machine(builder: ModuleType, built: Any) -> None:
    heads = builder.bundle_heads(PACKAGED / "sample.bundle", built.maker.git_dir)
    assert heads == {"refs/heads/main": built.head, "refs/heads/maintained": built.maintained}
    assert built.head == built.cases[-1].change.head
    assert b"".join(case.to_line() for case in built.cases) == (PACKAGED / "cases.jsonl").read_bytes()
    assert b"".join(review.to_line() for review in built.reviews) == (PACKAGED / "reviews.jsonl").read_bytes()


@pytest.mark.slow
def test_a_comment_on_a_line_that_is_not_in_the_diff_stops_the_build(builder: ModuleType, built: Any) -> None:
    repository, change = Repository(built.maker.git_dir), built.cases[0].change
    for path, text in (
        ("api/wayside/parcels.py", "class WrongStatus(Exception):"),
        ("api/wayside/parcels.py", "no such line"),
        ("api/wayside/db.py", "import sqlite3"),
    ):
        with pytest.raises(builder.Mistake, match="x: "):
            builder.find_span({"id": "x", "path": path, "from": text}, repository, change)


def test_the_card_counts_what_is_there(cases: list[Case], home: Path) -> None:
    assert Sample().counts() == Sample().card.expected
    assert not Sample().notes()
    findings = [c for case in cases for c in case.references if c.same_as is None]
    assert len(findings) == 43
    phrased = Counter(c.same_as or c.id for case in cases for c in case.references)
    assert set(phrased.values()) == {2, 3}


def test_a_third_is_clean_and_the_rest_is_not(cases: list[Case]) -> None:
    assert Counter(case.clean for case in cases) == {True: 8, False: 16}
    assert all(case.verdict is not None for case in cases)
    for case in cases:
        assert case.clean or 1 <= sum(c.same_as is None for c in case.references) <= 3
        assert case.clean or {c.needs for c in case.references} <= set(RequiredContext)
    assert {c.needs for case in cases for c in case.references} == set(RequiredContext)


def test_facts_are_complete_and_say_what_the_diff_says(cases: list[Case]) -> None:
    for case in cases:
        hunks = [hunk for file in case.change.files for hunk in parse_patch(file.patch or "")]
        changed = sum(line.kind != " " for hunk in hunks for line in hunk.lines)
        assert case.facts["hunks"] == len(hunks)
        assert case.facts["changed_lines"] == changed
        assert 20 <= changed <= 160
        assert {"language", "size", "year", "author", "domain"} <= set(case.facts)


def test_every_comment_lies_on_lines_that_the_diff_shows(cases: list[Case]) -> None:
    for case in cases:
        shown: dict[tuple[str, Side], set[int]] = {}
        for file in case.change.files:
            lines = [line for hunk in parse_patch(file.patch or "") for line in hunk.lines]
            shown[file.path, Side.NEW] = {line.new for line in lines if line.new is not None}
            shown[file.path, Side.OLD] = {line.old for line in lines if line.old is not None}
        for comment in (*case.references, *case.neutral, *case.rejected):
            span = comment.span
            assert span is not None and span.start is not None and span.end is not None
            assert set(range(span.start, span.end + 1)) <= shown[span.path, span.side], comment.id


def test_every_phrasing_is_somebody_elses(cases: list[Case]) -> None:
    for case in cases:
        who = Counter((c.same_as or c.id, c.author) for c in case.references)
        assert max(who.values(), default=1) == 1, case.id
        comments = (*case.references, *case.neutral, *case.rejected)
        assert case.facts["author"] not in {c.author for c in comments}, case.id


def test_the_history_is_one_line_of_commits_by_made_up_people(cases: list[Case]) -> None:
    repository = Repository(Path(cases[0].change.git or ""))
    for before, after in pairwise(cases):
        assert before.change.head == after.change.base
    mails = repository.run("log", "--format=%ae %ce", "main").decode().split()
    assert len(mails) == 2 * (len(cases) + 1)
    assert all(mail.endswith("@example.org") for mail in mails)


def test_the_patches_are_those_of_the_commits(cases: list[Case]) -> None:
    for case in cases:
        change = case.change
        assert Repository(Path(change.git or "")).changed_files(change.base or "", change.head or "") == change.files


def test_nothing_that_a_reviewer_sees_points_at_a_problem(cases: list[Case]) -> None:
    for case in cases:
        text = case.change.model_dump_json().lower()
        for word in ("bug here", "planted", "fixme", "vulnerab", "on purpose", "intentional"):
            assert word not in text, (case.id, word)


@pytest.mark.slow
def test_several_processes_unpack_at_once(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4) as pool:
        made = list(pool.map(unpack, [PACKAGED / "sample.bundle"] * 8, [tmp_path] * 8))
    assert len(set(made)) == 1
    assert [path.name for path in tmp_path.iterdir()] == [made[0].name]
    assert len(Repository(made[0]).paths("main")) > 30


def test_without_a_place_to_write_the_diffs_are_still_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(blocked / "home"))
    found = list(Sample().cases())
    assert len(found) == 24
    assert all(case.change.git is None and case.change.has_diff for case in found)
    assert [note.item for note in Sample().notes()] == ["the repository"]


def test_a_bundle_that_is_none_is_said_to_be_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(tmp_path / "home"))
    shutil.copy(PACKAGED / "cases.jsonl", tmp_path)
    (tmp_path / "sample.bundle").write_bytes(b"# v2 git bundle\n")
    other = load(Dataset, f"sample(path={str(tmp_path)!r})")
    assert len(list(other.cases())) == 24
    assert len(other.notes()) == 1
    assert not list((tmp_path / "home").iterdir())


@pytest.mark.parametrize("number", [23])
@pytest.mark.slow
def test_its_own_tests_pass(number: int, cases: list[Case], tmp_path: Path) -> None:
    """The Python tests of the sample, at some of its versions; what is exported here is our own code."""
    change = cases[number].change
    repository = Repository(Path(change.git or ""))
    paths = [path for path in repository.paths(change.head or "") if path.startswith("api/")]
    export_files(repository, change.head or "", tmp_path / "code", paths)
    command = [sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", "."]
    done = subprocess.run(command, cwd=tmp_path / "code" / "api", capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr


def test_the_page_shows_the_counts_of_the_build(builder: ModuleType, cases: list[Case]) -> None:
    page = (ROOT / "docs" / "reference" / "sample.md").read_text("utf-8")
    assert "\n".join(builder.counts(tuple(cases))) in page
    for kind, count in (("references", 87), ("neutral", 23), ("rejected", 37)):
        assert f"| {kind} | {count} |" in page
        assert sum(len(getattr(case, kind)) for case in cases) == count


def test_the_recorded_review_covers_every_change_and_stands_on_real_lines(cases: list[Case]) -> None:
    reviews, labels = Sample().recorded()
    assert [review.case for review in reviews] == [case.id for case in cases]
    assert {review.system for review in reviews} == {"blind-reader"}
    assert not labels
    placed = [comment for review in reviews for comment in review.comments]
    assert len(placed) == 52
    assert all(comment.span is not None for comment in placed)
    with pytest.raises(UserError, match="no parameter 'extractor'"):
        Sample().recorded(extractor="x")
