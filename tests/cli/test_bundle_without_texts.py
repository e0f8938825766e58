"""Bundles whose texts may not be passed on, and bundles with a validity report."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest

import reviewgauge
from bundle_toys import tamper, write_bench
from reviewgauge.api.bundle import policy_of
from reviewgauge.cli.bundle import verify
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.protocols import Card
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.engine.bundle.contents import may_be_passed_on


def files(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


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


@pytest.mark.parametrize(
    ("licence", "open_"),
    [
        ("MIT", True),
        ("Apache-2.0", True),
        ("CC-BY-4.0", True),
        ("CC BY-SA 4.0", True),
        ("CC-BY-NC-4.0", False),
        ("CC-BY-ND-4.0", False),
        ("none stated", False),
        ("", False),
        ("research only", False),
        ("mitigated", False),
    ],
)
def test_only_licences_known_to_be_open_are_passed_on(licence: str, open_: bool) -> None:
    card = Card(title="t", summary="s", origin="o", version="1", licence=licence, may="")
    assert may_be_passed_on(card) is open_


def test_the_policy_follows_the_card_and_is_overruled_by_name() -> None:
    assert policy_of("martian", None).texts == "all"
    assert policy_of("graded_reviews", None).texts == "own"
    assert "does not let everybody" in policy_of("graded_reviews | drop_large(lines=10)", None).why
    assert policy_of("graded_reviews", True).why == "packed as asked (--with-texts)"
    assert policy_of("martian", False).texts == "none"
    assert policy_of("my-cases.jsonl", None).texts == "all"
    assert policy_of("somewhere", None).texts == "all", "a folder of one's own"
    assert policy_of("no_such.module.Data", None).texts == "own", "a data set whose card cannot be read"


# --- without texts -------------------------------------------------------------------------------------------------


def test_no_text_is_in_it(bare: Path, run: Path) -> None:
    found = files(bare)
    for words in ("secret title", "discount", "docstring", "file handle"):
        assert words in (run / "cases.jsonl").read_text() + (run / "reviews.jsonl").read_text()
        for name, text in found.items():
            assert words not in text, f"{name} holds {words}"
    assert "runs/run/outline.jsonl" in found
    assert found["runs/run/reviews.jsonl"] == ""
    assert "matching" not in found["runs/run/scores.jsonl"]


def test_it_asks_for_the_data_and_says_what_is_left(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", "verify", str(bare)]) == 2
    err = capsys.readouterr().err
    assert "leaves out the texts of cases.jsonl" in err and "--from DATA" in err
    assert main(["bundle", "verify", str(bare), "--tables-only"]) == 0
    out = capsys.readouterr().out
    assert "figures were recomputed: none differs" in out and "measured again and" not in out
    assert "not measured again: runs/run: all metrics: left out as asked" in out


def test_tables_are_checked_without_the_data(bare: Path) -> None:
    bad = tamper(bare, "tables/hits.leaderboard.csv", lambda text: text.replace("good,f1,yes,1.0", "good,f1,yes,0.9"))
    result = verify(bad, tables_only=True)
    assert result.difference is not None
    assert result.difference.row == "good f1" and result.difference.column == "value"


def test_the_run_folder_is_the_data(bare: Path, run: Path) -> None:
    result = verify(bare, source=[run])
    assert result.ok and (result.scores, result.reviews) == (36, 18)
    assert verify(bare, source=[f"run={run}"]).ok


def test_another_copy_of_the_data_is_noticed(bare: Path, run: Path, tmp_path: Path) -> None:
    other = write_bench(tmp_path / "other")
    other.write_text(other.read_text().replace("secret title 3", "another title"))
    wrong = verify(bare, source=[make_run(other, tmp_path / "wrong", "hits")])
    assert wrong.difference is not None and wrong.difference.column == "benchmark"
    changed = tmp_path / "changed"
    shutil.copytree(run, changed)
    lines = (changed / "reviews.jsonl").read_text().replace("please add a docstring", "nit")
    (changed / "reviews.jsonl").write_text(lines)
    difference = verify(bare, source=[changed]).difference
    assert difference is not None
    assert difference.file == "runs/run/reviews (from the data)"


def test_a_score_is_measured_again_from_the_data(bare: Path, run: Path) -> None:
    bad = tamper(bare, "runs/run/scores.jsonl", lambda text: text.replace('"hit":3.0', '"hit":2.0'), fit_hashes=True)
    difference = verify(bad, source=[run]).difference
    assert difference is not None
    assert re.fullmatch(r"good on case-\d, hits", difference.row)
    assert (difference.column, difference.stored, difference.found) == ("parts.hit", "2.0", "3.0")


def test_data_that_is_not_there_or_none(bare: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is nothing at"):
        verify(bare, source=["nowhere"])
    with pytest.raises(UserError, match=r"holds no \*.jsonl"):
        verify(bare, source=[tmp_path])


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
    found = files(out)
    assert found["runs/run/reviews.jsonl"].count('"system":"silent"') == 16, "one's own reviews are there"
    assert not any(words in text for words in ("says it", "int a", "tool says") for text in found.values())
    result = verify(out, source=[sheet])
    assert result.ok and (result.scores, result.reviews) == (24, 24)


def test_a_sheet_that_was_changed_is_noticed(sheet: Path, tmp_path: Path) -> None:
    run, out, other = tmp_path / "run", tmp_path / "b.zip", tmp_path / "other"
    assert main(["review", "graded_reviews", "recorded", "--from", str(sheet), "-o", str(run)]) == 0
    assert main(["score", str(run), "edit", "--resamples", "50"]) == 0
    reviewgauge.bundle(run, out=out, resamples=50)
    shutil.copytree(sheet, other)
    book = openpyxl.load_workbook(other / "dataset.xlsx")
    book.worksheets[0]["D3"] = "another tool"
    book.save(other / "dataset.xlsx")
    difference = verify(out, source=[other]).difference
    assert difference is not None
    assert difference.file == "runs/run/reviews (from the data)"


def test_labels_that_came_with_the_data_are_found_again_for_metrics_that_read_them(
    shared_data: Path, tmp_path: Path
) -> None:
    data, run, out = shared_data / "martian", tmp_path / "run", tmp_path / "b.zip"
    assert main(["review", "martian", "recorded", "--from", str(data), "-o", str(run)]) == 0
    assert main(["score", str(run), "hits(judge='recorded')", "--resamples", "50"]) == 0
    reviewgauge.bundle(run, out=out, texts=False, resamples=50)
    assert verify(out, source=[data]).ok
    reviewgauge.bundle(run, out=out, resamples=50)
    labels = "runs/run/labels.jsonl"
    bad = tamper(out, labels, lambda text: text.replace('"value":true', '"value":false', 1), fit_hashes=True)
    difference = verify(bad).difference
    assert difference is not None
    assert (difference.file, difference.column) == (labels, "hash of the labels")


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
def test_a_validity_report_is_packed_with_its_tables_and_made_again(packed_study: Path) -> None:
    assert "validity/validity/correlations.csv" in files(packed_study)
    entry = json.loads(files(packed_study)["bundle.json"])["runs"][0]
    assert entry["validity"] is True
    assert entry["left_out"] == {"report.html": "a page is made again from the run"}
    found = verify(packed_study)
    assert found.ok and found.not_measured == {}
    assert found.figures > 300


@pytest.mark.slow
def test_a_correlation_that_was_made_better(packed_study: Path, tmp_path: Path) -> None:
    out = tmp_path / "b.zip"
    out.write_bytes(packed_study.read_bytes())
    report, table = "validity/validity/validity.json", "validity/validity/correlations.csv"
    value = json.loads(files(out)[report])["metrics"][0]["correlations"][0]["spearman"]["value"]
    in_table = tamper(out, table, lambda text: text.replace(repr(value), "0.99"), fit_hashes=True)
    difference = verify(in_table, tables_only=True).difference
    assert difference is not None
    assert (difference.file, difference.column, difference.stored) == (table, "value", "0.99")
    once = in_table.rename(tmp_path / "c.zip")
    both = tamper(once, report, lambda text: text.replace(repr(value), "0.99", 1), fit_hashes=True)
    difference = verify(both).difference
    assert difference is not None
    assert difference.file == report
    assert difference.column == "correlations[0].spearman.value"
    assert (difference.stored, difference.found) == ("0.99", repr(value))


@pytest.mark.slow
def test_a_validity_report_without_texts_quotes_nobody(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "b.zip"
    reviewgauge.bundle(study, out=out, texts=False, resamples=50)
    bodies = [json.loads(line)["references"][0]["body"] for line in (study / "cases.jsonl").read_text().splitlines()]
    found = files(out)
    assert not any(body in text for body in bodies for text in found.values())
    assert verify(out, source=[study]).ok
    assert verify(out, tables_only=True).ok


def test_a_report_of_other_labels_is_left_out_with_its_reason(study: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(study, own)
    report = json.loads((own / "validity.json").read_text())
    report["labels"][0]["rows"] = 7
    (own / "validity.json").write_text(json.dumps(report))
    entry = reviewgauge.bundle(own, out=tmp_path / "b.zip", resamples=50).runs[0]
    assert not entry.validity
    assert entry.left_out["validity.json"] == "was made with labels that the run does not hold (validate --labels)"
