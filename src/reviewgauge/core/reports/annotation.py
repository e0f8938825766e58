"""What the verbs of `annotate` report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from reviewgauge.core.base import Record


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
    discussed: int
    adjudicated: int
    waiting: int  # items that wait for a discussion or an expert
    done: int


class ProjectStatus(Record):
    """How far a project is, without a word about what anybody judged."""

    name: str
    schema_name: str
    items: int
    done: int
    batches: tuple[BatchStatus, ...]


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

    `comments` count everybody who said it, and `findings` the items that people judged.
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


class AuditLine(Record):
    """Something that was done: when (seconds since 1970), by which account, and to what."""

    at: float
    account: str  # empty: a command on the database, or nobody who is known
    action: str
    detail: dict[str, Any] = Field(default_factory=dict)


class AuditLog(Record):
    """Everything that was done, the earliest first."""

    lines: tuple[AuditLine, ...]
