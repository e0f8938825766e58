"""Bundles whose texts may not be passed on, and bundles with a validity report."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import openpyxl
import pytest

import reviewgauge
from bundle_toys import files_of, tamper, write_bench
from reviewgauge.api.bundle import policy_of
from reviewgauge.cli.main import main
from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.engine.bundle.contents import may_be_passed_on


def make_run(bench: Path, folder: Path, *metrics: str) -> Path:
    assert main(["review", str(bench), "recorded", "silent", "-o", str(folder)]) == 0
    assert main(["score", str(folder), *metrics, "--resamples", "100"]) == 0
    return folder


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def run(bench: Path) -> Path:
    return make_run(bench, bench.parent / "run", "hits", "chrf")


@pytest.fixture(scope="module")
def bare(run: Path) -> Path:
    path = run.parent / "bare.zip"
    reviewgauge.bundle(run, out=path, texts=False, slices=["size"], resamples=100)
    return path


# --- which licence allows what -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("licence", "open_"), [
    ("MIT", True), ("Apache-2.0", True), ("CC-BY-4.0", True), ("CC BY-SA 4.0", True), ("CC-BY-NC-4.0", False),
    ("CC-BY-ND-4.0", False), ("none stated", False), ("", False), ("research only", False), ("mitigated", False),
])  # fmt: skip
def test_only_licences_known_to_be_open_are_passed_on(licence: str, open_: bool) -> None:
    card = Card(title="t", summary="s", origin="o", version="1", licence=licence, may="")
    assert may_be_passed_on(card) is open_


def test_the_policy_follows_the_card_and_is_overruled_by_name() -> None:
    assert policy_of("martian", None).texts == "all"
    assert policy_of("graded_reviews", None).texts == "own"
    assert "does not let everybody" in policy_of("graded_reviews | first(cases=10)", None).why
    assert policy_of("graded_reviews", True).why == "packed as asked (--with-texts)"
    assert policy_of("martian", False).texts == "none"
    assert policy_of("my-cases.jsonl", None).texts == "all"
    assert policy_of("somewhere", None).texts == "all", "a folder of one's own"
    assert policy_of("no_such.module.Data", None).texts == "own", "a data set whose card cannot be read"


# --- without texts -------------------------------------------------------------------------------------------------


def test_no_text_is_in_it(bare: Path, run: Path) -> None:
    found = files_of(bare)
    for words in ("secret title", "discount", "docstring", "file handle"):
        assert words in (run / "cases.jsonl").read_text() + (run / "reviews.jsonl").read_text()
        for name, text in found.items():
            assert words not in text, f"{name} holds {words}"
    assert "runs/run/cases.jsonl" not in found and found["runs/run/reviews.jsonl"] == ""
    assert "matching" not in found["runs/run/scores.jsonl"]


def test_a_run_holds_the_texts(bare: Path, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(bare)]) == 2
    assert "the texts of cases.jsonl are left out: left out as asked" in capsys.readouterr().err
    result = reviewgauge.check(bare, sources=[run])
    assert result.ok and (result.records["score"], result.records["review"]) == (36, 18)
    bad = tamper(bare, "runs/run/scores.jsonl", lambda text: text.replace('"hit":3.0', '"hit":2.0'))
    found = reviewgauge.check(bad, sources=[run]).problems[0]
    assert re.fullmatch(r"good on case-\d, hits", str(found.line))
    assert (found.field, found.stored, found.found) == ("parts.hit", "2.0", "3.0")


def test_another_copy_of_the_data_is_noticed(bare: Path, run: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(run, changed)
    lines = (changed / "reviews.jsonl").read_text().replace("please add a docstring", "nit")
    (changed / "reviews.jsonl").write_text(lines)
    found = reviewgauge.check(bare, sources=[changed]).problems[0]
    assert (found.file, found.field) == ("runs/run/reviews.jsonl", "hash of the review")
    with pytest.raises(UserError, match="is not a run folder"):
        reviewgauge.check(bare, sources=[tmp_path])


# --- a data set without a licence ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An excerpt in the form of GradedReviews, made up: that data set has no licence."""
    folder = tmp_path_factory.mktemp("sheet")
    book = openpyxl.Workbook()
    book.worksheets[0].append(["ID", "groundTruth", "relatedCode", "one", "Grade", "two", "Grade"])
    for n in range(8):
        code = f"code2comment :int a{n};"
        book.worksheets[0].append([n, f"reference {n} says it", code, f"tool says {n}", 1, f"reference {n}", 4])
    book.save(folder / "dataset.xlsx")
    return folder


def test_graded_reviews_are_bundled_without_their_texts_and_verified_from_the_sheet(
    sheet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = tmp_path / "run", tmp_path / "b.zip"
    assert main(["review", "graded_reviews", "recorded", "silent", "--from", str(sheet), "-o", str(run)]) == 0
    assert main(["score", str(run), "chrf", "--resamples", "50"]) == 0
    capsys.readouterr()
    assert main(["bundle", str(run), "-o", str(out), "--resamples", "50"]) == 0
    assert "leaves out the texts of its cases and of 16 reviews: the licence of graded_reviews" in (
        capsys.readouterr().err
    )
    found = files_of(out)
    assert found["runs/run/reviews.jsonl"].count('"system":"silent"') == 16, "one's own reviews are there"
    assert not any(words in text for words in ("says it", "int a", "tool says") for text in found.values())
    copy = tmp_path / "copy"
    assert main(["review", "graded_reviews", "recorded", "--from", str(sheet), "-o", str(copy)]) == 0
    result = reviewgauge.check(out, sources=[copy])
    assert result.ok and (result.records["score"], result.records["review"]) == (24, 24)


@pytest.mark.drill
def test_labels_that_came_with_the_data_are_found_again_for_metrics_that_read_them(
    shared_data: Path, tmp_path: Path
) -> None:
    data, run, out = shared_data / "martian", tmp_path / "run", tmp_path / "b.zip"
    assert main(["review", "martian", "recorded", "--from", str(data), "-o", str(run)]) == 0
    assert main(["score", str(run), "hits(judge='recorded')", "--resamples", "50"]) == 0
    reviewgauge.bundle(run, out=out, texts=False, resamples=50)
    assert reviewgauge.check(out, sources=[run]).ok
    reviewgauge.bundle(run, out=out, resamples=50)
    bad = tamper(out, "runs/run/labels.jsonl", lambda text: text.replace('"value":true', '"value":false'))
    assert reviewgauge.check(bad).problems[0].file == "runs/run/scores.jsonl"


# --- the validity report -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of `validate`: 16 cases, two systems, grades that go with how much of the reference was said."""
    folder = tmp_path_factory.mktemp("study")
    generator = np.random.default_rng(1)
    words = ["lock", "file", "total", "order", "list", "retry", "cache", "index", "queue", "thread", "token"]
    cases, reviews = [], []
    for n in range(16):
        said = [str(word) for word in generator.choice(words, 8, replace=False)]
        labels = []
        for system in ("one", "two"):
            kept = int(generator.integers(1, 9))
            grade = 1 + round(kept / 2)
            body = " ".join([*said[:kept], *generator.choice(words, 8 - kept)])
            reviews.append(Review(case=f"c{n:02d}", system=system, comments=(Comment(id="c", body=body),)))
            subject = Subject(kind=SubjectKind.REVIEW, case=f"c{n:02d}", system=system)
            labels.append(Label(subject=subject, rater="ada", dimension="grade", value=grade))
        reference = (Comment(id="r", body=" ".join(said)),)
        cases.append(Case(id=f"c{n:02d}", change=Change(repo="r"), references=reference, labels=tuple(labels)))
    (folder / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in cases))
    (folder / "reviews.jsonl").write_bytes(b"".join(review.to_line() for review in reviews))
    out = folder / "validity"
    reviewgauge.validate(str(folder / "cases.jsonl"), "chrf", out=out, resamples=40, folds=4)
    return out


@pytest.fixture(scope="module")
def packed_study(study: Path) -> Path:
    path = study.parent / "study.zip"
    reviewgauge.bundle(study, out=path, resamples=50)
    return path


@pytest.mark.slow
def test_a_table_of_metrics_against_people_is_made_again(packed_study: Path, study: Path, tmp_path: Path) -> None:
    table = "tables/validity.validity.csv"
    value = files_of(packed_study)[table].splitlines()[1].split(",")[1]
    assert 0 < float(value) < 1
    assert reviewgauge.check(packed_study).ok
    bad = tamper(packed_study, table, lambda text: text.replace(value, "0.99"))
    found = reviewgauge.check(bad).problems[0]
    assert (found.file, found.field, found.stored, found.found) == (table, "Spearman", "0.99", value)
    bare = tmp_path / "b.zip"
    reviewgauge.bundle(study, out=bare, texts=False, resamples=50)
    bodies = [json.loads(line)["references"][0]["body"] for line in (study / "cases.jsonl").read_text().splitlines()]
    assert not any(body in text for body in bodies for text in files_of(bare).values())
    assert reviewgauge.check(bare, sources=[study]).ok
