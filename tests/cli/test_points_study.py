"""Three people and two models judge the same reports: SWR-Bench's study of its judge, as a user types it."""

from __future__ import annotations

import csv
import json
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from reviewgauge.api.points_study import draw_sheets
from reviewgauge.api.validate import validate
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.reports.agreement import AgreementReport
from reviewgauge.engine.review import import_reviews
from reviewgauge.engine.run.folder import RunFolder

LISTS, RATES = "fake:rules", "fake:contrary"
RATERS = ("Ann", "Bob", "Cy")


def told(*words: str) -> str:
    """What the command prints."""
    with redirect_stdout(TextIOWrapper(BytesIO(), encoding="utf-8")) as printed:
        assert main(list(words)) == 0
    printed.seek(0)
    return printed.read()


@pytest.fixture
def run(tmp_path: Path) -> str:
    """Twelve reports, each with a point that is hit and one that is not, scored by two models."""
    known = (("K1", "F.2 Logic", "The discount is computed wrong for an empty cart"), ("K2", "E.2", "Odd blanks"))
    references = tuple(Comment(id=name, category=kind, body=body) for name, kind, body in known)
    said = "- The discount is wrong for an empty cart\n- The tax logic crashes for guests (see above)"
    cases = [Case(id=f"pr-{at:02}", change=Change(repo="o/shop"), references=references) for at in range(12)]
    folder = tmp_path / "run"
    with RunFolder.create(folder, dataset="made", dataset_path="", cases=cases) as made:
        reviews = [Review(case=case.id, system="bot", comments=(Comment(id="report", body=said),)) for case in cases]
        import_reviews(made, reviews, source="made", pins={})
    specs = (f"points(model='{LISTS}')", f"points(model='{RATES}', points_of='{LISTS}')")
    told("score", str(folder), *specs)
    return str(folder)


def filled(folder: Path) -> None:
    """People agree with each other, and that K1 alone is hit; Bob finds everything two steps more severe."""
    for file in folder.glob("*.csv"):
        with file.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        for row in rows:
            severity = "6" if row["rater"] == "Bob" else "4"
            hit = "yes" if row["claim"] == "K1" else "no"
            row["value"] = {"hit": hit, "type": "F.2", "severity": severity, "report": ""}[row["dimension"]]
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def matrix(report: AgreementReport, dimension: str, coefficient: str) -> dict[frozenset[str], float | None]:
    (found,) = (one for one in report.dimensions if one.dimension == dimension)
    return {
        frozenset((pair.first, pair.second)): next(c.figure.value for c in pair.coefficients if c.name == coefficient)
        for pair in found.pairs
    }


def test_a_run_scored_with_points_has_labels_of_its_models(run: str) -> None:
    report = AgreementReport.model_validate_json(told("agree", run, "--resamples", "0", "--json"))
    assert {one.dimension for one in report.dimensions} == {"hit", "type", "severity"}
    assert {rater: kind for one in report.dimensions for rater, kind in one.kinds.items()} == {
        LISTS: "model",
        RATES: "model",
    }
    assert set(matrix(report, "type", "percent agreement").values()) == {1.0}


def test_sheets_of_reports_drawn_at_random_hide_what_the_model_said(run: str, tmp_path: Path) -> None:
    words = ("agree", run, "--draw", "5", *(word for name in RATERS for word in ("--rater", name)))
    told(*words, "--sheets", str(tmp_path / "sheets"))
    sheets = {name: list(csv.DictReader((tmp_path / "sheets" / f"{name}.csv").open())) for name in RATERS}
    drawn = {name: [(r["id"], r["claim"], r["dimension"]) for r in rows] for name, rows in sheets.items()}
    assert drawn["Ann"] == drawn["Bob"] == drawn["Cy"]
    assert len({row["id"] for row in sheets["Ann"]}) == 5
    assert [r["dimension"] for r in sheets["Ann"][:7]] == ["report", "hit", "hit", *("type", "severity") * 2]
    assert {row["value"] for row in sheets["Ann"]} == {""}
    assert not any("hits" in row["text"] for row in sheets["Ann"])
    assert any(row["text"].endswith("(see above)") for row in sheets["Ann"])
    again = draw_sheets(run, tmp_path / "again", ["Ann"], count=5)
    assert Path(again.files[0]).read_text() == (tmp_path / "sheets" / "Ann.csv").read_text()
    other = draw_sheets(run, tmp_path / "other", ["Ann"], count=5, seed=1)
    assert Path(other.files[0]).read_text() != Path(again.files[0]).read_text()
    with pytest.raises(UserError, match="is there already"):
        draw_sheets(run, tmp_path / "again", ["Ann"], count=5)


def test_the_matrices_of_five_raters_come_from_one_command(run: str, tmp_path: Path) -> None:
    draw_sheets(run, tmp_path / "sheets", RATERS, count=5)
    filled(tmp_path / "sheets")
    report = AgreementReport.model_validate_json(
        told("agree", run, "--labels", str(tmp_path / "sheets"), "--resamples", "0", "--json")
    )
    for dimension, items in (("hit", 10), ("type", 10), ("severity", 10)):
        (one,) = (own for own in report.dimensions if own.dimension == dimension)
        assert (len(one.kinds), one.items) == (5, items), "the models' labels on other reports do not count"
    hit, severity = matrix(report, "hit", "percent agreement"), matrix(report, "severity", "within 1")
    assert hit[frozenset(("Ann", LISTS))] == hit[frozenset(("Ann", "Bob"))] == 1
    assert (severity[frozenset(("Ann", "Cy"))], severity[frozenset(("Ann", "Bob"))]) == (1, 0)
    assert any("is a fake model" in warning for warning in report.warnings)
    assert "pairs of raters" in told("agree", run, "--labels", str(tmp_path / "sheets"), "--resamples", "0")


def test_validate_asks_about_the_drawn_reports_alone(run: str, tmp_path: Path) -> None:
    draw_sheets(run, tmp_path / "sheets", RATERS, count=4)
    filled(tmp_path / "sheets")
    spec = f"points(model='fake:noisy-1', points_of='{LISTS}')"
    words = ("--labels", str(tmp_path / "sheets"), "--resamples", "20", "--json")
    report = json.loads(told("validate", run, spec, *words))["agreement"]
    raters = {rater for one in report["dimensions"] for rater in one["kinds"]}
    assert raters == {*RATERS, LISTS, RATES, "fake:noisy-1"}
    assert {one["items"] for one in report["dimensions"]} == {8}
    assert main(["validate", run, spec, *words, "--limit", "3"]) == 2, "what it would not heed is refused"
    with pytest.raises(UserError, match="names no model"):
        validate(run, "points", labels=tmp_path / "sheets")
