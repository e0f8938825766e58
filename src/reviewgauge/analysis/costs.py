"""What reviews cost, by system, as the runs recorded it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from reviewgauge.core.results import Outcome
from reviewgauge.engine.run.kept import kept
from reviewgauge.engine.run.scored_run import ScoredRun


class ReviewCost(NamedTuple):
    """The mean over the `reviews` of a system.

    `dollars` is None where the price of any of them is not known. `asks`: some model was asked. `fake`: one that costs
    nothing in truth.
    """

    reviews: int = 0
    dollars: float | None = None
    seconds: float = 0.0
    asks: bool = False
    fake: bool = False


def review_costs(outcomes: Iterable[Outcome]) -> dict[str, ReviewCost]:
    """The mean cost of a review by system; what failed is left out."""
    found: dict[str, ReviewCost] = {}
    for outcome in outcomes:
        if outcome.review is not None:
            review, usage = outcome.review, outcome.review.usage
            n, dollars, seconds, asks, fake = found.get(outcome.system, ReviewCost(dollars=0.0))
            total = None if dollars is None or usage.dollars is None else dollars + usage.dollars
            one = ReviewCost(n + 1, total, seconds + usage.seconds, asks or usage.calls > 0, fake or review.fake)
            found[outcome.system] = one
    return {
        system: sums._replace(
            dollars=None if sums.dollars is None else sums.dollars / sums.reviews, seconds=sums.seconds / sums.reviews
        )
        for system, sums in found.items()
    }


def costs_of(run: ScoredRun) -> dict[str, ReviewCost]:
    """The same of a run."""
    return review_costs(run.outcomes)


def dollars_of(run: ScoredRun) -> dict[str, float | None]:
    """The mean price of a review by system: 0 for one that asks no model, None where it is not known."""
    free = {name for name, by in run.reviewers.items() if by.reviewer is not None and not by.reviewer.models}
    costs = kept(costs_of, run)
    return {
        system: 0.0 if cost.dollars is None and not cost.asks and system in free else cost.dollars
        for system, cost in costs.items()
    }


def dollars_per_attempt(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """The mean price of a review by system; systems with a review of unknown price are left out."""
    return {system: cost.dollars for system, cost in review_costs(outcomes).items() if cost.dollars is not None}
