"""What `score --on` reports: one benchmark in two versions."""

from __future__ import annotations

from reviewgauge.core.base import Record
from reviewgauge.core.reports.leaderboard import Comparison


class SystemVersions(Record):
    """What the new version makes of one system: the `first` of each comparison is the new version, the second the old.

    Of its own comments `judged` became references or are known to be wrong now, and `accepted` of those are references.
    It found `found` of the new findings, `own` of them by such a comment.
    """

    system: str
    comparisons: tuple[Comparison, ...]
    found: int
    own: int
    judged: int
    accepted: int
    fake: bool = False


class VersionTable(Record):
    """The scores of the same reviews with one metric on an old and a new version of a benchmark, best first.

    `new_findings` are in the new version alone. `newly_measured` cases could not be measured in the old one, and are
    not in the figures.
    """

    metric: str
    label: str
    old_dataset: str
    old_benchmark: str
    new_dataset: str
    new_benchmark: str
    systems: tuple[SystemVersions, ...]
    new_findings: int
    newly_measured: int
    clustered_by: str
    resamples: int
    seed: int
    estimate_note: str = ""
    warnings: tuple[str, ...] = ()
