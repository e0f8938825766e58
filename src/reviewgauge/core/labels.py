"""Labels: judgements of people and models. Recorded verdicts of published judges are labels too."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from reviewgauge.core.base import Fact, Id, Record, Share, Text


class RaterKind(StrEnum):
    """Who judged."""

    HUMAN = "human"
    MODEL = "model"


class SubjectKind(StrEnum):
    """What a label is about."""

    CHANGE = "change"
    REVIEW = "review"
    COMMENT = "comment"
    CLAIM = "claim"
    LINK = "link"  # a claim and a review
    PAIR = "pair"  # a comment and a reference


# What raters say of a claim, and of one that they add; other words (ambiguous) are left out of its quality.
JUDGED_CLAIM = ("correct", "incorrect", "unverifiable")
MISSING_CLAIM = "missing"


class Subject(Record):
    """The thing that a label judges; the ids that its kind needs are set."""

    kind: SubjectKind
    case: Id
    system: Id | None = None
    attempt: int = 1
    comment: Id | None = None
    reference: Id | None = None
    claim: Id | None = None


Measure = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Label(Record):
    """One judgement by one rater about one subject in one dimension. Recorded verdicts of judges are Labels too.

    `at` is in seconds since 1970, `guidelines` the version that was judged by, and `written_by` who wrote down what
    several agreed on.
    """

    subject: Subject
    rater: str
    rater_kind: RaterKind = RaterKind.HUMAN
    dimension: str
    value: Fact
    confidence: Share | None = None
    round: str | None = None
    batch: str | None = None
    reason: Text | None = None
    seconds: Measure | None = None
    consensus: bool = False
    at: Measure | None = None
    guidelines: int | None = None
    written_by: str | None = None


def adds_claim(label: Label) -> bool:
    """Whether the rater adds a claim with this label, and judges none."""
    return label.subject.kind is SubjectKind.CLAIM and str(label.value).strip().casefold() == MISSING_CLAIM


def said_of_comment(label: Label) -> bool:
    """Whether a person says something of a comment: it is compared with figures, and none is made of it."""
    return label.rater_kind is RaterKind.HUMAN and label.subject.comment is not None


class Scale(Record):
    """The scale of one dimension of human labels: `low` to `high`, in steps of `step` (0: continuous).

    `row_sets` name the parts of the scale that figures are also given for (`grade < 5` -> (1, 4)), ends included.
    """

    low: float
    high: float
    step: float = 1.0
    meaning: str = ""
    row_sets: Mapping[str, tuple[float, float]] = Field(default_factory=dict)
