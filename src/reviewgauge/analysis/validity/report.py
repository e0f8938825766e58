"""The validity report of one data set: every metric against every dimension of human labels.

Sources of the tables: "Deep Assessment of Code Review Generation Approaches", arXiv:2501.05176, sections 6.3 to 6.5
(correlations on two row sets, medians and ranges by grade, the decision tree, heat maps, Kolmogorov-Smirnov
distances); CRScore, arXiv:2409.19801, sections 4.2 to 5.4 (correlations by language, rankings of systems,
sensitivity, over- and underestimated reviews; section 5.4 and appendix E.1: more inline code among the overestimated
reviews, fewer claims among the underestimated ones). The rows on which a metric and people differ most are selected by
the difference of their ranks, which needs no common scale.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import FEW_CLUSTERS, Resampler, resampled_sums
from reviewgauge.analysis.stats.classification import classifiers
from reviewgauge.analysis.stats.correlation import figure_of
from reviewgauge.analysis.stats.distributions import grade_rows, ks_table
from reviewgauge.analysis.validity.calibration import out_of_fold, own_heat_map
from reviewgauge.analysis.validity.human_values import MOST_GRADES, HumanValues, Key, on_steps, reference_points
from reviewgauge.analysis.validity.pairs import PairedMetrics
from reviewgauge.analysis.validity.review_table import LabelledScores, ReviewTable, join, row_scores
from reviewgauge.analysis.validity.sample import RowSample, ranking, sweeps
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.reports.validity import (
    Correlations,
    Figure,
    MetricValidity,
    Misjudged,
    SharedTrait,
    SliceRow,
    ValidityReport,
)
from reviewgauge.core.results import NOT_STATED, Score
from reviewgauge.core.specs import short_spec, signature

SHOWN = 10  # rows a side
SHARE = 0.02  # of the rows, for the traits of each side
FEWEST = 20  # rows a side for the traits
_CUT = 1_000  # shown characters of a text


class MisjudgedRows(NamedTuple):
    """Overestimated and underestimated rows, worst first, and the traits of both sides."""

    over: tuple[Misjudged, ...] = ()
    under: tuple[Misjudged, ...] = ()
    traits: tuple[SharedTrait, ...] = ()


def misjudged(
    judged: LabelledScores, resampler: Resampler | None = None, *, less_is_better: bool = False
) -> MisjudgedRows:
    """The rows with the largest difference of ranks; none where all scores or all human values are equal.

    With a `resampler` the traits have intervals: clusters are resampled, the selection of the rows stays.
    """
    score, human = judged.score, judged.human
    if judged.n < 2 or (score == score[0]).all() or (human == human[0]).all():
        return MisjudgedRows()
    score_rank, human_rank = _ranks(-score if less_is_better else score), _ranks(human)
    gap = score_rank - human_rank
    order = np.argsort(-gap, kind="stable")
    many = min(max(FEWEST, round(SHARE * judged.n)), judged.n // 2)
    over = [int(row) for row in order[:many] if gap[row] > 0]
    under = [int(row) for row in order[::-1][:many] if gap[row] < 0]

    def shown(row: int) -> Misjudged:
        place = judged.place[row]
        case, system, _ = judged.bench.keys[place]
        return Misjudged(
            case=case,
            system=system,
            score=float(score[row]),
            human=float(human[row]),
            score_rank=float(score_rank[row]),
            human_rank=float(human_rank[row]),
            hypothesis=_cut(judged.bench.hypothesis[place]),
            reference=_cut(judged.bench.reference[place]),
        )

    return MisjudgedRows(
        tuple(shown(row) for row in over[:SHOWN]),
        tuple(shown(row) for row in under[:SHOWN]),
        tuple(_traits(judged, over, under, resampler)),
    )


def _ranks(values: Numbers) -> Numbers:
    """Ranks from 0 (lowest) to 1 (highest); equal values share their mean rank."""
    from scipy.stats import rankdata

    found: Numbers = (rankdata(values) - 1) / (values.size - 1)
    return found


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else text[: _CUT - 1] + "…"


def _traits(
    judged: LabelledScores, over: list[int], under: list[int], resampler: Resampler | None
) -> list[SharedTrait]:
    traits = judged.bench.traits
    values = np.stack([trait.values[judged.place] for trait in traits.values()], axis=1)
    sides = [_Side(judged, values, rows, resampler) for rows in (over, under)]
    found = []
    for at, (name, trait) in enumerate(traits.items()):
        if not values[:, at].any():
            continue
        found.append(
            SharedTrait(
                trait=name,
                unit=trait.unit,
                over=float(values[over, at].mean()) if over else 0.0,
                under=float(values[under, at].mean()) if under else 0.0,
                all=float(values[:, at].mean()),
                n_over=len(over),
                n_under=len(under),
                n_all=judged.n,
                over_less_all=sides[0].difference(at),
                under_less_all=sides[1].difference(at),
            )
        )
    return found


class _Side:
    """The difference of the trait means (rows x traits) between some rows and all rows."""

    def __init__(self, judged: LabelledScores, values: Numbers, rows: list[int], resampler: Resampler | None) -> None:
        self.values, self.rows, self.cluster = values, rows, judged.cluster
        self.draws: Numbers | None = None
        if resampler is None or not rows:
            return
        here = np.zeros((judged.n, 1))
        here[rows] = 1.0
        each = np.concatenate([values, np.ones((judged.n, 1)), values * here, here], axis=1)
        sums = resampled_sums(each, judged.cluster, resampler)
        overall, own = sums[:, : values.shape[1] + 1], sums[:, values.shape[1] + 1 :]
        self.draws = ratio(own[:, :-1], own[:, -1:]) - ratio(overall[:, :-1], overall[:, -1:])

    def difference(self, at: int) -> Figure | None:
        """The difference for one trait; None without resamples or rows on this side."""
        if self.draws is None:
            return None
        value = float(self.values[self.rows, at].mean() - self.values[:, at].mean())
        return figure_of(value, len(self.rows), self.draws[:, at], self.cluster)


LENGTH = "review length"
GRADES = "grades"  # the unit of scores that are grades themselves
FEWEST_IN_SLICE = 10  # rows; values of a fact with fewer are not shown
MOST_SLICES = 40  # values of one fact
LESS_IS_BETTER = (
    "less is better: correlations, AUC and ranks use negated scores, so that values above 0 mean agreement with people"
)


@dataclass(frozen=True)
class ValiditySettings:
    """The settings of all figures. `slices` are facts of the cases, or `system`."""

    resamples: int = 1_000
    seed: int = 0
    folds: int = 10
    slices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scored:
    """One metric's values by review (or the reason for a missing one), and the notes on its figures."""

    metric: str
    label: str
    reading: str
    unit: str
    values: Mapping[Key, float | str]
    pins: Mapping[str, str]
    estimate_note: str = ""
    fake: bool = False
    less_is_better: bool = False
    baseline: bool = False
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, metric: Metric, scores: Sequence[Score]) -> Scored:
        """The headline reading of a metric on each review alone."""
        pins = dict.fromkeys(tuple(sorted(s.pins.items())) for s in scores)
        warnings = ("its scores were made with different versions of its inputs",) if len(pins) > 1 else ()
        return cls(
            metric=signature(metric),
            label=short_spec(metric),
            reading=metric.headline,
            unit=metric.units.get(metric.headline, "share"),
            values=row_scores(metric, scores),
            pins=dict(next(iter(pins), ())),
            estimate_note=metric.estimate_note,
            fake=any(score.fake for score in scores),
            less_is_better=metric.headline in metric.lower_is_better,
            warnings=warnings,
        )


def length_baseline(bench: ReviewTable) -> Scored:
    """The length of the review in characters, which a useful metric must beat."""
    values = {key: float(len(text)) for key, text in zip(bench.keys, bench.hypothesis, strict=True)}
    return Scored(LENGTH, f"{LENGTH} (baseline)", "characters", "characters", values, {}, baseline=True)


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

    @property
    def inputs(self) -> Iterator[object]:
        """Every value that the figures depend on, for hashing."""
        bench = self.bench
        yield from (bench.keys, bench.hypothesis, bench.reference, bench.facts, sorted(bench.people), bench.cases)
        yield from (bench.claims.tolist(), bench.cluster.tolist(), self.humans, self.scored, self.settings)
        yield from (self.dataset, self.benchmark, self.warnings, bench.places.tolist(), bench.where)

    def report(self, progress: Progress | None = None) -> ValidityReport:
        """Every metric in every dimension, in threads: numpy releases the interpreter lock."""
        validator = Validator(self.bench, self.settings)
        jobs = [(one, human) for human in self.humans for one in self.scored]
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
            resamples=self.settings.resamples,
            seed=self.settings.seed,
            folds=self.settings.folds,
            warnings=(*self.warnings, *(f"{dimension}: {n:,} {why} left out" for dimension, n, why in left_out)),
        )

    def _paired(self, human: HumanValues, found: Sequence[MetricValidity]) -> PairedMetrics:
        own = [one for one in found if one.dimension == human.dimension]
        signs = [-1.0 if one.less_is_better else 1.0 for one in self.scored]
        resampler = Resampler(self.bench.clusters, self.settings.resamples, self.settings.seed)
        return PairedMetrics(self.bench, human, own, [one.values for one in self.scored], signs, resampler)

    def _with_row_warnings(self, human: HumanValues, found: Sequence[MetricValidity]) -> Iterator[MetricValidity]:
        """The metrics of a dimension, with a warning on each that lacks rows of the others."""
        judged = [self.bench.keys[at] for at in join(self.bench, human, dict.fromkeys(self.bench.keys, 0.0)).place]
        rows = [{key for key in judged if not isinstance(one.values.get(key, ""), str)} for one in self.scored]
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
        trees, no_trees = ((), "") if grade is None else classifiers(sample.score, grade, settings.seed)
        fitted = out_of_fold(sample, folds=settings.folds, seed=settings.seed)
        ranked = ranking(sample, judged.system, human.scale, left_out=sorted(self.bench.people))
        if ranked is not None:
            ranked = ranked.model_copy(update={"references": reference_points(human, self.bench.people)})
        found = misjudged(judged, self.resampler, less_is_better=less_is_better)
        return MetricValidity(
            metric=scored.metric,
            label=scored.label,
            reading=scored.reading,
            unit=scored.unit,
            dimension=human.dimension,
            pins=scored.pins,
            estimate_note=scored.estimate_note,
            fake=scored.fake,
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
            over=found.over,
            under=found.under,
            traits=found.traits,
            warnings=(*scored.warnings, *_warnings(sample, no_trees, fitted.reason)),
        )


def _correlations(judged: LabelledScores, sample: RowSample, human: HumanValues) -> Iterator[Correlations]:
    """The correlations on all rows, and on the parts of the scale that are usually reported."""
    yield Correlations(rows=judged.row_set(), **sample.correlations())
    for name, (low, high) in human.scale.row_sets.items():
        chosen = np.asarray((judged.human >= low) & (judged.human <= high), dtype=np.bool_)
        yield Correlations(rows=judged.row_set(name, chosen), **sample.rows(chosen).correlations())


def _slices(judged: LabelledScores, sample: RowSample, fact: str) -> Iterator[SliceRow]:
    """Spearman's rho for each value of a fact with enough rows, at most 40 values."""
    values = np.array([NOT_STATED if value is None else value for value in judged.fact(fact)], dtype=object)
    counts = Counter(values.tolist())
    common = [value for value, n in counts.most_common(MOST_SLICES) if n >= FEWEST_IN_SLICE]
    for value in sorted(common):
        yield SliceRow(fact=fact, value=value, spearman=sample.rows(np.asarray(values == value)).spearman())


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
