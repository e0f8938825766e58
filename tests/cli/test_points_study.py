"""Three people and two models judge the same reports: SWR-Bench's study of its judge, as a user types it."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from reviewgauge.analysis.point_labels import labels_of_points
from reviewgauge.cli.main import main
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


@pytest.fixture
def people(run: str, tmp_path: Path) -> Path:
    """Five reports: people agree with each other that K1 alone is hit; Bob finds everything two steps more severe."""
    rows = ["id,system,attempt,claim,rater,dimension,value"]
    with RunFolder.open(run) as opened:
        labels = [one for one in labels_of_points(opened) if one.rater == LISTS and one.subject.case < "pr-05"]
    for rater in RATERS:
        for label in labels:
            severity = "6" if rater == "Bob" else "4"
            hit = "yes" if label.subject.claim == "K1" else "no"
            value = {"hit": hit, "type": "F.2", "severity": severity}[label.dimension]
            rows.append(f'{label.subject.case},bot,1,"{label.subject.claim}",{rater},{label.dimension},{value}')
    (tmp_path / "people.csv").write_text("\n".join(rows))
    return tmp_path / "people.csv"


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


def test_the_matrices_of_five_raters_come_from_one_command(run: str, people: Path) -> None:
    report = AgreementReport.model_validate_json(
        told("agree", run, "--labels", str(people), "--resamples", "0", "--json")
    )
    for dimension, items in (("hit", 10), ("type", 10), ("severity", 10)):
        (one,) = (own for own in report.dimensions if own.dimension == dimension)
        assert (len(one.kinds), one.items) == (5, items), "the models' labels on other reports do not count"
    hit, severity = matrix(report, "hit", "percent agreement"), matrix(report, "severity", "within 1")
    assert hit[frozenset(("Ann", LISTS))] == hit[frozenset(("Ann", "Bob"))] == 1
    assert (severity[frozenset(("Ann", "Cy"))], severity[frozenset(("Ann", "Bob"))]) == (1, 0)
    assert any("is a fake model" in warning for warning in report.warnings)
    assert "pairs of raters" in told("agree", run, "--labels", str(people), "--resamples", "0")
