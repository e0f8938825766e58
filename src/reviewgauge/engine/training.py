"""Hands training cases to a reviewer that learns, without those that it is to review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress, Reviewer
from reviewgauge.core.records import Case
from reviewgauge.core.results import Drop
from reviewgauge.core.same_change import identity_marks


def teach(
    reviewer: Reviewer, training: Iterable[Case], cases: Sequence[Case], progress: Progress | None = None
) -> tuple[Reviewer, list[Drop]]:
    """The reviewer that has learnt from `training`, and what was left out since it is among `cases`.

    A reviewer that leaves the change under review out by itself gets everything. Raises UserError where nothing is
    left to learn from.
    """
    under_review = {mark for case in cases for mark in identity_marks(case.id, case.change)}
    shared: list[str] = []
    seen = 0

    def allowed() -> Iterator[Case]:
        nonlocal seen
        for case in training:
            seen += 1
            if not under_review.isdisjoint(identity_marks(case.id, case.change)):
                shared.append(case.id)
                if not reviewer.leaves_one_out:
                    continue
            yield case
        if seen and len(shared) == seen and not reviewer.leaves_one_out:
            raise UserError(
                f"all {seen} training cases are under review themselves",
                remedy="review a part of them (--stage 'systematic(every=10)'): the others are learnt from",
            )

    learnt = reviewer.fit(allowed(), progress)
    return learnt, _notes(reviewer, shared)


def _notes(reviewer: Reviewer, shared: Sequence[str]) -> list[Drop]:
    if not reviewer.leaves_one_out:
        return [Drop(item=case, by="training", reason="is under review itself: not learnt from") for case in shared]
    count = f"{len(shared)} training case{'s' * (len(shared) != 1)}"
    reason = "also under review: no change is reviewed with what is known about itself"
    return [Drop(item=count, by="training", reason=reason)] if shared else []
