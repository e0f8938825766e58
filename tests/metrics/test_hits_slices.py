"""Slices of a stored matching: the same parts as those that `hits` makes itself, whatever its policy and variant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Case, Change, Comment, Review, Severity
from reviewgauge.core.results import NOT_STATED
from reviewgauge.core.specs import signature
from reviewgauge.metrics.hits import Hits
from reviewgauge.metrics.matching.counts import comment_parts, finding_parts

CHANGE = Change(repo="shop")
METRICS = [
    Hits(judge="dice"),
    Hits(judge="dice", duplicates="false"),
    Hits(judge="dice", policy="greedy"),
    Hits(judge="dice", policy="any"),
    Hits(judge="dice", policy="greedy", variant="aacr_ids"),
    Hits(judge="dice", policy="greedy", variant="martian"),
]


@st.composite
def situations(draw: st.DrawFn) -> tuple[Case, Review]:
    body = st.lists(st.sampled_from(["lock", "flag", "leak", "null"]), min_size=1, max_size=3).map(" ".join)
    kinds = st.sampled_from([None, "defect", "security"])
    grades = st.sampled_from([None, Severity.LOW, Severity.HIGH])

    def some(prefix: str, least: int, most: int) -> tuple[Comment, ...]:
        return tuple(
            Comment(id=f"{prefix}{i}", body=draw(body), category=draw(kinds), severity=draw(grades))
            for i in range(draw(st.integers(least, most)))
        )

    case = Case(id="c", change=CHANGE, references=some("r", 1, 4), neutral=some("n", 0, 1), rejected=some("x", 0, 1))
    return case, Review(case="c", system="s", comments=some("c", 0, 5))


@pytest.mark.parametrize("metric", METRICS, ids=signature)
@given(situation=situations())
def test_they_are_those_of_hits(metric: Hits, situation: tuple[Case, Review]) -> None:
    case, review = situation
    found = metric.parts(case, review)
    assert isinstance(found, Measured)
    assert found.matching is not None
    for facet, values in (
        ("comment_category", {c.id: c.category for c in review.comments}),
        ("comment_severity", {c.id: None if c.severity is None else str(c.severity) for c in review.comments}),
    ):
        assert comment_parts(found.matching, values, metric.duplicates) == found.facets.get(facet, {})
    for facet, values in (
        ("category", {c.id: c.category for c in case.references}),
        ("severity", {c.id: None if c.severity is None else str(c.severity) for c in case.references}),
    ):
        assert finding_parts(found.matching, values) == found.facets[facet]


def test_what_has_no_value_is_not_stated() -> None:
    case = Case(id="c", change=CHANGE, references=(Comment(id="r", body="the lock leaks"),))
    review = Review(case="c", system="s", comments=(Comment(id="a", body="the lock leaks"), Comment(id="b", body="no")))
    found = Hits(judge="dice").parts(case, review)
    assert isinstance(found, Measured)
    assert found.matching is not None
    parts = comment_parts(found.matching, {"a": "defect"})
    assert parts["defect"]["right"] == 1
    none_right = dict.fromkeys(("right", "right_least", "right_most"), 0)
    assert parts[NOT_STATED] == {"comments": 1, "false": 1, "said": 1, "said_most": 1} | none_right
    assert sum(one["said"] for one in parts.values()) == found.parts["said"]
    assert finding_parts(found.matching, {}).keys() == {NOT_STATED}
