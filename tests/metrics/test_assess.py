"""Verdicts against what became of the change, held against scikit-learn."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, precision_score, recall_score

from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Case, Change, Comment, Review, Task
from reviewgauge.metrics.assess import NO_VERDICT, Assess
from text_metrics import read


def case(verdict: bool | None) -> Case:
    return Case(id="c", change=Change(repo="x", task=Task.ASSESS), verdict=verdict)


def review(verdict: bool | None, *bodies: str) -> Review:
    comments = tuple(Comment(id=body, body=body) for body in bodies)
    return Review(case="c", system="s", verdict=verdict, comments=comments)


def measures(pairs: list[tuple[bool, bool]]) -> dict[str, float]:
    """Of (true, said)."""
    measured = [Assess().parts(case(true), review(said)) for true, said in pairs]
    return read(Assess(), [m.parts for m in measured if isinstance(m, Measured)])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=40))
def test_equals_scikit_learn(pairs: list[tuple[bool, bool]]) -> None:
    true, said = [t for t, _ in pairs], [s for _, s in pairs]
    found = measures(pairs)
    assert found["accuracy"] == pytest.approx(accuracy_score(true, said))
    if len(set(true)) == 2:
        assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(true, said))
    else:
        assert math.isnan(found["balanced_accuracy"])  # undefined, not half of a figure
    for name, positive in (("merged", True), ("not_merged", False)):
        for measure, score in (("f1", f1_score), ("precision", precision_score), ("recall", recall_score)):
            expected = score(true, said, pos_label=positive, zero_division=math.nan)
            value = found[f"{name}_{measure}"]
            assert math.isnan(value) if math.isnan(expected) else value == pytest.approx(expected)


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_constant_answers_get_what_is_printed_beside_every_system(true: list[bool]) -> None:
    always = measures([(one, True) for one in true])
    never = measures([(one, False) for one in true])
    assert always["merged_f1"] == pytest.approx(always["always_merged_f1"], nan_ok=True)
    assert always["accuracy"] == pytest.approx(always["always_merged_accuracy"])
    assert never["not_merged_f1"] == pytest.approx(never["always_not_f1"], nan_ok=True)
    assert never["accuracy"] == pytest.approx(never["always_not_accuracy"])


def test_always_merged_on_a_balanced_set_is_the_published_two_thirds() -> None:
    found = measures([(True, True), (False, True)] * 30)
    assert found["merged_f1"] == pytest.approx(2 / 3)
    assert found["balanced_accuracy"] == 0.5


def test_what_is_not_said_is_no_answer() -> None:
    assert Assess().parts(case(None), review(True)) == "nobody knows whether the change could be merged"
    assert Assess().parts(case(True), review(None)) == NO_VERDICT and 'no_verdict="comments"' in NO_VERDICT
    by_comments = Assess(no_verdict="comments")
    for said, right in ((review(None), True), (review(None, "wrong"), False), (review(True, "but fine"), True)):
        measured = by_comments.parts(case(True), said)
        assert isinstance(measured, Measured)
        assert bool(measured.parts["said_yes_is_yes"]) is right


def test_bounds_are_the_wrong_and_the_right_answer() -> None:
    bounds = Assess().bounds(case(False))
    assert bounds is not None
    assert bounds.worst["said_yes_is_no"] == 1 and bounds.best["said_no_is_no"] == 1
    assert Assess().bounds(case(None)) is None
