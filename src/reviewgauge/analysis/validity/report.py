"""The validity report of one data set: every metric against every dimension of human labels.

Sources of the tables: "Deep Assessment of Code Review Generation Approaches", arXiv:2501.05176, sections 6.3 to 6.5
(correlations on two row sets, medians and ranges by grade, the decision tree, heat maps, Kolmogorov-Smirnov
distances); CRScore, arXiv:2409.19801, sections 4.2 to 5.4 (correlations by language, rankings of systems,
sensitivity, over- and underestimated reviews; section 5.4 and appendix E.1: more inline code among the overestimated
reviews, fewer claims among the underestimated ones). The rows on which a metric and people differ most are selected by
the difference of their ranks, which needs no common scale.

Metrics compared in pairs: does one agree better with people than another, on the rows that both scored?

Two correlations with the same human values rise and fall together, so that overlapping intervals say little about their
difference. Here each resample of the clusters gives both correlations, and the interval is that of their difference.
Sources: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 16 (paired resamples); Hesterberg
(2015): see bootstrap.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import FEW_CLUSTERS, Resampler, difference_interval
from reviewgauge.analysis.stats.classification import classifiers
from reviewgauge.analysis.stats.correlation import KENDALL, SPEARMAN, Rows, row_weights
from reviewgauge.analysis.stats.distributions import grade_rows, ks_table
from reviewgauge.analysis.validity.calibration import OutOfFold, out_of_fold, own_heat_map
from reviewgauge.analysis.validity.human_values import MOST_GRADES, HumanValues, Key, on_steps, reference_points
from reviewgauge.analysis.validity.misjudged import misjudged, opposite_ends
from reviewgauge.analysis.validity.review_table import LabelledScores, ReviewTable, join
from reviewgauge.analysis.validity.sample import RowSample, ranking, sweeps
from reviewgauge.analysis.validity.scored import Scored
from reviewgauge.core.document import Value
from reviewgauge.core.protocols import Progress
from reviewgauge.core.reports.validity import (
    Correlations,
    MetricDifference,
    MetricValidity,
    PublishedFigure,
    SliceRow,
    ValidityReport,
)
from reviewgauge.core.results import NOT_STATED

GRADES = "grades"  # the unit of scores that are grades themselves
FEWEST_IN_SLICE = 10  # rows; values of a fact with fewer are not shown
MOST_SLICES = 40  # values of one fact
LESS_IS_BETTER = (
    "less is better: correlations, AUC and ranks use negated scores, so that values above 0 mean agreement with people"
)


Values = Mapping[Key, float | str]


@dataclass(frozen=True, eq=False)
class PairedMetrics:
    """The metrics of one dimension, what each says of the reviews, and -1 for each of which less is better."""

    bench: ReviewTable
    human: HumanValues
    found: Sequence[MetricValidity]
    values: Sequence[Values]
    signs: Sequence[float]
    resampler: Resampler
    _drawn: dict[tuple[int, bytes], Numbers] = field(default_factory=dict)

    def differences(self) -> Iterator[MetricDifference]:
        """The best metric less each other one, then each other metric less each baseline; fakes are not compared."""
        rho = [None if m.fake or not m.correlations else m.correlations[0].spearman.value for m in self.found]
        defined = [at for at, value in enumerate(rho) if value is not None]
        ranked = sorted((at for at in defined if not self.found[at].baseline), key=lambda at: -(rho[at] or 0.0))
        for first in ranked:
            for other in defined:
                if other != first and (first == ranked[0] or self.found[other].baseline):
                    yield self._compared(first, other)

    def _compared(self, first: int, second: int) -> MetricDifference:
        one, two = self.found[first], self.found[second]
        pair = (self.values[first], self.values[second])
        common = set.intersection(*({key for key, v in own.items() if not isinstance(v, str)} for own in pair))
        rows = [self._rows(at, common) for at in (first, second)]
        named = {"metric": one.metric, "measure": one.measure, "other": two.metric, "other_measure": two.measure}
        if reason := rows[0].undefined or rows[1].undefined:
            figure = Value(value=None, n=rows[0].n, reason=reason)
            return MetricDifference(dimension=one.dimension, **named, value=None, other_value=None, difference=figure)
        whole = np.ones((1, rows[0].n))
        values = [float(own.spearman(whole)[0]) for own in rows]
        gaps = self._draws(first, rows[0]) - self._draws(second, rows[1])
        return MetricDifference(
            dimension=one.dimension,
            **named,
            value=values[0],
            other_value=values[1],
            difference=_figure(values[0] - values[1], rows[0], gaps),
        )

    def _rows(self, at: int, keys: set[Key]) -> Rows:
        judged = join(self.bench, self.human, {key: self.values[at][key] for key in keys})
        return Rows(self.signs[at] * judged.score, judged.human, judged.cluster)

    def _draws(self, at: int, rows: Rows) -> Numbers:
        """The correlation in each resample; kept, as most pairs have the same rows."""
        key = (at, rows.score.tobytes())
        if key not in self._drawn:
            drawn = [rows.spearman(weights) for weights in row_weights(rows.cluster, self.resampler)]
            self._drawn[key] = np.concatenate([np.zeros(0), *drawn])
        return self._drawn[key]


def _figure(value: float, rows: Rows, gaps: Numbers) -> Value:
    clusters = int(np.unique(rows.cluster).size)
    if clusters < 2 or not gaps.size:
        return Value(value=value, n=rows.n, reason="only one cluster, so no interval")
    low, high, undefined = difference_interval(gaps, clusters)
    reason = "" if low is not None else f"no interval: undefined in {undefined:.0%} of the resamples"
    return Value(value=value, low=low, high=high, n=rows.n, reason=reason)


@dataclass(frozen=True)
class ValiditySettings:
    """The settings of all figures. `slices` are facts of the cases, or `system`."""

    resamples: int = 1_000
    seed: int = 0
    folds: int = 10
    slices: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Evidence:
    """The inputs of a report."""

    bench: ReviewTable
    humans: tuple[HumanValues, ...]
    scored: tuple[Scored, ...]
    settings: ValiditySettings
    dataset: str
    benchmark: str
    warnings: tuple[str, ...] = ()
    published: tuple[PublishedFigure, ...] = ()

    @property
    def inputs(self) -> Iterator[object]:
        """Every value that the figures depend on, for hashing."""
        bench = self.bench
        yield from (bench.keys, bench.hypothesis, bench.reference, bench.facts, sorted(bench.people), bench.cases)
        yield from (bench.claims, bench.cluster.tolist(), self.humans, self.scored, self.settings)
        yield from (self.dataset, self.benchmark, self.warnings, bench.places.tolist(), bench.where)

    def report(self, progress: Progress | None = None) -> ValidityReport:
        """Every metric in every dimension, in threads: numpy releases the interpreter lock."""
        validator = Validator(self.bench, self.settings)
        jobs = [(one, human) for human in self.humans for one in self._on(human)]
        found: list[MetricValidity] = []
        with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
            for (one, human), result in zip(jobs, pool.map(lambda job: validator.metric(*job), jobs), strict=True):
                found.append(result)
                if progress is not None:
                    progress(len(found), len(jobs), f"{one.label} {human.dimension}")
        differences = [pair for human in self.humans for pair in self._paired(human, found).differences()]
        found = [one for human in self.humans for one in self._with_row_warnings(human, found)]
        left_out = [(human.dimension, n, why) for human in self.humans for why, n in human.left_out.items()]
        return ValidityReport(
            dataset=f"{self.dataset} where {self.bench.where}" if self.bench.where else self.dataset,
            benchmark=self.benchmark,
            cases=self.bench.shown_cases,
            reviews=self.bench.places.size,
            labels=tuple(human.summary for human in self.humans),
            metrics=tuple(found),
            differences=tuple(differences),
            published=self._published(),
            resamples=self.settings.resamples,
            seed=self.settings.seed,
            folds=self.settings.folds,
            warnings=(*self.warnings, *(f"{dimension}: {n:,} {why} left out" for dimension, n, why in left_out)),
        )

    def _published(self) -> tuple[PublishedFigure, ...]:
        """What papers print about the same reviews; nothing where the report is on a part of them."""
        shown = {human.dimension for human in self.humans}
        return () if self.bench.where else tuple(one for one in self.published if one.dimension in shown)

    def _on(self, human: HumanValues) -> list[Scored]:
        """What is compared with people in this dimension: a measure of each metric."""
        return [one.on(human.dimension) for one in self.scored]

    def _paired(self, human: HumanValues, found: Sequence[MetricValidity]) -> PairedMetrics:
        own = [one for one in found if one.dimension == human.dimension]
        scored = self._on(human)
        signs = [-1.0 if one.less_is_better else 1.0 for one in scored]
        resampler = Resampler(self.bench.clusters, self.settings.resamples, self.settings.seed)
        return PairedMetrics(self.bench, human, own, [one.values for one in scored], signs, resampler)

    def _with_row_warnings(self, human: HumanValues, found: Sequence[MetricValidity]) -> Iterator[MetricValidity]:
        """The metrics of a dimension, with a warning on each that lacks rows of the others."""
        judged = [self.bench.keys[at] for at in join(self.bench, human, dict.fromkeys(self.bench.keys, 0.0)).place]
        scored = self._on(human)
        rows = [{key for key in judged if not isinstance(one.values.get(key, ""), str)} for one in scored]
        own = [one for one in found if one.dimension == human.dimension]
        real = {frozenset(there) for there, one in zip(rows, own, strict=True) if there and not one.baseline}
        others = "the others" if len(real) > 1 else "the baseline"
        union = set[Key]().union(*rows)
        for there, one in zip(rows, own, strict=True):
            if not there or there == union:
                yield one
                continue
            text = f"measured on {len(there):,} of {len(judged):,} judged rows, not on the rows of {others}"
            yield one.model_copy(update={"warnings": (*one.warnings, text)})


class Validator:
    """Compares metrics with the labels of one table of reviews, under the same resamples."""

    def __init__(self, bench: ReviewTable, settings: ValiditySettings) -> None:
        self.bench, self.settings = bench, settings
        self.resampler = Resampler(bench.clusters, settings.resamples, settings.seed)

    def metric(self, scored: Scored, human: HumanValues) -> MetricValidity:
        """Everything on one metric in one dimension."""
        settings = self.settings
        judged = join(self.bench, human, scored.values)
        grade = on_steps(judged.human, human.scale) if judged.n else None
        less_is_better = scored.less_is_better
        sample = RowSample(judged.score, judged.human, grade, judged.cluster, self.resampler, less_is_better)
        graded = None if grade is None else (sample.score, grade, sample.cluster, sample.resampler)
        learns = not scored.baseline  # a baseline must not learn from labels
        trees, no_trees = classifiers(sample.score, grade, settings.seed) if learns and grade is not None else ((), "")
        fitted = out_of_fold(sample, folds=settings.folds, seed=settings.seed) if learns else OutOfFold()
        over, under = misjudged(judged, sample)
        ends, traits = opposite_ends(judged, sample)
        ranked = ranking(sample, judged.system, human.scale, left_out=sorted(self.bench.people))
        if ranked is not None:
            ranked = ranked.model_copy(update={"references": reference_points(human, self.bench.people)})
        return MetricValidity(
            metric=scored.metric,
            label=scored.label,
            measure=scored.measure,
            unit=scored.unit,
            dimension=human.dimension,
            pins=scored.pins,
            estimate_note=scored.estimate_note,
            fake=scored.fake,
            less_is_better=less_is_better,
            baseline=scored.baseline,
            correlations=tuple(_correlations(judged, sample, human)),
            grades=grade_rows(*graded) if graded else (),
            ks=ks_table(*graded) if graded else (),
            classifiers=trees,
            sweeps=sweeps(sample),
            heat_map=(own_heat_map(sample, human.scale) if scored.unit == GRADES else None) or fitted.heat_map,
            calibrated=fitted.calibrated,
            ranking=ranked,
            slices=tuple(row for fact in settings.slices for row in _slices(judged, sample, fact)),
            over=over,
            under=under,
            ends=ends,
            traits=traits,
            warnings=(*scored.warnings, *_warnings(sample, no_trees, fitted.reason)),
        )


def _correlations(judged: LabelledScores, sample: RowSample, human: HumanValues) -> Iterator[Correlations]:
    """The correlations on all rows, and on the parts of the scale that are usually reported."""
    yield Correlations(rows=judged.row_set(), **sample.correlations())
    for name, (low, high) in human.scale.row_sets.items():
        chosen = np.asarray((judged.human >= low) & (judged.human <= high), dtype=np.bool_)
        yield Correlations(rows=judged.row_set(name, chosen), **sample.rows(chosen).correlations())


def _slices(judged: LabelledScores, sample: RowSample, fact: str) -> Iterator[SliceRow]:
    """The rank correlations for each value of a fact with enough rows, at most 40 values."""
    values = np.array([NOT_STATED if value is None else value for value in judged.fact(fact)], dtype=object)
    counts = Counter(values.tolist())
    common = [value for value, n in counts.most_common(MOST_SLICES) if n >= FEWEST_IN_SLICE]
    for value in sorted(common):
        found = sample.rows(np.asarray(values == value)).correlations()
        yield SliceRow(fact=fact, value=value, spearman=found[SPEARMAN], kendall=found[KENDALL])


def _warnings(sample: RowSample, no_trees: str, no_calibration: str) -> Iterator[str]:
    if not sample.n:
        yield "no review has both a score and a label"
        return
    if sample.less_is_better:
        yield LESS_IS_BETTER
    if sample.clusters < FEW_CLUSTERS:
        yield f"only {sample.clusters} clusters of rows: intervals from fewer than {FEW_CLUSTERS} are too narrow"
    if (sample.score == sample.score[0]).all():
        yield f"all {sample.n:,} scores are {sample.score[0]:g}: the metric does not distinguish reviews"
    if sample.grade is None:
        yield f"more than {MOST_GRADES} different human values: no tables by grade, trees or thresholds"
    if no_trees:
        yield f"no decision tree: {no_trees}"
    if no_calibration:
        yield f"no calibration: {no_calibration}"
