"""A benchmark and a run as a Hugging Face data set, and back; `datasets` itself reads them where it is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from reviewgauge.api.export import export
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.specs import load
from reviewgauge.datasets.sample import Sample
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.exports.hugging_face import HuggingFace as Exported
from reviewgauge.exports.writing.export import Material

pytest.importorskip("pyarrow", reason="pip install 'reviewgauge[frames]'")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "run"
    review("sample", "recorded", "silent", run=folder, limit=6)
    score(folder, "hits", resamples=10)
    return folder


@pytest.fixture
def out(run: Path, tmp_path: Path) -> Path:
    export("hugging_face", run, tmp_path / "out")
    return tmp_path / "out"


def back(out: Path) -> Dataset:
    return load(Dataset, f"hugging_face(path={str(out)!r})")


def test_cases_and_reviews_come_back_as_they_went(run: Path, out: Path) -> None:
    folder = RunFolder.open(run)
    bare = [c.model_copy(update={"change": c.change.model_copy(update={"git": None})}) for c in folder.cases()]
    assert list(back(out).cases()) == bare
    reviews, _ = back(out).recorded()
    assert list(reviews) == [one.review for one in folder.outcomes() if one.review]


@pytest.mark.processes
def test_the_real_package_reads_every_configuration(out: Path, tmp_path: Path) -> None:
    try:
        version("datasets")
    except PackageNotFoundError:
        pytest.skip("needs the package datasets, which is not installed")
    read = "import datasets, sys; print(datasets.load_dataset(*sys.argv[1:3], cache_dir='cache')['test'].num_rows)"
    for name in ("cases", "references", "reviews", "scores"):
        done = subprocess.run(
            [sys.executable, "-c", read, out, name], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert done.returncode == 0 and int(done.stdout) > 0, done.stderr


@pytest.mark.parametrize(("old", "new", "problem"), [
    ('"name": "repo", "dtype": "string"', '"name": "owner", "dtype": "string"', "says other columns"),
    ('"name": "repo", "dtype": "string"', '"name": "repo", "dtype": "int64"', "says other columns"),
    ('"num_examples": 6', '"num_examples": 7', "says 7 rows, and cases.parquet has 6"),
    ("dataset_info", "data_info", "has no dataset_info"),
    ('"config_name": "cases"', '"config_name": "case"', "no configuration `cases`"),
])  # fmt: skip
def test_a_card_that_lies_is_refused(out: Path, old: str, new: str, problem: str) -> None:
    card = out / "README.md"
    card.write_text(card.read_text().replace(old, new))
    with pytest.raises(BadInput, match=re.escape(problem)):
        list(back(out).cases())


def test_a_broken_file_and_one_that_is_not_there_are_named(out: Path) -> None:
    (out / "data" / "cases.parquet").write_bytes(b"PAR1 broken")
    with pytest.raises(BadInput, match="cannot be read as Parquet"):
        list(back(out).cases())
    (out / "README.md").unlink()
    with pytest.raises(UserError, match=r"README\.md"):
        list(back(out).cases())


def test_what_may_not_be_passed_on_stays_here(tmp_path: Path, out: Path) -> None:
    cases = tmp_path / "mine.jsonl"
    cases.write_text(
        '{"id": "a#1", "change": {"repo": "a/b"}, "references": [{"id": "r", "body": "A secret text."}]}\n'
    )
    with pytest.raises(UserError, match=r"pass it on.*licence="):
        export("hugging_face", str(cases), tmp_path / "no")
    assert not (tmp_path / "no").exists()
    review(str(cases), "silent", run=tmp_path / "run")
    score(tmp_path / "run", "hits", resamples=10)
    result = export("hugging_face", tmp_path / "run", tmp_path / "bare")
    assert result.counts == {"scores": 1} and {drop.item for drop in result.left_out} >= {"cases", "reviews"}
    assert not any(b"secret text" in file.read_bytes() for file in (tmp_path / "bare").rglob("*") if file.is_file())
    assert export("hugging_face(licence='MIT')", str(cases), tmp_path / "yes").counts == {"cases": 1, "references": 1}


def test_nobody_else_changes_the_licence_of_a_data_set(tmp_path: Path) -> None:
    closed = Sample().card.model_copy(update={"licence": "CC-BY-NC-4.0"})
    given = Material("closed", closed, list(Sample().cases()))
    with pytest.raises(UserError, match="pass it on"):
        Exported(licence="mit").write(given, tmp_path / "closed")
    assert not (tmp_path / "closed").exists()
