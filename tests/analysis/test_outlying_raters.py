"""One rater against the others: by hand, and whatever the labels."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.analysis.outlying_raters import advice, differences, rater_agreement
from reviewgauge.core.labels import Label, Scale, Subject, SubjectKind

SCALE = Scale(low=1, high=5)


def subject(item: int) -> Subject:
    return Subject(kind=SubjectKind.CHANGE, case=f"c{item}")


def labels_of(table: Mapping[str, Sequence[int | None]]) -> list[Label]:
    """Rater -> a grade for each item; the first item was judged first."""
    return [
        Label(subject=subject(at), rater=rater, dimension="grade", value=value, at=float(at))
        for at in range(max(map(len, table.values())))
        for rater, values in table.items()
        if at < len(values) and (value := values[at]) is not None
    ]


def test_a_rater_who_is_below_the_rest_is_named_with_the_figures() -> None:
    same = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]
    off = [grade - 1 if grade > 1 and at % 4 else grade for at, grade in enumerate(same)]
    found = rater_agreement(labels_of({"Ann": same, "Bob": same, "Cy": off}), {}, scale=SCALE)
    ann, _, cy = found
    agrees = mean(a == b for a, b in zip(same, off, strict=True))
    assert ann.with_others.value == pytest.approx((1 + agrees) / 2)
    assert cy.with_others.value == pytest.approx(agrees)
    assert cy.among_others.value == 1
    assert cy.lean == pytest.approx(mean(b - a for a, b in zip(same, off, strict=True)))
    said = advice(found)
    assert len(said) == 1
    assert said[0].startswith(f"Cy agrees with the others in grade on {agrees:.0%} of 12 items")
    assert "lower on average" in said[0]


def test_known_answers() -> None:
    good, bad = [3] * 12, [3] * 4 + [1] * 8
    right = {subject(at): 3 for at in range(6, 12)}
    found = rater_agreement(labels_of({"Ann": good, "Bob": good, "Cy": bad}), right, scale=SCALE)
    cy = found[2]
    assert (cy.on_gold.value, cy.on_gold.n, cy.others_on_gold.value) == (0, 6, 1)
    assert any("right answer in grade to 0% of 6" in text for text in advice(found))
    unheard = rater_agreement(labels_of({"Ann": good, "Bob": good}), {subject(0): 5}, scale=SCALE)
    assert unheard[0].on_gold.value == 0


@pytest.mark.parametrize("seed", range(4))
def test_of_many_raters_who_are_alike_nobody_is_named(seed: int) -> None:
    draw = random.Random(seed)
    table: dict[str, list[int | None]] = {f"R{at}": [None] * 200 for at in range(10)}
    for item in range(200):
        for at in draw.sample(range(10), 3):
            table[f"R{at}"][item] = draw.randint(1, 5)
    right = {subject(at): draw.randint(1, 5) for at in range(0, 200, 4)}
    assert advice(rater_agreement(labels_of(table), right, scale=SCALE)) == []


def test_two_raters_cannot_tell_who_is_apart() -> None:
    found = rater_agreement(labels_of({"Ann": [1] * 10, "Bob": [5] * 10}), {}, scale=SCALE)
    assert [one.gap.value for one in found] == [None, None]
    assert advice(found) == []


def test_who_says_what_where_they_differ() -> None:
    found = differences(labels_of({"Ann": [5, 5, 2], "Bob": [3, 3, 2], "Cy": [3, None, 1]}))
    assert [(one.rater, one.says, one.others_say, one.times) for one in found[:2]] == [
        ("Ann", "5", "3", 3),
        ("Bob", "3", "5", 2),
    ]


GRADES = st.lists(st.none() | st.integers(1, 4), min_size=6, max_size=6)


@given(rows=st.lists(GRADES, min_size=2, max_size=4), tolerance=st.sampled_from([0, 1]))
def test_shares_are_means_over_items_of_agreeing_pairs(rows: list[list[int | None]], tolerance: int) -> None:
    table = {f"R{at}": row for at, row in enumerate(rows)}
    labels = labels_of(table)
    if not labels:
        return
    for one in rater_agreement(labels, {}, scale=SCALE, tolerance=tolerance, resamples=0):
        own, rest = [], []
        for item in range(6):
            others = [row[item] for name, row in table.items() if name != one.rater and row[item] is not None]
            mine = table[one.rater][item]
            if mine is not None and others:
                own.append(mean(abs(mine - other) <= tolerance for other in others if other is not None))
            if len(others) > 1:
                rest.append(mean(abs(a - b) <= tolerance for a, b in combinations(others, 2)))  # type: ignore[operator]
        assert one.with_others.value == (pytest.approx(mean(own)) if own else None)
        assert one.among_others.value == (pytest.approx(mean(rest)) if rest else None)
        assert one.with_others.n == len(own)
