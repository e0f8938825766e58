"""What a finding is worth in tests, whoever finds it; without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import FAILING, Case, Change, ChangedFile, Comment, Review, Span, Tier
from reviewgauge.metrics.useful_tests import UsefulTests

PATCH = "@@ -1,3 +1,3 @@\n-a\n+b\n c\n d\n"
BODIES = {
    "total": "The first item is left out of the total, so every sum is too small.",
    "tax": "The tax rate is added to the amount in place of its share.",
    "name": "This name says nothing about shipping and should be longer.",
}


def finding(name: str, tests: Sequence[str] | None, line: int) -> Comment:
    known = {} if tests is None else {"tier": Tier.VERIFIED, "extra": {FAILING: list(tests)}}
    return Comment.model_validate({"id": name, "body": BODIES[name], "span": Span(path="shop.py", start=line), **known})


CASE = Case(
    id="c",
    change=Change(repo="o/n", files=(ChangedFile(path="shop.py", patch=PATCH),)),
    references=(finding("total", ["t::a", "t::b", "t::c"], 1), finding("tax", [], 2), finding("name", None, 3)),
)


def measures(*said: str, case: Case = CASE) -> Mapping[str, float]:
    comments = [
        Comment(id=f"s{n}", body=one.body, span=one.span) for n, one in enumerate(case.references) if one.id in said
    ]
    metric = UsefulTests()
    found = metric.parts(case, Review(case=case.id, system="s", comments=tuple(comments)))
    assert isinstance(found, Measured)
    return {name: float(values[0]) for name, values in measures_of(metric, MatrixAggregate.of([found.parts])).items()}


@pytest.mark.parametrize(("said", "findings", "tests"), [
    (("total",), 0.5, 0.75),
    (("tax",), 0.5, 0.25),  # a command that names no test is one
    (("name",), 0.0, 0.0),  # true, and no test shows it
    (("total", "tax"), 1.0, 1.0), ((), 0.0, 0.0),
])  # fmt: skip
def test_a_hit_is_worth_its_tests(said: Sequence[str], findings: float, tests: float) -> None:
    found = measures(*said)
    assert found == pytest.approx({"findings": findings, "tests": tests})


def test_several_phrasings_are_one_finding_with_its_tests_once() -> None:
    again = finding("total", ["t::b", "t::d"], 1).model_copy(update={"id": "again", "same_as": "total"})
    case = CASE.model_copy(update={"references": (*CASE.references, again)})
    assert measures("total", case=case)["tests"] == pytest.approx(4 / 5)


def test_a_case_whose_tests_nobody_knows_does_not_count() -> None:
    review = Review(case="c", system="s")
    traced = CASE.model_copy(update={"references": CASE.references[2:]})
    assert UsefulTests().parts(traced, review) == UsefulTests().unmeasurable(traced) != ""
    unnamed = CASE.references[0].model_copy(update={"extra": {}})
    old = CASE.model_copy(update={"references": (unnamed,)})
    assert "build again" in str(UsefulTests().parts(old, review))


def test_a_missing_review_is_bounded() -> None:
    bounds = UsefulTests().bounds(CASE)
    assert bounds.worst == {"findings": 2, "tests": 4}
    assert bounds.best == {**bounds.worst, "found": 2, "tests_found": 4}
