"""What `plan` reports: how many changes, attempts and raters a study takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.document import Value


class AttemptRow(Record):
    """What a study with so many attempts at each change takes.

    `changes` find the difference with the power asked for. `judgements` counts reviews of both systems. `detectable` is
    what the present changes would find with so many attempts. `dollars` is the price of the study, None where it is not
    known.
    """

    attempts: int
    changes: int | None
    repositories: int | None = None
    judgements: int | None = None
    detectable: float | None = None
    dollars: float | None = None


class PairPlan(Record):
    """Two systems on the changes that both were measured on, and what telling such a pair apart takes.

    `between` is the standard deviation, over changes, of the true difference; `within_first` and `within_second` are
    those of one attempt around its change's mean, None where no change had two attempts: then `between` holds it.
    `error` is the standard error of the difference at the present size.
    """

    first: str
    second: str
    difference: float | None = None
    changes: int
    clusters: int
    attempts_first: float = 0.0
    attempts_second: float = 0.0
    between: float = 0.0
    within_first: float | None = None
    within_second: float | None = None
    error: float | None = None
    rows: tuple[AttemptRow, ...] = ()
    reason: str = ""
    warnings: tuple[str, ...] = ()


class ChangePlan(Record):
    """How many changes and attempts it takes to find a difference of `detect` in one measure of one metric.

    `pairs` are the leader and every other system but baselines, or those that were named; `typical` is the position of
    the pair in the middle.
    """

    metric: str
    label: str
    measure: str
    unit: str
    dataset: str
    benchmark: str
    detect: float
    power: float
    clustered_by: str
    dollars_per_attempt: Mapping[str, float] = Field(default_factory=dict)
    pairs: tuple[PairPlan, ...]
    typical: int | None
    estimate_note: str = ""
    warnings: tuple[str, ...] = ()


class RaterRow(Record):
    """What the mean of so many raters' values is worth.

    `reliability` is that of one item's mean (Spearman-Brown).
    """

    raters: int
    reliability: float | None


class RaterPlan(Record):
    """How many raters and items a study of human judgement takes, in one dimension of labels.

    `between` and `within` are standard deviations: of the items' true values, and of one rater around them. `icc` is
    the share of the variance of one rating that the item explains, one-way. `raters_for` gives the raters that an
    item's mean takes to reach a reliability.
    """

    source: str
    dimension: str
    items: int
    judged_twice: int
    labels: int
    raters: Mapping[str, int]
    left_out: Mapping[str, int] = Field(default_factory=dict)
    between: float | None = None
    within: float | None = None
    icc: Value
    rows: tuple[RaterRow, ...] = ()
    raters_for: Mapping[str, int] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class Plan(Record):
    """What `reviewgauge plan` found: one plan a metric, one a dimension of labels, and notes on what is unknown."""

    schema_version: Literal[1] = 1
    changes: tuple[ChangePlan, ...] = ()
    raters: tuple[RaterPlan, ...] = ()
    notes: tuple[str, ...] = ()
