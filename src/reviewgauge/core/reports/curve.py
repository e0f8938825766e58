"""What `compare --attempts` reports."""

from __future__ import annotations

from typing import Literal

from reviewgauge.core.base import Record
from reviewgauge.core.reports.leaderboard import ComparisonTable, SystemSummary


class CurvePoint(Record):
    """`n` attempts put together `by` votes or a model; one attempt alone is put together by nobody.

    `summary` has its measures, with intervals, over the mean of `subsets` subsets of the stored attempts.
    """

    by: Literal["alone", "votes", "model"]
    n: int
    subsets: int
    summary: SystemSummary


class Curve(Record):
    """The measures of one metric by the number of attempts, all from `stored` attempts of `systems`.

    `least` is how many votes a finding needs, 0: more than half. `comparisons` are the largest number of attempts
    against one alone, and a model against votes, on the same subsets.
    """

    schema_version: Literal[1] = 1
    run: str
    dataset: str
    benchmark: str
    systems: tuple[str, ...]
    stored: int
    judge: str
    least: int = 0
    model: str = ""
    metric: str
    label: str
    headline: str
    points: tuple[CurvePoint, ...]
    comparisons: ComparisonTable | None = None
    clustered_by: str
    clusters: int
    resamples: int
    seed: int
    estimate_note: str = ""
    warnings: tuple[str, ...] = ()
