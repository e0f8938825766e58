"""`reviewgauge plan` as a user types it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import reviewgauge
from reviewgauge.cli.main import main
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.records import Case, Change, Comment, Review, Usage

CHANGES, ATTEMPTS = 24, 3
WORDS = ("the lock is never released", "the total is computed twice", "the file stays open after an error")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 changes with three findings each, and three attempts of two reviewers that forget some of them."""
    references = tuple(Comment(id=f"r{n}", body=body) for n, body in enumerate(WORDS))
    cases = [Case(id=f"c{n:02d}", change=Change(repo="shop"), references=references) for n in range(CHANGES)]
    generator = np.random.default_rng(3)
    reviews = []
    for system, chance, price in (("bold", 0.8, 0.02), ("shy", 0.5, 0.05)):
        for case in cases:
            own = generator.beta(4 * chance, 4 * (1 - chance))
            for attempt in range(1, ATTEMPTS + 1):
                said = tuple(comment for comment in references if generator.uniform() < own)
                usage = Usage(calls=1, dollars=price)
                reviews.append(Review(case=case.id, system=system, attempt=attempt, comments=said, usage=usage))
    path = tmp_path_factory.mktemp("bench") / "cases.jsonl"
    path.write_bytes(b"".join(case.to_line() for case in cases))
    path.with_name("reviews.jsonl").write_bytes(b"".join(review.to_line() for review in reviews))
    return path


@pytest.fixture(scope="module")
def run(bench: Path) -> Path:
    folder = bench.with_name("run")
    assert main(["review", str(bench), "recorded", "-o", str(folder)]) == 0
    assert main(["score", str(folder), "hits"]) == 0
    return folder


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Grades of 30 reviews by two raters each."""
    generator = np.random.default_rng(5)
    lines = ["id,system,rater,dimension,value"]
    for item in range(30):
        own = generator.normal(3, 0.8)
        for system in ("bold", "shy"):
            for rater in ("ada", "ben"):
                lines.append(f"c{item:02d},{system},{rater},quality,{own + generator.normal(0, 0.5):.2f}")
    path = tmp_path / "grades.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.slow
@pytest.mark.usefixtures("hundred_columns")
def test_a_plan_is_printed_in_100_columns(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["plan", str(run), "--detect", ".05"]) == 0
    out = capsys.readouterr().out
    assert max(len(line) for line in out.splitlines()) <= 100
    for words in ("bold - shy", "attempts at each change", "24 at hand find", "price", "$", "raters: not known"):
        assert words in out, words
    assert "difference of .05 with 80% power at the 5% level" in out


@pytest.mark.slow
def test_json_holds_what_the_function_returns(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["plan", str(run), "--detect", "0.05", "--measure", "recall", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    made = reviewgauge.plan(run, detect=0.05, measure="recall")
    assert printed == made.model_dump(mode="json")
    pair = made.changes[0].pairs[0]
    assert [row.attempts for row in pair.rows] == [1, 2, 3, 5, 10]
    assert (pair.changes, pair.attempts_first) == (CHANGES, ATTEMPTS)
    assert made.changes[0].dollars_per_attempt == {"bold": pytest.approx(0.02), "shy": pytest.approx(0.05)}
    first = pair.rows[0]
    assert first.changes is not None
    assert first.dollars == pytest.approx(first.changes * 0.07)


@pytest.mark.slow
def test_power_and_prices_reach_the_plan(run: Path) -> None:
    plain = reviewgauge.plan(run, detect=0.05).changes[0].pairs[0].rows[0].changes
    sure = reviewgauge.plan(run, detect=0.05, power=0.95).changes[0].pairs[0].rows[0].changes
    assert plain is not None and sure is not None
    assert plain < sure
    priced = reviewgauge.plan(run, detect=0.05, attempt_cost=1.0).changes[0].pairs[0].rows[0]
    assert priced.changes is not None and priced.dollars == pytest.approx(2 * priced.changes)


def test_raters_are_planned_from_a_table_of_grades(labels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--labels", str(labels)]) == 0
    out = capsys.readouterr().out
    for words in ("quality in grades.csv", "120 labels by 2 raters on 60 items", "reliability"):
        assert words in out, words
    made = reviewgauge.plan(labels=labels).raters[0]
    assert made.icc.value == pytest.approx(0.64 / (0.64 + 0.25), abs=0.12)


@pytest.mark.slow
def test_the_labels_of_a_run_are_used_where_several_raters_judged(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(run, tmp_path / "run")

    def grade(case: int, rater: str, value: float) -> Label:
        subject = Subject(kind=SubjectKind.REVIEW, case=f"c{case:02d}", system="bold")
        return Label(subject=subject, rater=rater, dimension="useful", value=value)

    found = [
        grade(n, rater, float(n % 4 + (rater == "ben" and n % 3 == 0))) for n in range(20) for rater in ("ada", "ben")
    ]
    (run / "labels.jsonl").write_bytes(b"".join(label.to_line() for label in found))
    made = reviewgauge.plan(run, detect=0.05)
    assert [plan.dimension for plan in made.raters] == ["useful"]
    assert made.raters[0].judged_twice == 20 and made.notes == ()
    assert reviewgauge.plan(labels=run).raters[0].items == 20
    assert main(["plan", "--labels", str(run)]) == 0
    assert "useful in run: 40 labels" in capsys.readouterr().out


def test_labels_of_one_rater_tell_nothing_and_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("id,rater,dimension,value\na,ada,good,1\nb,ada,good,3\n")
    assert main(["plan", "--labels", str(path)]) == 0
    assert "the number of raters cannot be planned: no item has two raters" in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "said"), [
    ([], "plan RUN --detect .03, or --labels FILE"),
    (["RUN"], "--detect .03"),
    (["RUN", "--detect", "0"], "detect must be positive, got 0"),
    (["RUN", "--detect", "1.5"], "detect must be at most 1 for a share"),
    (["RUN", "--detect", ".1", "--metric", "hits(tolerance=2)"], "was not scored with hits(tolerance=2"),
    (["RUN", "--detect", ".1", "--measure", "f2"], "there is no measure 'f2'"),
    (["RUN", "--detect", ".1", "--system", "loud"], "there is no system 'loud'"),
    (["RUN", "--detect", ".1", "--power", "1"], "power must be between 0.05 and 1, got 1"),
    (["RUN", "--detect", ".1", "--attempt-cost", "-1"], "must be a valid price"),
    (["RUN", "--detect", ".1", "--system", "shy"], "only shy was measured"),
    (["--labels", "nowhere"], "no dataset is called 'nowhere'"),
])  # fmt: skip
@pytest.mark.slow
def test_what_cannot_be_planned_is_one_line(
    arguments: list[str], said: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["plan", *(word.replace("RUN", str(run)) for word in arguments)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ") and err.count("\n") == 1
    assert said in err
