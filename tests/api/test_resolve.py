"""Words to runs and data sets: what was left out is said, and what cannot be right is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewgauge.api.resolve import find_dataset
from reviewgauge.cli.main import main
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.engine.run.folder import RunFolder

CASES = [
    Case(id=name, change=Change(repo="shop"), references=(Comment(id="g", body="the file is never closed"),))
    for name in ("one", "two")
]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in CASES))
    reviews = [Review(case=case.id, system="keen", comments=case.references) for case in CASES]
    (tmp_path / "bench" / "reviews.jsonl").write_bytes(b"".join(review.to_line() for review in reviews))
    return tmp_path


def run(*words: str) -> int:
    return main(list(words))


def scored(bench: Path) -> Path:
    assert run("review", "bench", "recorded", "silent", "-o", "run") == 0
    assert run("score", "run") == 0
    return bench / "run"


def test_a_folder_of_cases_is_found_by_its_bare_name_and_a_data_set_comes_first(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("info", "bench", "--json") == 0
    assert json.loads(capsys.readouterr().out)["counts"]["changes"] == 2
    (bench / "sample").mkdir()
    assert run("info", "sample", "--json") == 0
    assert json.loads(capsys.readouterr().out)["counts"]["changes"] == 24


def test_a_run_without_reviews_says_so(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("review", "bench", "parrot", "-o", "run") == 2  # refused for want of code, and no folder is left
    assert not Path("run").exists()
    RunFolder.create("run", dataset="bench", dataset_path="bench", cases=find_dataset("bench").cases()).close()
    for verb in (["score", "run"], ["compare", "run"], ["report", "run", "-o", "x.html"]):
        capsys.readouterr()
        assert run(*verb) == 2
        assert "run holds no reviews (reviewgauge review DATASET REVIEWER -o run)" in capsys.readouterr().err


def test_the_remedy_for_a_missing_score_can_be_pasted_into_a_shell(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored(bench)
    assert run("compare", "run", "--metric", "hits(tolerance=2)") == 2
    assert "(reviewgauge score run 'hits(tolerance=2)')" in capsys.readouterr().err


@pytest.mark.slow
def test_a_system_that_nobody_measured_is_named_wherever_the_others_are_shown(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored(bench)
    replayed = [Review(case=case.id, system="late") for case in CASES]
    (bench / "bench" / "reviews.jsonl").write_bytes(b"".join(review.to_line() for review in replayed))
    assert run("review", "bench", "recorded", "-o", "run") == 0
    capsys.readouterr()
    assert run("compare", "run") == 0
    assert "reviewed but not measured with hits, so not shown: late (reviewgauge score)" in capsys.readouterr().out
    assert run("report", "run", "-o", "x.html") == 0
    assert "so not shown: late" in (bench / "x.html").read_text()
    assert run("score", "run") == 0
    capsys.readouterr()
    assert run("compare", "run") == 0
    assert "so not shown" not in capsys.readouterr().out


def test_scores_whose_reviews_are_gone_are_refused(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reviews = scored(bench) / "reviews.jsonl"
    reviews.write_bytes(b"".join(line for line in reviews.read_bytes().splitlines(True) if b"keen" not in line))
    capsys.readouterr()
    assert run("compare", "run") == 2
    err = capsys.readouterr().err
    assert "holds 2 scores of reviews that reviews.jsonl does not hold, such as keen on one" in err
    assert "(remove scores.jsonl and score again)" in err


def test_a_run_that_is_named_twice_is_no_comparison(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored(bench)
    assert run("compare", "run", "./run") == 2
    assert "named twice" in capsys.readouterr().err


def test_reviews_that_were_changed_are_not_shown_under_old_scores_and_are_measured_again(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reviews = scored(bench) / "reviews.jsonl"
    reviews.write_text(reviews.read_text().replace("the file is never closed", "rename this variable", 1))
    capsys.readouterr()
    assert run("compare", "run") == 2
    assert "run: 1 reviews changed since they were measured, such as keen on one (reviewgauge score run hits)" in (
        capsys.readouterr().err
    )
    assert run("score", "run", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["totals"][0]["done"], found["totals"][0]["skipped"]) == (1, 3)
    assert found["leaderboards"][0]["systems"][0]["parts"]["hit"] == 1
    assert run("compare", "run") == 0


@pytest.mark.slow
def test_a_failure_where_nothing_can_be_measured_leaves_the_bounds_and_is_listed_once(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case(id="unknown", change=Change(repo="shop"))
    with (bench / "bench" / "cases.jsonl").open("ab") as cases:
        cases.write(case.to_line())
    (bench / "said").mkdir()
    for known in CASES:
        (bench / "said" / f"{known.id}.md").write_text("- a.py:3: the file is never closed\n")
    assert run("review", "bench", 'replay(path="said")', "-o", "run") == 0
    capsys.readouterr()
    assert run("score", "run", "--json") == 0
    (system,) = json.loads(capsys.readouterr().out)["leaderboards"][0]["systems"]
    assert (system["scored"], system["failed"], system["not_applicable"]) == (2, 0, 1)
    f1 = next(e for e in system["estimates"] if e["measure"] == "f1")
    assert f1["worst"] == f1["value"] == f1["best"] == 1
    assert run("report", "run", "-o", "x.html") == 0
    assert "1 failure" in (bench / "x.html").read_text()


def test_who_has_no_code_is_told_where_it_would_come_from(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("review", "bench", "parrot", "-o", "run") == 2
    err = capsys.readouterr().err
    assert "parrot needs the code under review, which is not at hand for bench (give each change its files" in err
