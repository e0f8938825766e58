"""The branch of the sample that goes on after its cases: sound in every version, and known down to each mended line."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from git_project import run_git
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, Comment, Resolution, Span
from reviewgauge.datasets.sample import MAINTAINED, Sample
from reviewgauge.repo.git.folders import export_files
from reviewgauge.repo.git.repository import Repository

ROOT = Path(__file__).parents[2]


def module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    return module("sample_build", ROOT / "sample" / "build.py")


@pytest.fixture(scope="module")
def labels() -> ModuleType:
    return module("sample_labels", ROOT / "sample" / "labels.py")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def sample(home: Path, monkeypatch: pytest.MonkeyPatch) -> Sample:
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(home))
    return Sample()


@pytest.fixture
def clone(sample: Sample, home: Path) -> Path:
    folder = home / "clone"
    if not folder.exists():
        sample.check_out(folder, MAINTAINED)
    return folder


def later(clone: Path) -> list[str]:
    """The commits after the last case, oldest first."""
    last = list(Sample().cases())[-1].change.head
    return run_git(clone, "rev-list", "--reverse", f"{last}..HEAD").split()


def test_it_goes_on_where_the_cases_end(sample: Sample, clone: Path) -> None:
    commits = later(clone)
    assert len(commits) == len(list((ROOT / "sample" / "later").iterdir())) == 47
    assert commits[-1] == sample.tip(MAINTAINED)
    dates = run_git(clone, "log", "--reverse", "--format=%cs").splitlines()
    assert dates == sorted(dates)
    assert dates[-1] == "2026-10-29"


def test_a_tool_that_is_measured_on_the_cases_does_not_see_it(sample: Sample, tmp_path: Path) -> None:
    sample.check_out(tmp_path / "tools")
    refs = run_git(tmp_path / "tools", "for-each-ref", "--format=%(refname)").split()
    assert not [ref for ref in refs if MAINTAINED in ref]
    assert run_git(tmp_path / "tools", "rev-list", "--all", "--count") == "25"
    for case in sample.cases():
        assert b"maintained" not in Repository(Path(case.change.git or "")).run("for-each-ref")
        break
    with pytest.raises(UserError, match="holds no branch elsewhere"):
        sample.check_out(tmp_path / "other", "elsewhere")


@pytest.mark.parametrize("number", [46])
@pytest.mark.drill
def test_its_own_tests_pass(number: int, clone: Path, tmp_path: Path) -> None:
    """The Python tests of some of its versions; what is exported here is our own code."""
    repository, commit = Repository(clone), later(clone)[number]
    export_files(repository, commit, tmp_path, [path for path in repository.paths(commit) if path.startswith("api/")])
    command = [sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", "."]
    done = subprocess.run(command, cwd=tmp_path / "api", capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_mended_must_have_been_planted_and_only_once(builder: ModuleType) -> None:
    truth = builder.Truth()
    truth.add("c1", {}, [Comment(id="01-a", body="a")])
    truth.add("c2", {"mends": ["01-a"], "kind": "fix"}, [])
    assert (truth.found["01-a"].mended, truth.found["01-a"].said) == ("c2", True)
    for name in ("01-a", "02-b"):
        with pytest.raises(builder.Mistake, match=name):
            truth.add("c3", {"mends": [name]}, [])


@pytest.mark.drill
def test_the_page_shows_how_many_labels_are_right(builder: ModuleType, labels: ModuleType, tmp_path: Path) -> None:
    """What `from_git` finds in this history against what is known of it: 47 later commits, read one by one."""
    built = builder.build(tmp_path / "built")
    assert len(built.findings) == 49
    held = labels.held_against_history(built.maker.git_dir, built.findings, tmp_path / "bench")
    page = (ROOT / "docs" / "reference" / "sample.md").read_text("utf-8")
    assert "\n".join(labels.table(held)) in page, "\n".join(labels.table(held))
    assert 20 <= len(held.changed) + len(held.clean) <= 40
    assert min(len(held.changed), len(held.clean)) >= 5


def test_labels_are_held_against_the_truth(labels: ModuleType, builder: ModuleType) -> None:
    span = Span(path="a.py", start=3, end=4)
    finding = builder.Finding("01-a", "c1", (span,), "f1", True)
    silent = builder.Finding("02-b", "c2", (span,), "f2", False)
    far = builder.Finding("03-c", "c3", (span,), "f3", True)

    def case(head: str, fix: str = "", start: int = 4) -> Case:
        place = Span(path="a.py", start=start, end=start)
        said = Comment(id="x", body="x", span=place, resolution=Resolution(commit=fix), extra={"fix": fix})
        change = Change(repo="shop", head=head)
        return Case(id=head, change=change, references=(said,) if fix else (), verdict=not fix)

    cases = [case("c1", "f1"), case("c2"), case("c4", "f1", 9), case("c5")]
    held = labels.hold([finding, silent, far], cases, {"c3": "too young"})
    assert [(bool(one.mended), one.on_the_lines) for one in held.labels] == [(True, True), (False, False)]
    assert (held.changed, held.clean) == ([True, False], [False, True])
    assert held.missed == {"no case: too young": 1}
    beside = labels.hold([finding], [case("c1", "f1", 9)], {})
    assert not beside.labels[0].on_the_lines
