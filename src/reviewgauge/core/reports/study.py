"""What `study` reports: the estimate before it, and its tables."""

from __future__ import annotations

from typing import Literal

from reviewgauge.core.base import Record
from reviewgauge.core.document import Table


class Trouble(Record):
    """A cell of the grid that has no result, and why."""

    benchmark: str
    what: str  # the reviewer, the metric or the table
    why: str


class CellCost(Record):
    """What one reviewer, or one metric, is estimated to take on one benchmark. `would_run`: programs, in words."""

    benchmark: str
    what: str
    reviews: int = 0
    calls: int = 0
    dollars: float | None = None
    would_run: str = ""


class Estimate(Record):
    """What a study will take: shared calls are counted once. `dollars` is None where a price is not known."""

    reviewers: int
    benchmarks: int
    cells: int
    reviews: int
    calls: int = 0
    reused: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float | None = 0.0
    worst: float | None = None
    unpriced: tuple[str, ...] = ()
    invented: bool = False
    parts: tuple[CellCost, ...] = ()
    troubles: tuple[Trouble, ...] = ()


class BenchmarkFacts(Record):
    """One benchmark of a study: its data and stages, the hash of its cases, how many, and how many systems."""

    name: str
    dataset: str
    benchmark: str
    cases: int
    systems: int
    metrics: tuple[str, ...]


class StudyReport(Record):
    """The tables of a study; the same to the byte for the same reviews. `on` is the variant of the file."""

    schema_version: Literal[1] = 1
    title: str
    source: str = ""
    on: str = ""
    attempts: int
    benchmarks: tuple[BenchmarkFacts, ...]
    tables: tuple[Table, ...]
    troubles: tuple[Trouble, ...] = ()
    notes: tuple[str, ...] = ()
