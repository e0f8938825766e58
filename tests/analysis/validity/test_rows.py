from __future__ import annotations

import numpy as np
import pytest

from analysis_toys import Micro
from judged_toys import LIKERT, Shared, case, label, review, study
from reviewgauge.analysis.validity.rows import ReviewTable, human_values, join, on_steps, row_scores
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Scale, Subject, SubjectKind
from reviewgauge.core.records import Case, Change, Comment
from reviewgauge.core.results import Failure, FailureKind, Outcome, Score

ONE, TWO = review(0, "s", 3), review(1, "s", 2)


def score(of: Outcome, **more: object) -> Score:
    return Score.model_validate({"case": of.case, "system": of.system, "metric": "m", "benchmark": "b", **more})


# --- human values --------------------------------------------------------------------------------------------------


def test_the_value_is_the_mean_of_independent_raters() -> None:
    labels = [label(ONE, 2, "ann"), label(ONE, 5, "bob"), label(TWO, 1, "ann")]
    (found,), notes = human_values(labels, {"grade": LIKERT})
    assert found.of == {("case-000", "s", 1): 3.5, ("case-001", "s", 1): 1.0}
    assert found.summary.raters == {"ann": 2, "bob": 1}
    assert found.summary.rows == 2
    assert found.summary.distribution == {"1": 1, "4": 1}, "3.5 is nearest to 4: halves go up"
    assert not found.summary.consensus and not notes


def test_what_was_agreed_on_counts_only_where_there_is_nothing_else() -> None:
    agreed = [label(ONE, 4, "all", consensus=True), label(TWO, 2, "all", consensus=True)]
    (found,), _ = human_values(agreed, {})
    assert found.summary.consensus
    assert found.of["case-000", "s", 1] == 4.0
    (found,), _ = human_values([agreed[0], label(ONE, 2, "ann")], {})
    assert found.of == {("case-000", "s", 1): 2.0}
    assert found.left_out == {"agreed labels beside independent ones": 1}
    assert not found.summary.consensus


def test_models_are_no_people() -> None:
    machine = label(ONE, 5, "gpt", rater_kind=RaterKind.MODEL)
    assert human_values([machine], {}) == ([], [])
    (found,), _ = human_values([machine, label(ONE, 1)], {})
    assert found.of == {("case-000", "s", 1): 1.0}
    assert found.left_out == {"labels by models": 1}


def test_two_different_labels_of_one_rater_on_one_review_are_refused_by_name() -> None:
    with pytest.raises(UserError, match="ann judged the review of case-000 by s twice in grade: 2 and 3"):
        human_values([label(ONE, 2), label(ONE, 3)], {})
    same, _ = human_values([label(ONE, 2), label(ONE, 2)], {})
    assert same[0].of == {("case-000", "s", 1): 2.0}, "the same twice says nothing new"


def test_of_several_rounds_the_first_look_counts() -> None:
    before, after = label(ONE, 2, round="before"), label(ONE, 3, round="after")
    (found,), _ = human_values([before, after, label(TWO, 4, round="after")], {})
    assert found.of == {("case-000", "s", 1): 2.0, ("case-001", "s", 1): 4.0}, (
        "before anybody talked, where there is one"
    )
    assert found.left_out == {"labels of other rounds": 1}
    (found,), _ = human_values([before, label(ONE, 5)], {})
    assert found.of["case-000", "s", 1] == 5.0, "what has no round is the study itself"
    (found,), _ = human_values([before, after, label(ONE, 5)], {}, of_round="after")
    assert found.of == {("case-000", "s", 1): 3.0}
    assert found.left_out == {"labels of other rounds": 2}
    assert human_values([before], {}, of_round="never") == ([], [])


def test_a_label_outside_its_scale_is_refused_and_without_a_scale_its_range_is_one() -> None:
    with pytest.raises(UserError, match="ann gave case-000 by s 7 in grade, which goes from 1 to 5"):
        human_values([label(ONE, 7)], {"grade": LIKERT})
    (found,), _ = human_values([label(ONE, 7), label(TWO, 2.5)], {})
    assert (found.scale.low, found.scale.high, found.scale.step) == (2.5, 7.0, 0.0)


def test_words_are_no_numbers_and_other_subjects_no_reviews() -> None:
    comment = Label(
        subject=Subject(kind=SubjectKind.COMMENT, case="case-000", system="s", comment="c"),
        rater="ann",
        dimension="useful",
        value=1,
    )
    found, notes = human_values([comment, label(ONE, "good", dimension="taste")], {})
    assert found == []
    assert notes == [
        "left out: 1 labels about a comment, not a review",
        "taste was judged in words such as 'good', not in numbers: left out",
    ]


@pytest.mark.parametrize(
    ("human", "scale", "expected"),
    [
        ([1.5, 2.4, 2.6], Scale(low=1, high=5), [2.0, 2.0, 3.0]),
        ([0.0, 0.24, 0.26], Scale(low=0, high=1, step=0.5), [0.0, 0.0, 0.5]),
        ([0.1, 0.7], Scale(low=0, high=1, step=0), [0.1, 0.7]),
        (list(range(40)), Scale(low=0, high=100), None),
    ],
)
def test_human_values_on_the_steps_of_their_scale(
    human: list[float], scale: Scale, expected: list[float] | None
) -> None:
    found = on_steps(np.array(human, dtype=np.float64), scale)
    assert (found is None) if expected is None else (found is not None and found.tolist() == expected)


# --- rows ----------------------------------------------------------------------------------------------------------


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
    judged = join(bench, human, row_scores(Shared(), scores))
    assert judged.n == 1
    assert (judged.system, judged.score.tolist(), judged.human.tolist()) == (["tool"], [0.5], [3.0])
    assert judged.left_out == {
        "written by people": 1,
        "no human label": 1,
        "not scored": 1,
        "the review failed": 1,
        "the metric failed": 1,
        "the metric does not apply: has no reference": 1,
        "labels on reviews that are not here": 1,
    }
    assert judged.n + sum(judged.left_out.values()) == len(outcomes) + 1


def test_a_row_is_the_headline_of_the_review_alone_and_undefined_is_no_row() -> None:
    scores = [score(ONE, parts={"tp": 1, "fp": 1, "fn": 0}), score(TWO, parts={"tp": 0, "fp": 0, "fn": 0})]
    found = row_scores(Micro(), scores)
    assert found["case-000", "s", 1] == pytest.approx(2 / 3), "its own F1, not that of the sums"
    assert found["case-001", "s", 1] == "f1 is undefined on the review alone"
    assert row_scores(Micro(), []) == {}


def test_rare_reasons_are_counted_together() -> None:
    outcomes = [review(number, "s", 2) for number in range(30)]
    scores = [score(one, reason=f"reason {min(number, 20)}") for number, one in enumerate(outcomes)]
    bench = ReviewTable.of([case(number) for number in range(30)], outcomes)
    (human,), _ = human_values([label(one, 2) for one in outcomes], {"grade": LIKERT})
    judged = join(bench, human, row_scores(Shared(), scores))
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
    judged = join(made.bench(), made.humans()[0], row_scores(Shared(), made.scores(Shared())))
    assert judged.fact("language")[:5] == ["java"] * 4 + ["python"]
    assert judged.fact("system")[:4] == ["best", "fair", "good", "weak"]
    assert set(judged.fact("size")) == {None}
    rows = judged.row_set("odd", np.arange(judged.n) % 2 == 1)
    assert (rows.rows, rows.clusters, rows.left_out) == (8, 4, {"not odd": 8})


def test_an_empty_run_has_no_rows() -> None:
    bench = ReviewTable.of([], [])
    (human,), _ = human_values([label(ONE, 2)], {"grade": LIKERT})
    judged = join(bench, human, {})
    assert judged.n == 0 and judged.left_out == {"labels on reviews that are not here": 1}
