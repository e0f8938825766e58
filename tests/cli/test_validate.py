"""`reviewgauge validate` as a user types it: data sets, own labels on own runs, fits, and what it says to bad input."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import reviewgauge
from judged_toys import case, label, study, write_study
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case
from reviewgauge.core.specs import load

METRIC = "judged_toys.Shared"
FAST = ["--resamples", "40", "--folds", "3"]
TWO = ["jaccard", "chrf"]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of cases with labels on them, and reviews beside them."""
    folder = write_study(tmp_path / "mine", study(24))
    monkeypatch.chdir(tmp_path)
    return folder


def write(folder: Path, cases: list[Case]) -> None:
    (folder / "cases.jsonl").write_bytes(b"".join(one.to_line() for one in cases))


def validate(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    code = main(["validate", *map(str, arguments), *FAST, "--no-report", "--json"])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    value: dict[str, Any] = json.loads(shown.out)
    return value


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main(["validate", *map(str, arguments), *FAST]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    return error


@pytest.mark.drill
@pytest.mark.usefixtures("hundred_columns")
def test_a_data_set_becomes_a_report_with_its_tables(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(bench), METRIC, *FAST]) == 0
    out = capsys.readouterr().out
    assert "Shared agrees best with people on grade: Spearman" in out.replace("\n", " ")
    assert "96 reviews measured" in out and "validity-mine/report.html" in out
    assert max(map(len, out.splitlines())) <= 100
    folder = Path("validity-mine")
    assert "<svg" in (folder / "report.html").read_text(encoding="utf-8")
    with (folder / "metrics_correlations.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    shared = next(r for r in rows if r["label"].endswith("Shared"))
    assert float(shared["spearman: low"]) < float(shared["spearman"]) < float(shared["spearman: high"])
    whole = json.loads((folder / "validity.json").read_text(encoding="utf-8"))
    assert whole["metrics"][0]["correlations"][0]["spearman"]["value"] == float(shared["spearman"])
    tables = {path.stem for path in folder.glob("*.csv")}
    parts = ("grades", "ks", "classifiers", "heat_map_counts", "ranking_systems", "slices", "over", "traits")
    assert {f"metrics_{name}" for name in parts} <= tables


@pytest.mark.drill
def test_a_second_run_measures_nothing_and_finds_the_same(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = validate(capsys, bench, METRIC, "-o", "there")
    scores = Path("there/scores.jsonl").read_bytes()
    second = validate(capsys, bench, METRIC, METRIC, "-o", "there")
    assert first["report"] == second["report"]
    (totals,) = second["totals"]
    assert (totals["done"], totals["skipped"]) == (0, 96), "and a metric that is named twice counts once"
    assert Path("there/scores.jsonl").read_bytes() == scores
    assert not Path("there/report.html").exists() and second["files"] == []


@pytest.mark.drill
def test_a_run_is_validated_with_its_labels_or_with_those_of_a_file(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = validate(capsys, bench, METRIC, "-o", "run")
    own = validate(capsys, "run", METRIC, "-o", "elsewhere")
    assert own["run"] == "run" and own["folder"] == "elsewhere"
    assert own["report"] == made["report"]
    assert not Path("elsewhere").exists(), "the scores stay with their reviews"
    rows = ["id,system,rater,dimension,value"]
    rows += [f"case-{n:03d},{s},me,useful,{n % 3}" for n in range(24) for s in ("weak", "best")]
    Path("labels.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    mine = validate(capsys, "run", METRIC, "--labels", "labels.csv")
    assert mine["folder"] == "validity-run"
    (summary,) = mine["report"]["labels"]
    assert (summary["dimension"], summary["raters"]) == ("useful", {"me": 48})
    left_out = mine["report"]["metrics"][0]["correlations"][0]["rows"]["left_out"]
    assert left_out == {"no human label": 48}
    assert validate(capsys, "run", METRIC)["report"] == own["report"], "a file of labels is only read"


@pytest.mark.drill
def test_empty_cells_of_a_file_of_labels_are_counted(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["id,system,rater,dimension,value,remark"]
    rows += [f"case-{n:03d},{s},me,useful,{n % 3 if n else ''},x" for n in range(24) for s in ("weak", "best")]
    text = "\n".join(rows) + "\n"
    Path("ratings.csv").write_text(text, encoding="utf-8")
    said = {
        "the column remark: is not a column of labels: not read",
        "2 rows of me in useful: the value is empty: missing",
    }
    assert set(validate(capsys, bench, METRIC, "--labels", "ratings.csv", "-o", "run")["notes"]) == said
    assert set(validate(capsys, "run", METRIC, "--labels", "ratings.csv")["notes"]) == said
    (bench / "labels.csv").write_text(text, encoding="utf-8")
    assert set(validate(capsys, bench, METRIC)["notes"]) == said, "beside the cases too"


@pytest.mark.drill
def test_labels_that_were_put_right_since_count(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = validate(capsys, bench, METRIC)
    made = study(24)
    changed = label(made.outcomes[0], 5)
    assert changed.value != made.labels[0].value
    on: dict[str, list[Label]] = {}
    for one in (changed, *made.labels[1:]):
        on.setdefault(one.subject.case, []).append(one)
    write(bench, [c.model_copy(update={"labels": tuple(on[c.id])}) for c in made.cases])
    after = validate(capsys, bench, METRIC)
    assert before["report"] != after["report"]
    again = validate(capsys, "validity-mine", METRIC)
    assert again["report"] == after["report"]
    assert again["notes"] == ["labels of the run that were given again later: 1; the later ones count"]


def test_dimensions_slices_and_stages_narrow_what_is_shown(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = validate(
        capsys,
        bench,
        METRIC,
        "--dimension",
        "grade",
        "--slice",
        "language",
        "--stage",
        "where(fact='language', values=('java',))",
    )["report"]
    assert report["cases"] == 12
    slices = report["metrics"][0]["slices"]
    assert {row["value"] for row in slices if row["fact"] == "language"} == {"java"}


@pytest.mark.slow
def test_a_metric_that_needs_references_leaves_out_what_has_none(
    bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = study(24)
    cases = [
        c.model_copy(
            update={
                "labels": tuple(one for one in made.labels if one.subject.case == c.id),
                "references": () if at < 4 else c.references,
            }
        )
        for at, c in enumerate(made.cases)
    ]
    write(bench, cases)
    report = validate(capsys, bench, METRIC)["report"]
    rows = report["metrics"][0]["correlations"][0]["rows"]
    assert rows["rows"] == 80
    assert rows["left_out"] == {"the metric does not apply: the case has no reference comment": 16}


def test_bad_input_is_one_line_that_says_what_to_do(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no metrics" in refusal(capsys, bench, "blue") or "blue" in refusal(capsys, bench, "blue")
    assert "nobody judged 'taste' (there are: grade)" in refusal(capsys, bench, METRIC, "--dimension", "taste")
    assert "no case has the fact 'size' (there are: system, language)" in refusal(
        capsys, bench, METRIC, "--slice", "size"
    )
    write(bench, [case(n) for n in range(24)])
    error = refusal(capsys, bench, METRIC, "-o", "other")
    assert "mine holds no judgements of people on reviews" in error and "--labels FILE.csv" in error
    assert not Path("other").exists(), "nothing is left behind"
    (bench / "reviews.jsonl").unlink()
    assert "no reviews.jsonl" in refusal(capsys, bench, METRIC, "-o", "other")
    assert "without recorded reviews" in refusal(capsys, "swr_bench", METRIC)


def test_a_folder_of_something_else_is_left_alone(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("notes").mkdir()
    Path("notes/todo.txt").write_text("milk", encoding="utf-8")
    assert "todo.txt" in refusal(capsys, bench, METRIC, "-o", "notes")
    assert [path.name for path in Path("notes").iterdir()] == ["todo.txt"]


# --- fits ---------------------------------------------------------------------------------------------------------


@pytest.mark.drill
def test_labels_of_ones_own_become_a_metric(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(bench), *TWO, "--fit", "mine.json", *FAST]) == 0
    out = capsys.readouterr().out
    assert "calibrated, out of fold" in out and "fitted to shuffled labels it reaches" in out
    assert "mine.json was fitted to all" in out
    assert """use it as "combined(file='mine.json')";""" in out.replace("\n", " ")
    metric = load(Metric, "combined(file='mine.json')")
    assert set(metric.pins()) == {"calibration"}
    assert main(["validate", str(bench), "combined(file='mine.json')", *TWO, *FAST, "--no-report", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["report"]
    by_label = {one["label"]: one["correlations"][0]["spearman"]["value"] for one in report["metrics"]}
    made = reviewgauge.validate(str(bench), *TWO, fit="again.json", resamples=40, folds=3).fit
    assert made is not None
    assert by_label["combined(file='mine.json')"] == pytest.approx(made.account[0].correlations[0].spearman.value)
    assert Path("again.json").read_bytes() == Path("mine.json").read_bytes()
    assert not made.leaks and made.leakage.n == made.rows == len(study(24).outcomes) and made.folds == 3
    assert {name.split()[0] for name, _ in made.weights} == set(TWO)


def test_what_cannot_be_calibrated_is_one_line(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "nobody judged 'taste'" in refusal(capsys, bench, *TWO, "--fit", "x.json", "--dimension", "taste")
    assert "is a directory" in refusal(capsys, bench, *TWO, "--fit", str(bench))
    assert "nonsense" in refusal(capsys, bench, "nonsense", "--fit", "x.json")
    assert "things apart" in refusal(capsys, bench, *TWO, "--fit", "x.json", "--sweep")
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
        reviewgauge.validate(str(tmp_path / "cases.jsonl"), *TWO, fit="x.json", out="run", resamples=40, folds=3)


@pytest.mark.slow
def test_a_metric_that_was_fitted_to_labels_is_named(bench: Path) -> None:
    made = reviewgauge.validate(str(bench), "combined(file='lexical')", "chrf", fit="x.json", resamples=40, folds=3)
    assert any("combined(file='lexical') was fitted to 5,164 human labels" in text for text in made.notes)
