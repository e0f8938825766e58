"""What the verbs of `annotate` report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.document import Value
from reviewgauge.core.reports.agreement import AgreementReport, DimensionAgreement


class AnnotateResult(Record):
    """What a verb of `annotate` did, in words, and how many items, labels or judgements. `notes`: what was left out."""

    did: str
    count: int
    notes: tuple[str, ...] = ()


class BatchStatus(Record):
    """How far a batch is. A pilot is judged by all raters; the others open when an owner has looked at it."""

    number: int
    name: str = ""  # what recorded labels call it
    kind: Literal["judge", "pilot"] = "judge"
    open: bool = True
    over: bool = False  # whether its independent round has ended
    items: int
    judgements: int  # of the independent round
    wanted: int
    waiting: int  # items that wait for a discussion or an expert
    done: int


class RaterAgreement(Record):
    """One rater in one dimension.

    `with_others` and `among_others`: the share of agreeing labels, with this rater and without; `gap` is between them.
    `lean` is how much higher their numbers are.
    """

    rater: str
    dimension: str
    labels: int
    with_others: Value
    among_others: Value
    gap: Value
    lean: float | None = None
    on_gold: Value
    others_on_gold: Value
    gold_gap: Value


class Difference(Record):
    """How often a rater says one thing where another one says another."""

    dimension: str
    rater: str
    says: str
    others_say: str
    times: int


class RaterWork(Record):
    """How a rater works: median seconds of an item, and items of the training that they got right."""

    rater: str
    judgements: int
    seconds: float | None = None
    trained: int = 0
    trained_right: int = 0


class LiveAgreement(Record):
    """Agreement on the batches whose independent round is over. `advice` says who needs calibration, in words."""

    report: AgreementReport | None = None
    why: str = ""  # there is no report
    languages: Mapping[str, tuple[DimensionAgreement, ...]] = Field(default_factory=dict)
    raters: tuple[RaterAgreement, ...] = ()
    work: tuple[RaterWork, ...] = ()
    differences: tuple[Difference, ...] = ()
    advice: tuple[str, ...] = ()


class ProjectStatus(Record):
    """How far a project is. `agreement` is of batches that are over; nothing else tells what anybody judged."""

    name: str
    schema_name: str
    items: int
    done: int
    batches: tuple[BatchStatus, ...]
    agreement: LiveAgreement | None = None


class PoolResult(Record):
    """What pooling did. `counts` are all comments of the runs by what they counted as; they add up to all of them.

    Of the unmatched ones `distinct` differ, `known` of those were in the project already; the others are in `items`.
    """

    counts: Mapping[str, int]
    distinct: int
    known: int
    items: int
    raters: int


class GrowResult(Record):
    """The next version of a benchmark. `findings` and `comments` are what was pooled by its fate.

    `comments` count everybody who said it, and `findings` the items that people judged. `said` counts what people say
    of the benchmark's own content, and by how many, where nothing was pooled.
    """

    version: int
    folder: str
    benchmark: str
    before: str
    cases: int
    findings: Mapping[str, int]
    comments: Mapping[str, int]
    references: int  # new findings
    phrasings: int  # further words of new findings and of old ones
    rejected: int
    said: Mapping[str, int] = Field(default_factory=dict)


class AuditLine(Record):
    """Something that was done: when (seconds since 1970), by which account, and to what."""

    at: float
    account: str  # empty: a command on the database, or nobody who is known
    action: str
    detail: dict[str, Any] = Field(default_factory=dict)


class AuditLog(Record):
    """Everything that was done, the earliest first."""

    lines: tuple[AuditLine, ...]
