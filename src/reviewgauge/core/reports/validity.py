"""What `validate` reports: how far a metric agrees with human judgements.

These records are the `--json` output of the verb and what the validity report is drawn from. Every figure carries
its row set, its n and its interval; a figure that is undefined has no value and a `reason`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.document import Value
from reviewgauge.core.labels import Scale


class RowSet(Record):
    """The rows behind figures: what is in, what was left out and why. `clusters` are resampled whole."""

    name: str
    rows: int
    clusters: int
    clustered_by: str
    left_out: Mapping[str, int] = Field(default_factory=dict)


class Correlations(Record):
    """How one metric's scores go with the human values on one row set."""

    rows: RowSet
    pearson: Value
    spearman: Value
    kendall: Value


class SliceRow(Record):
    """The rank correlations on the rows where a fact has one value."""

    fact: str
    value: str
    spearman: Value
    kendall: Value


class GradeRow(Record):
    """The scores of the rows with one human value.

    `mean` (with interval) over the values is the sensitivity line; `density` holds (score, density) points and is
    empty where all scores are equal.
    """

    grade: float
    n: int
    minimum: float
    q1: float
    median: Value
    q3: float
    maximum: float
    mean: Value
    density: tuple[tuple[float, float], ...] = ()


class KsCell(Record):
    """The Kolmogorov-Smirnov distance between the scores of two grades: 0 the same, 1 fully apart.

    `low` and `high` come from resampled clusters; where there are none, `reason` says why.
    """

    first: float
    second: float
    statistic: float
    p: float
    n_first: int
    n_second: int
    low: float | None = None
    high: float | None = None
    reason: str = ""


class ClassRow(Record):
    """Precision, recall and F1 of one grade, averaged over splits; None where it never had a value.

    `low` and `high` are the range over the splits in which it had one.
    """

    grade: float
    precision: float | None
    recall: float | None
    f1: float | None
    support: float
    precision_low: float | None = None
    precision_high: float | None = None
    recall_low: float | None = None
    recall_high: float | None = None
    f1_low: float | None = None
    f1_high: float | None = None


class Classifier(Record):
    """How well the scores predict grades: means over `splits` splits, with the range over splits.

    `name` is `decision tree` or `majority class`. `macro` is the row of means over the grades.
    """

    name: str
    splits: int
    n_train: int
    n_test: int
    rows: tuple[ClassRow, ...]
    macro: ClassRow
    accuracy: Value
    balanced_accuracy: Value
    kappa_quadratic: Value


class SweepPoint(Record):
    """What taking every score from `threshold` on as positive gives; undefined ratios are None."""

    threshold: float
    precision: float | None
    recall: float
    f1: float


class Sweep(Record):
    """Telling `human >= cut` from the rest by the score: AUC, and P, R, F1 along the thresholds.

    `best_f1` is the F1 of `best` with the interval at that very threshold: that it was chosen on these rows is not
    in it.
    """

    cut: float
    positives: int
    n: int
    auc: Value
    best: SweepPoint | None
    points: tuple[SweepPoint, ...] = ()
    best_f1: Value | None = None


class HeatMap(Record):
    """How often each predicted grade (row) met each human grade (column). `exact` is the share on the diagonal.

    `predicted_by` says where the predicted grades came from, such as `ordinal calibration, 10 folds by reference`.
    """

    predicted_by: str
    grades: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    exact: Value
    kappa_quadratic: Value


class Calibrated(Record):
    """What is left of a correlation, or gained, when the scores pass a map that was fitted out of fold.

    `method` is `floor` (all scores below one are equal) or `ordinal`. `learned` are the fitted
    parameters by fold, in words. The labels were used, which a zero-shot judge does not do: `warning` says so.
    """

    method: str
    folds: int
    grouped_by: str
    spearman: Value
    learned: str = ""
    warning: str = ""


class SystemPoint(Record):
    """One system: the mean of the human values (normalised to 0..1) and of the metric, and the ranks of both."""

    system: str
    human: Value
    metric: Value
    human_rank: float
    metric_rank: float


class ReferencePoint(Record):
    """What people wrote, where people rank it among the systems: its mean (normalised), and its rank of `among`."""

    system: str
    mean: float
    n: int
    rank: float
    among: int


class Ranking(Record):
    """How the metric orders the systems next to how people do; `left_out` are human references.

    `references` are these at their place among the systems by people's values; a metric has none for them.
    """

    systems: tuple[SystemPoint, ...]
    spearman: Value
    kendall: Value
    left_out: tuple[str, ...] = ()
    references: tuple[ReferencePoint, ...] = ()


class Misjudged(Record):
    """One row that the metric places far from where people do. Ranks run from 0 (lowest) to 1."""

    case: str
    system: str
    score: float
    human: float
    score_rank: float
    human_rank: float
    hypothesis: str
    reference: str = ""
    claims: tuple[str, ...] = ()


class SharedTrait(Record):
    """What the over- and underestimated rows share: the mean of one property there (None without rows) and on all rows.

    `over_less_all` and `under_less_all` are the differences of the means: an interval that holds 0 may be noise.
    """

    trait: str
    unit: str
    over: float | None
    under: float | None
    all: float
    n_over: int
    n_under: int
    n_all: int
    over_less_all: Value | None = None
    under_less_all: Value | None = None


class OppositeEnds(Record):
    """The rows that the metric and people place at opposite ends: the failures of the metric.

    Overestimated: scored above `high_cut`, the fourth quintile cut, though people gave `lowest`, their lowest grade.
    Underestimated: scored below `low_cut`, the first, though they gave `highest`. The highest and the lowest score of
    all count too, where so many rows share it that none is beyond the cut. `over` and `under` are shares of all
    rows; `spearman` and `kendall` are the correlations without these rows.
    """

    low_cut: float
    high_cut: float
    lowest: float
    highest: float
    n_over: int
    n_under: int
    over: Value
    under: Value
    spearman: Value
    kendall: Value


class MetricValidity(Record):
    """One metric against one dimension of human labels. `correlations` has one entry a row set, all rows first."""

    metric: str
    label: str
    measure: str
    unit: str
    dimension: str
    pins: Mapping[str, str] = Field(default_factory=dict)
    estimate_note: str = ""
    fake: bool = False
    less_is_better: bool = False
    baseline: bool = False  # what a metric must beat, such as the length of the review
    correlations: tuple[Correlations, ...]
    grades: tuple[GradeRow, ...] = ()
    ks: tuple[KsCell, ...] = ()
    classifiers: tuple[Classifier, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    heat_map: HeatMap | None = None
    calibrated: tuple[Calibrated, ...] = ()
    ranking: Ranking | None = None
    slices: tuple[SliceRow, ...] = ()
    over: tuple[Misjudged, ...] = ()
    under: tuple[Misjudged, ...] = ()
    ends: OppositeEnds | None = None
    traits: tuple[SharedTrait, ...] = ()
    warnings: tuple[str, ...] = ()


class PublishedFigure(Record):
    """One figure that a paper prints about the same data, perhaps on other rows.

    `metric` is called as there, or is `people`; `name` is `spearman`, `kendall`, `mean` and so on. `rows` is empty for
    all reviews, `systems` for the order of the systems, `language=java` or `system=lstm` for a part.
    """

    source: str
    dimension: str
    metric: str
    name: str
    value: float
    rows: str = ""


class MetricDifference(Record):
    """How much better `metric` agrees with people than `other`, on the rows that both scored.

    It is the best of the dimension beside each other one, and every metric beside each baseline.
    `value` and `other_value` are Spearman's rho on these rows (less is better turned); the interval of their
    `difference` is that of paired resamples.
    """

    dimension: str
    metric: str
    measure: str
    other: str
    other_measure: str
    value: float | None
    other_value: float | None
    difference: Value


class FitReport(Record):
    """Several metrics fitted to human labels: the file that was written, and what it gives on labels not seen.

    `account` has the fitted grade first, then what it is made of. `leakage` is the correlation that a fit to shuffled
    labels reaches out of fold; where it `leaks`, rows of one text lie on both sides of a split. `weights` are those of
    the final fit, per standard deviation of the feature, largest first.
    """

    file: str = ""
    spec: str = ""
    dataset: str
    dimension: str
    rows: int
    folds: int
    account: tuple[MetricValidity, ...]
    leakage: Value
    leaks: bool
    weights: tuple[tuple[str, float], ...]
    left_out: Mapping[str, int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class LabelSummary(Record):
    """The human labels of one dimension: the counts by rater, the scale and the distribution."""

    dimension: str
    scale: Scale
    raters: Mapping[str, int]
    rows: int
    distribution: Mapping[str, int]
    consensus: bool = False


class ValidityReport(Record):
    """What `reviewgauge validate` found: every metric against every dimension, on one data set."""

    schema_version: Literal[1] = 1
    dataset: str
    benchmark: str
    cases: int
    reviews: int
    labels: tuple[LabelSummary, ...]
    metrics: tuple[MetricValidity, ...]
    differences: tuple[MetricDifference, ...] = ()
    published: tuple[PublishedFigure, ...] = ()
    resamples: int
    seed: int
    folds: int = 10
    level: float = 0.95
    warnings: tuple[str, ...] = ()
