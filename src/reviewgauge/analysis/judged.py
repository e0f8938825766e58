"""Recorded reviews with people's judgements of them: what metrics, judges and thresholds are validated on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reviewgauge.core.labels import Label, Scale
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Outcome


@dataclass(frozen=True)
class JudgedReviews:
    """The reviews of a data set or a run, the labels that count, and their scales.

    `people` are the systems that are not tools. `dimension` is the one of the grades, where there are several.
    """

    name: str
    cases: Sequence[Case]
    reviews: Sequence[Review]
    labels: Sequence[Label]
    scales: Mapping[str, Scale] = field(default_factory=dict)
    people: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    dimension: str = ""

    @property
    def outcomes(self) -> list[Outcome]:
        """The reviews as outcomes."""
        return [Outcome(case=one.case, system=one.system, attempt=one.attempt, review=one) for one in self.reviews]
