"""`validate` of judges: figures that are known, exit codes, stored sets, corrections, bad models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_server import FakeServer
from judge_toys import toy_material
from judged_toys import study, write_study
from reviewgauge.analysis.judge_check.report import JudgeOptions
from reviewgauge.api.validate import validate
from reviewgauge.cli.main import main
from reviewgauge.core.reports.judge_check import JudgeReport
from reviewgauge.engine.review import import_reviews
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.model_options import ModelOptions

pytestmark = pytest.mark.usefixtures("own_cache")


def check(
    data: str | Path,
    judge: str,
    *,
    resamples: int = 50,
    source: Path | None = None,
    models: ModelOptions | None = None,
    **options: Any,
) -> JudgeReport:
    """The report of one judge."""
    judging = JudgeOptions(**options)
    (found,) = validate(str(data), judge, source=source, resamples=resamples, models=models, judging=judging).judges
    return found


@pytest.fixture
def labelled(tmp_path: Path) -> Iterator[Path]:
    """A run of two systems on 12 changes in which people labelled every pair."""
    material = toy_material()
    with RunFolder.create(tmp_path / "run", dataset="toy", dataset_path="", cases=material.cases) as run:
        import_reviews(run, material.reviews, source="recorded")
        run.add_labels(material.labels)
    yield tmp_path / "run"


def test_the_offline_judge_has_the_documented_kappas(shared_data: Path) -> None:
    report = check("martian", "lexical", source=shared_data / "martian", only=("agreement",), resamples=200)
    figures = [(row.rows, row.kappa, row.auc, row.f1) for row in report.agreement]
    shown = [(n, *(round(f.value, 3) for f in rest if f and f.value is not None)) for n, *rest in figures]
    assert shown == [(1020, 0.823, 0.972, 0.886), (1020, 0.832, 0.973, 0.893), (1020, 0.824, 0.977, 0.888)]
    asked = [(row.unasked, round(row.kappa_asked.value or 0, 3)) for row in report.agreement if row.kappa_asked]
    assert asked == [(162, 0.802), (162, 0.812), (162, 0.803)], "tools without comments flatter every judge"
    assert report.agreement[0].kappa.low is not None
    assert 0.76 < report.agreement[0].kappa.low < 0.79
    assert report.estimate_note == "offline estimate"


def test_a_metric_is_held_against_people(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "mine", study(24))
    row = (report := check(folder, "judged_toys.Shared", limit=60, only=("agreement",))).agreement[0]
    assert (row.rows, row.clusters, report.left_out["rows beyond --limit"]) == (60, 24, 96 - 60)
    assert row.kappa.value is None and "validate --fit" in row.kappa.reason
    assert row.spearman is not None and (row.spearman.value or 0) > 0.6


def test_labels_of_a_run_and_the_page(labelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page" / "report.html"
    words = ["validate", str(labelled), "lexical", "--probes", "6", "-o", str(page.parent), "--resamples", "50"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    for word in ("agreement", "people", "swapped", "prompt injection", "cost", "offline estimate"):
        assert word in shown
    text = page.read_text("utf-8")
    assert "prompt injection" in text
    assert "default-src" in text


def test_the_gate_has_an_exit_code(labelled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = ["validate", str(labelled), "lexical", "--only", "agreement", "--resamples", "50", "--min-kappa"]
    assert main([*base, "-0.5"]) == 0
    assert "gate passed" in capsys.readouterr().out
    assert main([*base[:2], "judge_toys.LengthLoving", *base[3:], ".5"]) == 1
    assert "NOT passed" in capsys.readouterr().out
    assert main([*base[:3], "--lower"]) == 2
    assert main([*base[:3], "--only", "repeats", "--min-kappa", ".5"]) == 2
    assert "a gate needs the agreement" in capsys.readouterr().err


def test_a_gate_does_not_open_for_the_few_that_were_answered(
    labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the judge answers is all right, and it fails on a sixth of the rows."""
    words = ["--only", "agreement", "--resamples", "50", "--min-kappa", ".9"]
    assert main(["validate", str(labelled), "judge_toys.Failing", *words]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "gate NOT passed: 16.7% of the rows have no answer, more than the allowed 10%" in said
    assert main(["validate", str(labelled), "judge_toys.Failing(word='thread')", *words]) == 1
    assert main(["validate", str(labelled), "judge_toys.Failing(word='nothing')", *words]) == 0


def test_scores_are_corrected_by_what_people_checked(tmp_path: Path) -> None:
    material = toy_material(40)
    checked = [label for label in material.labels if int(label.subject.case[1:]) < 15]
    with RunFolder.create(tmp_path / "run", dataset="toy", dataset_path="", cases=material.cases) as run:
        import_reviews(run, material.reviews, source="recorded")
        run.add_labels(checked)
    report = check(
        str(tmp_path / "run"), "judge_toys.LengthLoving(words=5)", correct=True, only=("agreement",), resamples=50
    )
    rows = {(row.system, row.measure): row for row in report.corrected}
    row = rows["alpha", "precision"]
    assert (row.checked, row.reviews) == (15, 40)
    assert row.raw == 1.0, "it says yes to everything, so both comments find a place"
    assert row.corrected.value == pytest.approx(0.5, abs=0.02)
    assert rows["alpha", "f1"].corrected.value == pytest.approx(0.5, abs=0.02)


def test_a_system_that_is_silent_at_times_is_not_flattered(tmp_path: Path) -> None:
    """Its silent reviews have no pair to label; its recall must count what they missed all the same."""
    material = toy_material(40)
    reviews = [
        review.model_copy(update={"comments": ()}) if int(review.case[1:]) % 2 else review
        for review in material.reviews
        if review.system == "alpha"
    ]
    kept = {(review.case, comment.id) for review in reviews for comment in review.comments}
    checked = [
        label
        for label in material.labels
        if int(label.subject.case[1:]) < 24 and (label.subject.case, label.subject.comment) in kept
    ]
    with RunFolder.create(tmp_path / "run", dataset="toy", dataset_path="", cases=material.cases) as run:
        import_reviews(run, reviews, source="recorded")
        run.add_labels([label for label in checked if label.subject.system == "alpha"])
    report = check(
        str(tmp_path / "run"), "judge_toys.LengthLoving(words=5)", correct=True, only=("agreement",), resamples=50
    )
    rows = {row.measure: row for row in report.corrected}
    assert (rows["recall"].checked, rows["recall"].reviews) == (12, 40)
    assert rows["precision"].corrected.value == pytest.approx(0.5, abs=0.02)
    assert rows["recall"].corrected.value == pytest.approx(0.25, abs=0.02)


def test_reviews_that_the_judge_failed_on_are_counted_beside_the_correction(tmp_path: Path) -> None:
    material = toy_material(12)
    with RunFolder.create(tmp_path / "run", dataset="toy", dataset_path="", cases=material.cases) as run:
        import_reviews(run, material.reviews, source="recorded")
        run.add_labels(material.labels)
    report = check(str(tmp_path / "run"), "judge_toys.Failing", correct=True, only=("agreement",), resamples=20)
    for row in report.corrected:
        assert row.failed > 0
        assert row.reviews + row.failed == 12


@pytest.mark.parametrize(("words", "said"), [
    (["martian", "lexical", "--correct"], "--correct needs a run"),
    (["martian", "nobody"], "no metric is called 'nobody'"),
    (["martian", "chrf", "--limit", "5"], "martian has verdicts on pairs"),
    (["mine", "lexical"], "no labels of pairs by people"),
    (["mine", "rank_mean", "--limit", "5"], "reads several reviews together"),
    (["martian", "openai:"], "is not a model"),
    (["martian", "lexical", "--author", "x"], "names no model"),
    (["martian", 'recorded(rater="x")'], "has no verdicts by"),
    (["martian", "lexical", "chrf"], "judges of pairs are validated apart from metrics"),
])  # fmt: skip
def test_bad_input_is_one_line(
    words: list[str],
    said: str,
    shared_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "mine", study(3))
    more = ["--from", str(shared_data / "martian")] if "martian" in words else []
    assert main(["validate", *words, *more]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


# --- with models ---------------------------------------------------------------------------------------------------


def fake(labelled: Path, model: str = "rules", **options: Any) -> JudgeReport:
    """A check with the rule-based model in this process, in one of its manners."""
    return check(labelled, f"fake:{model}", resamples=50, probes=8, **options)


def test_the_fake_model_is_said_to_be_fake_and_is_paid_once(labelled: Path) -> None:
    report = fake(labelled, only=("agreement", "repeats"))
    assert report.fake
    assert report.models == ("fake:rules",)
    assert report.spent.calls > 0
    assert report.repeats is not None
    assert report.repeats.flips.value == 0.0
    again = fake(labelled, only=("agreement", "repeats"))
    assert any("from the cache" in line for line in again.warnings)
    assert again.agreement == report.agreement


@pytest.mark.slow
def test_an_endpoint_that_talks_garbage_fails_and_does_not_disagree(labelled: Path) -> None:
    with FakeServer(fail="garbage:0.7", seed=3) as server:
        report = check(labelled, server.spec(), only=("agreement",))
    left = report.agreement[0].left_out
    assert left["failed: unreadable"] > 0
    assert report.spent.failed["unreadable"] > 0
    whole = fake(labelled, only=("agreement",)).agreement[0]
    assert report.agreement[0].rows + left["failed: unreadable"] == whole.rows
    assert whole.kappa.value == report.agreement[0].kappa.value == 1.0 or report.agreement[0].rows < whole.rows


def test_a_budget_ends_the_check_with_what_was_found(labelled: Path) -> None:
    full = fake(labelled, "noisy-1?max_tokens=20", only=("agreement",))
    assert full.spent.dollars is not None
    assert full.spent.dollars > 0
    half = ModelOptions(budget=full.spent.dollars / 2, in_flight=1)
    report = fake(labelled, "noisy-2?max_tokens=20", only=("agreement", "order"), models=half)
    assert "budget" in report.stopped
    assert report.order == ()
    rows = report.agreement[0]
    assert 0 < rows.rows < full.agreement[0].rows
    assert rows.rows + rows.left_out["not asked: the check was stopped"] == full.agreement[0].rows


@pytest.mark.slow
def test_a_dry_run_asks_nobody(labelled: Path) -> None:
    spec = "openai:gpt-5@http://127.0.0.1:9/v1"
    report = check(labelled, spec, probes=4, resamples=20, min_kappa=0.99, models=ModelOptions(dry_run=True))
    assert not report.fake
    assert not (report.agreement or report.order or report.rewording or report.corrected)
    assert not any((report.injection, report.repeats, report.length, report.gate))
    assert report.warnings[0].endswith("questions to ask")
    assert "calls to pay for" in report.warnings[1]
    assert not report.stopped


def test_a_check_that_was_stopped_is_an_error_and_passes_no_gate(
    labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(labelled), "openai:fake@http://127.0.0.1:9/v1", "--probes", "4", "--min-kappa", "-1"]
    assert main(["validate", *words]) == 2
    told = capsys.readouterr()
    assert "gate NOT passed: the check was stopped early" in told.out
    assert "error: http://127.0.0.1:9/v1 is down" in told.err
    assert "no question was answered both times" not in told.out
