"""The card of a built benchmark: its funnel, its counts, what is uncertain and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import Field

from reviewgauge.core.base import Record, Text
from reviewgauge.core.building import CardSection
from reviewgauge.core.records import Usage


class FunnelRow(Record):
    """One stage of a build: how many candidates came in, went on, were dropped and why, and how many broke.

    `entered + made = kept + dropped + failed`, where `made` counts what a source or a split brought into being. `usage`
    is what models were asked now; `remembered` how many items an earlier run had already answered for. `why` is the
    recipe's own word on the stage.
    """

    stage: str
    why: str = ""
    entered: int = 0
    made: int = 0
    kept: int = 0
    dropped: int = 0
    failed: int = 0
    reasons: Mapping[str, int] = Field(default_factory=dict)
    failures: Mapping[str, int] = Field(default_factory=dict)
    remembered: int = 0
    decisions: int = 0
    fake: bool = False
    usage: Usage = Usage()
    seconds: float = 0.0


class Spread(Record):
    """A number over the cases: smallest, quartiles, largest, mean; `n` is how many cases state it."""

    n: int
    smallest: float
    lower: float
    median: float
    upper: float
    largest: float
    mean: float


class BuildCard(Record):
    """The card of a benchmark that was built. `benchmark` is the hash of its cases; `fake`: a fake model had a say."""

    schema_version: int = 1
    title: str
    summary: Text = ""
    recipe: str
    recipe_source: str = ""
    source: str
    built: datetime
    reviewgauge: str
    benchmark: str = ""
    cases: int = 0
    counts: Mapping[str, int] = Field(default_factory=dict)
    funnel: tuple[FunnelRow, ...] = ()
    parameters: Mapping[str, str] = Field(default_factory=dict)
    pins: Mapping[str, str] = Field(default_factory=dict)
    distributions: Mapping[str, Mapping[str, int]] = Field(default_factory=dict)
    spreads: Mapping[str, Spread] = Field(default_factory=dict)
    sections: tuple[CardSection, ...] = ()
    licences: Mapping[str, str] = Field(default_factory=dict)
    fake: bool = False
    warnings: tuple[Text, ...] = ()
