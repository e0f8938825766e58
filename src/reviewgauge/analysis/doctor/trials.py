"""A probe scored by a metric: the measurements, and their measures in total and by case."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers, measures_of_totals
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Failure, Parts
from reviewgauge.engine.measure import ScoreJob, measure
from reviewgauge.engine.run.executors import Threads
from reviewgauge.models.chat.client import current_client


class TrialResult(NamedTuple):
    """The measurement of one item."""

    case: Case
    review: Review
    measured: Measured

    @property
    def size(self) -> int:
        """The number of comments and references; small cases are easier to read."""
        return len(self.review.comments) + len(self.case.references)


@dataclass(frozen=True, eq=False)
class Trial:
    """One probe scored by one metric. Raises UserError if the metric refuses the whole data set."""

    metric: Metric
    items: Sequence[tuple[Case, Review]]

    @cached_property
    def _raw(self) -> list[Measured | str | Failure]:
        if not self.metric.models or self.metric.joint:
            return list(measure(self.metric, self.items))
        first = list(measure(self.metric, self.items[:1]))  # raises if the metric refuses the data set
        found: dict[int, Measured | str | Failure] = {}
        work = [[item] for item in self.items[1:]]
        with closing(Threads(current_client().settings.in_flight).map(ScoreJob(self.metric), work)) as finished:
            for at, outcome in finished:
                if not isinstance(outcome, Failure) and outcome.refused is not None:
                    raise outcome.refused
                found[at] = outcome if isinstance(outcome, Failure) else outcome.values[0].value
        return [*first, *(found[at] for at in range(len(work)))]

    @cached_property
    def answers(self) -> list[TrialResult]:
        """The measured items."""
        pairs = zip(self.items, self._raw, strict=True)
        return [TrialResult(case, review, found) for (case, review), found in pairs if isinstance(found, Measured)]

    @property
    def failures(self) -> list[tuple[Case, Review, Failure]]:
        """The items on which the metric failed."""
        pairs = zip(self.items, self._raw, strict=True)
        return [(case, review, found) for (case, review), found in pairs if isinstance(found, Failure)]

    @cached_property
    def parts(self) -> Parts:
        """The parts of all measured items, summed."""
        names = sorted({name for answer in self.answers for name in answer.measured.parts})
        return {name: sum(answer.measured.parts.get(name, 0.0) for answer in self.answers) for name in names}

    @cached_property
    def measures(self) -> Mapping[str, Numbers]:
        """Each measure over all measured items, then of each alone, NaN where undefined; empty without such items."""
        rows = [[*(one.measured.parts.get(name, 0.0) for name in self.parts), 1.0] for one in self.answers]
        totals = [[*self.parts.values(), float(len(rows))], *rows]
        return measures_of_totals(self.metric, list(self.parts), np.array(totals)) if rows else {}

    def of_cases(self, measure: str) -> Iterator[tuple[TrialResult, float]]:
        """One measure of each measured item alone, NaN where undefined; empty for an unknown measure."""
        if measure in self.measures:
            yield from zip(self.answers, self.measures[measure][1:].tolist(), strict=True)

    def value(self, measure: str) -> float | None:
        """A measure over all items; None where undefined or unknown."""
        found = float(self.measures[measure][0]) if measure in self.measures else math.nan
        return None if math.isnan(found) else found
