"""`reviewgauge validate --fit` as a user types it: labels of one's own become a metric, and nothing leaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import reviewgauge
from judged_toys import label, study, write_study
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import load

FAST = ["--resamples", "40", "--folds", "3"]
METRICS = ["jaccard", "chrf"]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of cases with labels on them, and reviews beside them."""
    folder = write_study(tmp_path / "mine", study(24))
    monkeypatch.chdir(tmp_path)
    return folder


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main(["validate", *map(str, arguments), *FAST]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    return error


@pytest.mark.drill
def test_labels_of_ones_own_become_a_metric(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(bench), *METRICS, "--fit", "mine.json", *FAST]) == 0
    out = capsys.readouterr().out
    assert "calibrated, out of fold" in out and "fitted to shuffled labels it reaches" in out
    assert "mine.json was fitted to all" in out
    assert """use it as "combined(file='mine.json')";""" in out.replace("\n", " ")
    metric = load(Metric, "combined(file='mine.json')")
    assert set(metric.pins()) == {"calibration"}
    assert main(["validate", str(bench), "combined(file='mine.json')", *METRICS, *FAST, "--no-report", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["report"]
    by_label = {one["label"]: one["correlations"][0]["spearman"]["value"] for one in report["metrics"]}
    made = reviewgauge.validate(str(bench), *METRICS, fit="again.json", resamples=40, folds=3).fit
    assert made is not None
    assert by_label["combined(file='mine.json')"] == pytest.approx(made.account[0].correlations[0].spearman.value)
    assert Path("again.json").read_bytes() == Path("mine.json").read_bytes()
    assert not made.leaks


@pytest.mark.drill
def test_json_has_every_weight(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(bench), *METRICS, "--fit", "x.json", *FAST, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["fit"]
    assert {name.split()[0] for name, _ in result["weights"]} == {"jaccard", "chrf"}
    assert result["rows"] == len(study(24).outcomes)
    assert result["folds"] == 3
    assert result["leakage"]["n"] == result["rows"]


def test_what_cannot_be_calibrated_is_one_line(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "nobody judged 'taste'" in refusal(capsys, bench, *METRICS, "--fit", "x.json", "--dimension", "taste")
    assert "is a directory" in refusal(capsys, bench, *METRICS, "--fit", str(bench))
    assert "nonsense" in refusal(capsys, bench, "nonsense", "--fit", "x.json")
    assert "things apart" in refusal(capsys, bench, *METRICS, "--fit", "x.json", "--sweep")
    assert "judges of pairs are validated apart" in refusal(capsys, bench, "lexical", "--fit", "x.json")


def test_one_grade_only_teaches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = study(24)
    (tmp_path / "cases.jsonl").write_bytes(
        b"".join(
            case.model_copy(update={"labels": tuple(label(o, 3) for o in made.outcomes if o.case == case.id)}).to_line()
            for case in made.cases
        )
    )
    (tmp_path / "reviews.jsonl").write_bytes(b"".join(o.review.to_line() for o in made.outcomes if o.review))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="all labels in grade are 3"):
        reviewgauge.validate(str(tmp_path / "cases.jsonl"), *METRICS, fit="x.json", out="run", resamples=40, folds=3)


@pytest.mark.slow
def test_a_metric_that_was_fitted_to_labels_is_named(bench: Path) -> None:
    made = reviewgauge.validate(str(bench), "combined(file='lexical')", "chrf", fit="x.json", resamples=40, folds=3)
    assert any("combined(file='lexical') was fitted to 5,164 human labels" in text for text in made.notes)
