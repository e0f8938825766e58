"""Whether benchmarks put the same systems in the same order."""

from __future__ import annotations

from typing import Literal

from reviewgauge.core.base import Record
from reviewgauge.core.reports.leaderboard import Estimate


class Ranked(Record):
    """The systems on one benchmark by one measure, in the order of `Rankings.systems`."""

    benchmark: str
    dataset: str
    label: str
    measure: str
    estimates: tuple[Estimate, ...]


class RankAgreement(Record):
    """How far two benchmarks agree (positions in `Rankings.boards`), over all pairs of systems.

    `alike` pairs are in the same order on both, `opposite` in the other; of the latter, `surely` many have intervals
    apart on both. A pair that is equal on one of them is neither. `tau` is Kendall's tau-b.
    """

    first: int
    second: int
    pairs: int
    alike: int
    opposite: int
    surely: int
    tau: float | None


class Rankings(Record):
    """The systems that all benchmarks have in common, on each, and how far each two benchmarks agree."""

    schema_version: Literal[1] = 1
    systems: tuple[str, ...]
    boards: tuple[Ranked, ...]
    agreements: tuple[RankAgreement, ...]
