"""What a review costs on the mean, and where that is not known."""

from __future__ import annotations

import pytest

from reviewgauge.analysis.costs import ReviewCost, dollars_per_attempt, review_costs
from reviewgauge.core.records import Review, Usage
from reviewgauge.core.results import Failure, FailureKind, Outcome


def outcome(system: str, case: str, dollars: float | None, calls: int = 1, seconds: float = 0.0) -> Outcome:
    usage = Usage(calls=calls, dollars=dollars, seconds=seconds)
    return Outcome(
        case=case, system=system, review=Review(case=case, system=system, usage=usage, fake=system == "fake")
    )


BROKEN = Outcome(case="c", system="paid", failure=Failure(kind=FailureKind.NETWORK, message="gone"))
OUTCOMES = [
    outcome("paid", "a", 0.1, seconds=1.0), outcome("paid", "b", 0.3, seconds=2.0), BROKEN,
    outcome("partly", "a", 0.1), outcome("partly", "b", None), outcome("free", "a", None, calls=0),
    outcome("fake", "a", 0.2),
]  # fmt: skip


def test_the_price_of_an_attempt_is_the_mean_of_what_was_paid() -> None:
    assert dollars_per_attempt(OUTCOMES) == {"paid": pytest.approx(0.2), "fake": 0.2}


def test_what_is_not_known_is_not_zero() -> None:
    found = review_costs(OUTCOMES)
    assert found["paid"]._replace(dollars=None) == ReviewCost(2, None, 1.5, True)
    assert found["partly"] == ReviewCost(2, None, 0.0, True)
    assert found["free"] == ReviewCost(1, None, 0.0, False)
    assert found["fake"].fake and not found["paid"].fake
