"""Estimates with their intervals, leaderboards, slices, paired comparisons, curves, versions and the doctor's report.

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
    """The systems on the `n` cases where `fact` has one value.

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


class Comparison(Record):
    """Two systems on the cases that both were scored on: `difference` = first - second, in the measure's unit.

    `p` is two-sided, `p_holm` corrected over the comparisons made together; None for one with a baseline such as
    silence, which is outside of them. `detectable` is the smallest true difference that this benchmark would have found
    with 80% power at the 5% level. `worst` and `best` are the difference with failures counted against and for the
    first system.
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


class ProbeCheck(Record):
    """A check of a benchmark and a metric, and the smallest case that fails it."""

    name: str
    expected: str
    found: str
    ok: bool | None  # None: could not be tried on this data, `found` says why
    case: str | None = None
    detail: str = ""
    metric: str = ""  # its spec; part of `name` where several metrics were tried


class LintFinding(Record):
    """Something odd in the data itself."""

    level: Literal["error", "warning", "note"]
    rule: str
    case: str
    item: str = ""
    message: str


class DoctorReport(Record):
    """What `doctor` reports. `limits` are sentences on what no reviewer can help: unsure comments, wrong labels."""

    schema_version: Literal[1] = 1
    dataset: str
    benchmark: str
    cases: int
    metrics: tuple[str, ...]
    checks: tuple[ProbeCheck, ...] = ()
    limits: tuple[str, ...] = ()
    lint: tuple[LintFinding, ...] = ()
    lint_counts: Mapping[str, int] = Field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether no check failed and the data has no error."""
        return all(check.ok is not False for check in self.checks) and not any(f.level == "error" for f in self.lint)

    @property
    def mostly_untried(self) -> tuple[str, ...]:
        """The metrics of which most checks could not be tried: what was found says too little for a verdict."""
        tried = {name: [c.ok is not None for c in self.checks if c.metric == name] for name in self.metrics}
        return tuple(name for name, known in tried.items() if 2 * sum(known) < len(known))


class CurvePoint(Record):
    """`n` attempts put together `by` votes or a model; one attempt alone is put together by nobody.

    `summary` has its measures, with intervals, over the mean of `subsets` subsets of the stored attempts.
    """

    by: Literal["alone", "votes", "model"]
    n: int
    subsets: int
    summary: SystemSummary


class Curve(Record):
    """The measures of one metric by the number of attempts, all from `stored` attempts of `systems`.

    `least` is how many votes a finding needs, 0: more than half. `comparisons` are the largest number of attempts
    against one alone, and a model against votes, on the same subsets.
    """

    schema_version: Literal[1] = 1
    run: str
    dataset: str
    benchmark: str
    systems: tuple[str, ...]
    stored: int
    judge: str
    least: int = 0
    model: str = ""
    metric: str
    label: str
    headline: str
    points: tuple[CurvePoint, ...]
    comparisons: ComparisonTable | None = None
    clustered_by: str
    clusters: int
    resamples: int
    seed: int
    estimate_note: str = ""
    warnings: tuple[str, ...] = ()


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
