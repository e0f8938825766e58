from __future__ import annotations

import numpy as np
import pytest

from analysis_toys import Micro
from judged_toys import LIKERT, Shared, case, label, review, study
from reviewgauge.analysis.validity.human_values import human_values
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.sample import join
from reviewgauge.analysis.validity.scored import Scored
from reviewgauge.core.records import Case, Change, Comment
from reviewgauge.core.results import Failure, FailureKind, Outcome, Score

ONE, TWO = review(0, "s", 3), review(1, "s", 2)


def score(of: Outcome, **more: object) -> Score:
    return Score.model_validate({"case": of.case, "system": of.system, "metric": "m", "benchmark": "b", **more})


def test_every_review_is_a_row_or_counted_with_its_reason() -> None:
    systems = ("tool", "msg", "unlabelled", "unscored", "broken", "crashed", "aside")
    outcomes = [review(0, system, 3) for system in systems]
    labels = [label(one, 3) for one in outcomes if one.system != "unlabelled"]
    labels.append(label(review(5, "tool", 3), 4))
    failure = Failure(kind=FailureKind.TIMEOUT, message="slow")
    more: dict[str, dict[str, object]] = {
        "broken": {"failure": failure, "reason": "the review failed"},
        "crashed": {"failure": failure, "reason": "the metric failed"},
        "aside": {"reason": "has no reference"},
    }
    scores = [
        score(one, **more.get(one.system, {"parts": {"share": 0.5}})) for one in outcomes if one.system != "unscored"
    ]
    bench = ReviewTable.of([case(0)], outcomes, ["msg"])
    (human,), _ = human_values(labels, {"grade": LIKERT})
    judged = join(bench, human, Scored.of(Shared(), scores).values)
    assert judged.n == 1
    assert [bench.keys[at][1] for at in judged.place] == ["tool"]
    assert (judged.score.tolist(), judged.human.tolist()) == ([0.5], [3.0])
    assert judged.left_out == {
        "written by people": 1, "no human label": 1, "not scored": 1, "the review failed": 1, "the metric failed": 1,
        "the metric does not apply: has no reference": 1, "labels on reviews that are not in the run": 1,
    }  # fmt: skip
    assert judged.n + sum(judged.left_out.values()) == len(outcomes) + 1


def test_a_row_is_the_headline_of_the_review_alone_and_undefined_is_no_row() -> None:
    scores = [score(ONE, parts={"tp": 1, "fp": 1, "fn": 0}), score(TWO, parts={"tp": 0, "fp": 0, "fn": 0})]
    found = Scored.of(Micro(), scores).values
    assert found["case-000", "s", 1] == pytest.approx(2 / 3), "its own F1, not that of the sums"
    assert found["case-001", "s", 1] == "f1 is undefined on the review alone"
    assert Scored.of(Micro(), []).values == {}


def test_rare_reasons_are_counted_together() -> None:
    outcomes = [review(number, "s", 2) for number in range(30)]
    scores = [score(one, reason=f"reason {min(number, 20)}") for number, one in enumerate(outcomes)]
    bench = ReviewTable.of([case(number) for number in range(30)], outcomes)
    (human,), _ = human_values([label(one, 2) for one in outcomes], {"grade": LIKERT})
    judged = join(bench, human, Scored.of(Shared(), scores).values)
    assert len(judged.left_out) == 7
    assert judged.left_out["the metric does not apply: other reasons"] == 15
    assert sum(judged.left_out.values()) == 30


def test_reviews_of_one_reference_are_one_cluster_wherever_it_stands() -> None:
    same = Comment(id="r", body="The file handle is never closed on error.")
    near = Comment(id="r", body="the file handle is never closed, on error")
    bodies = [same, near, None, None, Comment(id="r", body="Please rename the argument of this method")]
    cases = [
        Case(id=f"case-{n:03d}", change=Change(repo="o"), references=(body,) if body else ())
        for n, body in enumerate(bodies)
    ]
    outcomes = [review(n, system, 2) for n in range(5) for system in ("a", "b")]
    bench = ReviewTable.of(cases, outcomes)
    assert bench.cluster.tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 3, 3], "cases without a reference stand for themselves"
    assert bench.clusters == 4
    assert bench.known_facts == ["system"]


def test_facts_by_row() -> None:
    made = study(4)
    bench = made.bench()
    judged = join(bench, made.humans()[0], Scored.of(Shared(), made.scores(Shared())).values)
    assert bench.fact("language")[:5] == ["java"] * 4 + ["python"]
    assert bench.fact("system")[:4] == ["best", "fair", "good", "weak"]
    assert set(bench.fact("size")) == {None}
    rows = judged.rows(np.arange(judged.n) % 2 == 1, "odd").row_set("odd")
    assert (rows.rows, rows.clusters, rows.left_out) == (8, 4, {"not odd": 8})


def test_an_empty_run_has_no_rows() -> None:
    bench = ReviewTable.of([], [])
    (human,), _ = human_values([label(ONE, 2)], {"grade": LIKERT})
    judged = join(bench, human, {})
    assert judged.n == 0 and judged.left_out == {"labels on reviews that are not in the run": 1}
