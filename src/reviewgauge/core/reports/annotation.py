"""What the verbs of `annotate` report."""

from __future__ import annotations

from reviewgauge.core.base import Record


class AnnotateResult(Record):
    """What a verb of `annotate` did, in words, and how many items, labels or judgements."""

    did: str
    count: int


class BatchStatus(Record):
    """How far a batch is."""

    number: int
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
