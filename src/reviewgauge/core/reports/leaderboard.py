"""Estimates with their intervals, leaderboards, slices and paired comparisons.

These records are the `--json` output of the verbs, so their fields are a promise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.document import Value


class Estimate(Value):
    """One measure of one system. `value` is None where it is undefined (a precision of no comments).

    `low` and `high` bound it at `level` by the percentile bootstrap over `clusters` clusters; `n` counts the cases
    behind it. `worst` and `best` are the value with every failed case counted as worst and as best.
    """

    measure: str
    n: int
    level: float = 0.95
    clusters: int
    worst: float | None = None
    best: float | None = None


class AttemptSpread(Record):
    """What the headline of one system varies by, where cases were tried several times. Its figures are in `unit`.

    `between` and `within` are standard deviations of what one attempt at one case adds to the measure: between cases,
    and between attempts at one case. `within_share` is the share of `within` in their variance, None where nothing
    varies. `again` is the standard deviation of the measure itself if all attempts were made again on the same cases.
    Of `n` scored cases `repeated` have two scored attempts or more; `attempts` counts them all.
    """

    measure: str
    unit: str = "share"
    between: float
    within: float
    within_share: float | None
    again: float
    n: int
    repeated: int
    attempts: int


class SystemSummary(Record):
    """One row of the leaderboard, with its coverage: cases = scored + failed + not_applicable + missing.

    `spread` is known where a case has several scored attempts; not on slices. `baseline`: there to be beaten, such as
    silence, and in no ranking.
    """

    system: str
    estimates: tuple[Estimate, ...]
    cases: int
    scored: int
    failed: int = 0
    not_applicable: int = 0
    missing: int = 0
    failures: Mapping[str, int] = Field(default_factory=dict)
    attempts: int = 1
    parts: Mapping[str, float] = Field(default_factory=dict)
    fake: bool = False
    baseline: bool = False
    spread: AttemptSpread | None = None

    def estimate(self, measure: str) -> Estimate | None:
        """The estimate of that measure, or None."""
        return next((e for e in self.estimates if e.measure == measure), None)


class SliceSummary(Record):
    """The systems on the `n` scored cases where `fact` has one value.

    For a facet: on the parts of the `n` cases that have that value, such as their references of one category.
    """

    fact: str
    value: str
    facet: bool
    n: int
    systems: tuple[SystemSummary, ...]


class Leaderboard(Record):
    """All systems of one or more runs under one metric, best first by `headline`, baselines last.

    Each system is measured on all of its own scored cases; `common` counts the cases that every system was scored
    on, and `on_common` holds the same rows on those alone when the two differ. `metric` is the full signature, `label`
    the spec with its changed parameters only.
    """

    schema_version: Literal[1] = 1
    metric: str
    label: str = ""
    headline: str
    benchmark: str
    dataset: str
    clustered_by: str
    clusters: int
    resamples: int
    seed: int
    level: float = 0.95
    systems: tuple[SystemSummary, ...]
    common: int
    on_common: tuple[SystemSummary, ...] = ()
    slices: tuple[SliceSummary, ...] = ()
    pins: Mapping[str, str] = Field(default_factory=dict)
    estimate_note: str = ""
    warnings: tuple[str, ...] = ()
    broken: Mapping[str, int] = Field(default_factory=dict)


class McNemar(Record):
    """Of `pairs` of an injected defect and its twin, how many only one of two systems told apart.

    It tells them apart that finds the defect and says nothing on those lines of the twin. `p` is exact and two-sided,
    None where no pair is told apart by one alone.
    """

    pairs: int
    only_first: int
    only_second: int
    p: float | None


class Comparison(Record):
    """Two systems on the cases that both were scored on: `difference` = first - second, in the measure's unit.

    `p` is two-sided, `p_holm` corrected over the comparisons made together; None for one with a baseline such as
    silence, which is outside of them. `detectable` is the smallest true difference that this benchmark would have found
    with 80% power at the 5% level. `worst` and `best` are the difference with failures counted against and for the
    first system. `mcnemar`: on a benchmark of injected defects and twins.
    """

    measure: str
    first: str
    second: str
    first_value: float | None
    second_value: float | None
    difference: float | None
    low: float | None
    high: float | None
    level: float = 0.95
    p: float | None
    p_holm: float | None
    test: str
    detectable: float | None
    n: int
    clusters: int
    worst: float | None = None
    best: float | None = None
    unit: str = "share"
    mcnemar: McNemar | None = None


class ComparisonTable(Record):
    """Paired comparisons of one call."""

    schema_version: Literal[1] = 1
    metric: str
    label: str = ""
    benchmark: str
    dataset: str
    clustered_by: str
    resamples: int
    seed: int
    comparisons: tuple[Comparison, ...]
    warnings: tuple[str, ...] = ()
    estimate_note: str = ""

    @property
    def corrected(self) -> int:
        """The number of comparisons that p is corrected over."""
        return sum(comparison.p_holm is not None for comparison in self.comparisons)


# --- whether benchmarks put the same systems in the same order -------------------------------------------------------


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


# --- one benchmark in two versions ------------------------------------------------------------------------------------


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
