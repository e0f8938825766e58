"""Recorded reviews with people's judgements of them: what metrics, judges and thresholds are validated on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reviewgauge.analysis.validity.human_values import HumanValues, human_values
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Scale
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Outcome

NO_LABELS = "--labels FILE.csv with judgements of your own, or graded_reviews or crscore_study"


@dataclass(frozen=True)
class JudgedReviews:
    """The reviews of a data set or a run, the labels that count, and their scales.

    `people` are the systems that are not tools. `own_labels`: the labels came with the data, not from a file.
    """

    name: str
    cases: Sequence[Case]
    reviews: Sequence[Review]
    labels: Sequence[Label]
    scales: Mapping[str, Scale] = field(default_factory=dict)
    people: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    own_labels: bool = True

    @property
    def outcomes(self) -> list[Outcome]:
        """The reviews as outcomes."""
        return [Outcome(case=one.case, system=one.system, attempt=one.attempt, review=one) for one in self.reviews]

    def humans(
        self, dimensions: Sequence[str] = (), of_round: str | None = None
    ) -> tuple[list[HumanValues], tuple[str, ...]]:
        """(people's values in these dimensions, or in all; notes on other labels). Raises UserError where none is."""
        found, notes = human_values(self.labels, self.scales, of_round=of_round)
        known = ", ".join(one.dimension for one in found)
        if missing := [name for name in dimensions if name not in [one.dimension for one in found]]:
            raise UserError(f"nobody judged {missing[0]!r}", remedy=f"there are: {known}" if known else NO_LABELS)
        if not found and of_round is not None:
            raise UserError(f"there are no human labels on reviews in the round {of_round!r}")
        if not found:
            raise UserError(notes[-1] if notes else "there are no human labels on reviews", remedy=NO_LABELS)
        return [one for one in found if not dimensions or one.dimension in dimensions], tuple(notes)
