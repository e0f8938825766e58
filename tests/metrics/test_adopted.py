"""What people acted on: shares, the base rate beside them, and what cannot be said."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.analysis.stats.arrays import MatrixAggregate
from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.metrics.adopted import Adopted

CASE = Case(id="c", change=Change(repo="o/n"))


def comment(name: str, after_push: int | None = 3600, **adoption: Any) -> Comment:
    told: dict[str, Any] = {"changed": False, "resolved": None, "answered": False, "base_changed": 0, "base_lines": 0}
    extra = {"adoption": told | adoption} | ({} if after_push is None else {"after_push": after_push})
    return Comment(id=name, body="Why?", extra=extra)


def review(*comments: Comment, looks: int | None = None) -> Review:
    trace = None if looks is None else json.dumps({"look": 1, "looks": looks})
    return Review(case="c", system="bot", comments=comments, trace=trace)


def measures(*reviews: Review, metric: Adopted | None = None) -> Mapping[str, float]:
    metric = metric or Adopted()
    parts = []
    for one in reviews:
        measured = metric.parts(CASE, one)
        assert isinstance(measured, Measured)
        parts.append(measured.parts)
    return {name: float(value[0]) for name, value in metric.combine(MatrixAggregate.of(parts)).items()}


def test_lift_is_what_changed_less_what_would_have_changed_anyway() -> None:
    found = measures(
        review(
            comment("a", changed=True, base_changed=1, base_lines=4),
            comment("b", changed=False, base_changed=1, base_lines=4),
            comment("c", changed=True),  # nothing beside it: in `adopted`, not in `lift`
        )
    )
    assert found["adopted"] == pytest.approx(2 / 3)
    assert found["base"] == 0.25
    assert found["lift"] == 0.25, "1 of 2, less a quarter"


def test_what_nobody_knows_is_in_no_share() -> None:
    found = measures(review(comment("a", changed=None), comment("b", changed=True), comment("c", changed=False)))
    assert (found["adopted"], found["changed"]) == (0.5, 0.5)
    assert math.isnan(found["resolved"]) and math.isnan(found["base"]) and math.isnan(found["lift"])
    assert found["comments"] == 3


def test_the_signals_that_count_are_chosen() -> None:
    said = review(
        comment("a", resolved=True, base_changed=0, base_lines=2),
        comment("b", answered=True, resolved=False),
        comment("c", thumbs_up=1, thumbs_down=2, resolved=False),
        comment("d", resolved=False),
    )
    assert measures(said)["adopted"] == 0
    every = measures(said, metric=Adopted(counts=("changed", "resolved", "answered", "thumbed")))
    assert every["adopted"] == 0.75
    assert (every["resolved"], every["answered"], every["thumbed"], every["thumbs_down"]) == (0.25, 0.25, 0.25, 0.25)
    either = measures(review(comment("a", changed=None, resolved=True)), metric=Adopted(counts=("changed", "resolved")))
    assert either["adopted"] == 1, "one signal is enough, whatever the other would have been"


def test_comments_are_per_pull_request_not_per_look() -> None:
    one, other = review(comment("a"), comment("b"), looks=2), review(looks=2)
    assert measures(one, other)["comments"] == 2
    assert measures(one, other, review(looks=1))["comments"] == 1, "a look that found nothing counts"
    assert measures(Review(case="c", system="s", trace="no JSON"))["comments"] == 0


def test_the_time_to_the_first_comment() -> None:
    quick = review(comment("a", after_push=7200), comment("b", after_push=3600))
    slow = review(comment("a", after_push=3600 * 100))
    found = measures(quick, slow, review(comment("a", after_push=None)), review())
    assert found["hours"] == pytest.approx(50.5)
    assert found["typical_hours"] == pytest.approx(10.0)
    at_once = measures(review(comment("a", after_push=0)))
    assert at_once["typical_hours"] == pytest.approx(1 / 60)


def test_comments_that_do_not_say_what_became_of_them_are_not_measured() -> None:
    said = Review(case="c", system="s", comments=(Comment(id="a", body="Why?"),))
    assert Adopted().parts(CASE, said) == (
        "its comments do not say what became of them: stage collect_reviews records that"
    )
    assert Adopted().estimate_note == "adoption is not correctness"
    odd = Review(case="c", system="s", comments=(Comment(id="a", body="?", extra={"adoption": {"changed": "yes"}}),))
    assert math.isnan(measures(odd)["adopted"])


outcomes = st.tuples(st.sampled_from([True, False, None]), st.integers(0, 5), st.integers(0, 5))


@given(st.lists(st.lists(outcomes, max_size=4), min_size=1, max_size=5))
def test_parts_add_up_to_the_shares_of_all_comments(said: list[list[tuple[bool | None, int, int]]]) -> None:
    reviews = [
        review(*(comment(str(n), changed=c, base_changed=min(a, b), base_lines=b) for n, (c, a, b) in enumerate(one)))
        for one in said
    ]
    found = measures(*reviews)
    flat = [one for each in said for one in each]
    known = [bool(c) for c, _, _ in flat if c is not None]
    pairs = [(bool(c), min(a, b) / b) for c, a, b in flat if c is not None and b]
    assert found["adopted"] == pytest.approx(np.mean(known) if known else math.nan, nan_ok=True)
    lift = np.mean([c - b for c, b in pairs]) if pairs else math.nan
    assert found["lift"] == pytest.approx(lift, nan_ok=True, abs=1e-12)
    assert math.isnan(found["lift"]) or -1 <= found["lift"] <= 1
