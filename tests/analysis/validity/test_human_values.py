from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judged_toys import LIKERT, label, review
from reviewgauge.analysis.validity.human_values import human_values, on_steps, reference_points
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Scale, Subject, SubjectKind
from reviewgauge.datasets.crscore_study import CrscoreStudy

ONE, TWO = review(0, "s", 3), review(1, "s", 2)


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


def test_the_last_round_is_what_each_review_ended_with() -> None:
    """Of three reviews one was decided by an expert, one agreed on together, and one never in question."""
    third = review(2, "s", 2)
    first = [label(review, grade, rater, round="independent") for review, rater, grade in (
        (ONE, "Ann", 1), (ONE, "Bob", 5), (TWO, "Ann", 2), (TWO, "Bob", 4), (third, "Ann", 3), (third, "Bob", 3),
    )]  # fmt: skip
    later = [label(ONE, 5, "Eve", round="expert"), label(TWO, 4, "consensus", round="discussion", consensus=True)]
    (found,), _ = human_values([*first, *later], {}, of_round="last")
    assert sorted(found.of.values()) == [3.0, 4.0, 5.0]
    assert found.left_out == {"labels of other rounds": 4}


def test_a_label_outside_its_scale_is_refused_and_without_a_scale_its_range_is_one() -> None:
    with pytest.raises(UserError, match="ann gave case-000 by s 7 in grade, outside its scale of 1 to 5"):
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
        "left out: taste, whose labels are words such as 'good', not numbers",
    ]


@pytest.mark.parametrize(("human", "scale", "expected"), [
    ([1.5, 2.4, 2.6], Scale(low=1, high=5), [2.0, 2.0, 3.0]),
    ([0.0, 0.24, 0.26], Scale(low=0, high=1, step=0.5), [0.0, 0.0, 0.5]),
    ([0.1, 0.7], Scale(low=0, high=1, step=0), [0.1, 0.7]),
    (list(range(40)), Scale(low=0, high=100), None),
])  # fmt: skip
def test_human_values_on_the_steps_of_their_scale(
    human: list[float], scale: Scale, expected: list[float] | None
) -> None:
    found = on_steps(np.array(human, dtype=np.float64), scale)
    assert (found is None) if expected is None else (found is not None and found.tolist() == expected)


def test_crscores_reference_is_ranked_among_the_systems(shared_data: Path) -> None:
    """CRScore, section 5.3 and the row "Ground Truth" of Table 10: people prefer four of nine systems to it.

    The paper's means over three languages are .5129, .2190 and .2819 (rank 5 in all); here are Python and Java.
    """
    study = CrscoreStudy(path=str(shared_data / "crscore"))
    found = {one.dimension: one for one in human_values(study.recorded()[1], study.scales())[0]}
    places = {name: reference_points(found[name], study.human_systems) for name in ("con", "comp", "rel")}
    assert {name: (round(p.mean, 4), p.rank, p.among) for name, (p,) in places.items()} == {
        "con": (0.5, 4, 10),
        "comp": (0.2038, 5, 10),
        "rel": (0.2731, 5, 10),
    }
