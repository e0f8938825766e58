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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import FEW_CLUSTERS, Resampler, difference_interval, resampled_sums
from reviewgauge.analysis.stats.classification import classifiers
from reviewgauge.analysis.stats.correlation import KENDALL, SPEARMAN, Rows, row_weights
from reviewgauge.analysis.stats.distributions import grade_rows, ks_table
from reviewgauge.analysis.validity.calibration import OutOfFold, out_of_fold, own_heat_map
from reviewgauge.analysis.validity.human_values import MOST_GRADES, HumanValues, reference_points
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.sample import RowSample, join, ranking, sweeps
from reviewgauge.analysis.validity.scored import Scored
from reviewgauge.core.document import Value
from reviewgauge.core.protocols import Progress
from reviewgauge.core.reports.validity import (
    Correlations,
    MetricDifference,
    MetricValidity,
    Misjudged,
    OppositeEnds,
    PublishedFigure,
    SharedTrait,
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


Pair = tuple[MetricValidity, RowSample]


def differences(found: Sequence[Pair]) -> Iterator[MetricDifference]:
    """In one dimension the best metric less each other one, then each other metric less each baseline.

    Fakes are not compared.
    """
    rho = [None if m.fake or not m.correlations else m.correlations[0].spearman.value for m, _ in found]
    defined = [at for at, value in enumerate(rho) if value is not None]
    ranked = sorted((at for at in defined if not found[at][0].baseline), key=lambda at: -(rho[at] or 0.0))
    drawn: dict[tuple[int, bytes], Numbers] = {}  # most pairs have the same rows
    for first in ranked:
        for other in defined:
            if other != first and (first == ranked[0] or found[other][0].baseline):
                yield _difference(found, (first, other), drawn)


def _difference(
    found: Sequence[Pair], pair: tuple[int, int], drawn: dict[tuple[int, bytes], Numbers]
) -> MetricDifference:
    (one, first), (two, second) = (found[at] for at in pair)
    rows = [
        Rows(own.oriented[here], own.human[here], own.cluster[here])
        for own, other in ((first, second), (second, first))
        for here in [np.isin(own.place, other.place)]
    ]
    named = {"metric": one.metric, "measure": one.measure, "other": two.metric, "other_measure": two.measure}
    if reason := rows[0].undefined or rows[1].undefined:
        figure = Value(value=None, n=rows[0].n, reason=reason)
        return MetricDifference(dimension=one.dimension, **named, value=None, other_value=None, difference=figure)
    draws = []
    for at, own in zip(pair, rows, strict=True):
        key = (at, own.score.tobytes())
        if key not in drawn:
            each = [own.spearman(weights) for weights in row_weights(own.cluster, first.resampler)]
            drawn[key] = np.concatenate([np.zeros(0), *each])
        draws.append(drawn[key])
    values = [float(own.spearman(np.ones((1, own.n)))[0]) for own in rows]
    return MetricDifference(
        dimension=one.dimension,
        **named,
        value=values[0],
        other_value=values[1],
        difference=_figure(values[0] - values[1], rows[0], draws[0] - draws[1]),
    )


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

    def report(self, progress: Progress | None = None) -> ValidityReport:
        """Every metric in every dimension, in threads: numpy releases the interpreter lock."""
        validator = Validator(self.bench, self.settings)
        jobs = [(one.on(human.dimension), human) for human in self.humans for one in self.scored]
        found: list[Pair] = []
        with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
            for (one, human), result in zip(jobs, pool.map(lambda job: validator.metric(*job), jobs), strict=True):
                found.append(result)
                if progress is not None:
                    progress(len(found), len(jobs), f"{one.label} {human.dimension}")
        many = len(self.scored)
        by_dimension = [found[at : at + many] for at in range(0, len(found), many)] if many else []
        left_out = [(human.dimension, n, why) for human in self.humans for why, n in human.left_out.items()]
        return ValidityReport(
            dataset=self.dataset,
            benchmark=self.benchmark,
            cases=self.bench.cases,
            reviews=len(self.bench.keys),
            labels=tuple(human.summary for human in self.humans),
            metrics=tuple(metric for own in by_dimension for metric in _with_row_warnings(own)),
            differences=tuple(pair for own in by_dimension for pair in differences(own)),
            published=self.published,
            resamples=self.settings.resamples,
            seed=self.settings.seed,
            folds=self.settings.folds,
            warnings=(*self.warnings, *(f"{dimension}: {n:,} {why} left out" for dimension, n, why in left_out)),
        )


def _with_row_warnings(found: Sequence[Pair]) -> Iterator[MetricValidity]:
    """The metrics of a dimension, with a warning on each that lacks rows of another."""
    most = len(set().union(*(sample.place.tolist() for _, sample in found)))
    for metric, sample in found:
        few = f"measured on {sample.n:,} of {most:,} judged rows, not on the rows of the others"
        warnings = (*metric.warnings, few) if 0 < sample.n < most else metric.warnings
        yield metric.model_copy(update={"warnings": warnings})


class Validator:
    """Compares metrics with the labels of one table of reviews, under the same resamples."""

    def __init__(self, bench: ReviewTable, settings: ValiditySettings) -> None:
        self.bench, self.settings = bench, settings
        self.resampler = Resampler(bench.clusters, settings.resamples, settings.seed)

    def metric(self, scored: Scored, human: HumanValues) -> Pair:
        """Everything on one metric in one dimension, and its rows."""
        settings = self.settings
        sample = join(self.bench, human, scored.values, self.resampler, less_is_better=scored.less_is_better)
        grade = sample.grade
        graded = None if grade is None else (sample.score, grade, sample.cluster, sample.resampler)
        learns = not scored.baseline  # a baseline must not learn from labels
        trees, no_trees = classifiers(sample.score, grade, settings.seed) if learns and grade is not None else ((), "")
        fitted = out_of_fold(sample, folds=settings.folds, seed=settings.seed) if learns else OutOfFold()
        over, under = misjudged(self.bench, sample)
        ends, traits = opposite_ends(self.bench, sample)
        systems = [self.bench.keys[at][1] for at in sample.place]
        ranked = ranking(sample, systems, human.scale, left_out=sorted(self.bench.people))
        if ranked is not None:
            ranked = ranked.model_copy(update={"references": reference_points(human, self.bench.people)})
        found = MetricValidity(
            metric=scored.metric,
            label=scored.label,
            measure=scored.measure,
            unit=scored.unit,
            dimension=human.dimension,
            pins=scored.pins,
            estimate_note=scored.estimate_note,
            fake=scored.fake,
            less_is_better=scored.less_is_better,
            baseline=scored.baseline,
            correlations=tuple(_correlations(sample, human)),
            grades=grade_rows(*graded) if graded else (),
            ks=ks_table(*graded) if graded else (),
            classifiers=trees,
            sweeps=sweeps(sample),
            heat_map=(own_heat_map(sample, human.scale) if scored.unit == GRADES else None) or fitted.heat_map,
            calibrated=fitted.calibrated,
            ranking=ranked,
            slices=tuple(row for fact in settings.slices for row in self._slices(sample, fact)),
            over=over,
            under=under,
            ends=ends,
            traits=traits,
            warnings=(*scored.warnings, *_warnings(sample, no_trees, fitted.reason)),
        )
        return found, sample

    def _slices(self, sample: RowSample, fact: str) -> Iterator[SliceRow]:
        """The rank correlations for each value of a fact with enough rows, at most 40 values."""
        known = [NOT_STATED if value is None else value for value in self.bench.fact(fact)]
        values = np.array(known, dtype=object)[sample.place]
        common = [value for value, n in Counter(values).most_common(MOST_SLICES) if n >= FEWEST_IN_SLICE]
        for value in sorted(common):
            found = sample.rows(np.asarray(values == value)).correlations()
            yield SliceRow(fact=fact, value=value, spearman=found[SPEARMAN], kendall=found[KENDALL])


def _correlations(sample: RowSample, human: HumanValues) -> Iterator[Correlations]:
    """The correlations on all rows, and on the parts of the scale that are usually reported."""
    yield Correlations(rows=sample.row_set(), **sample.correlations())
    for name, (low, high) in human.scale.row_sets.items():
        part = sample.rows(np.asarray((sample.human >= low) & (sample.human <= high), dtype=np.bool_), name)
        yield Correlations(rows=part.row_set(name), **part.correlations())


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


SHOWN = 10  # examples a side
_CUT = 1_000  # shown characters of a text
Examples = tuple[Misjudged, ...]


def misjudged(bench: ReviewTable, sample: RowSample) -> tuple[Examples, Examples]:
    """The overestimated and the underestimated rows with the largest difference of ranks, worst first.

    None where all scores or all human values are equal.
    """
    if _says_nothing(sample):
        return (), ()
    score_rank, human_rank = _ranks(sample.oriented), _ranks(sample.human)
    gap = score_rank - human_rank
    order = np.argsort(-gap, kind="stable")

    def shown(row: int) -> Misjudged:
        place = sample.place[row]
        case, system, _ = bench.keys[place]
        return Misjudged(
            case=case,
            system=system,
            score=float(sample.score[row]),
            human=float(sample.human[row]),
            score_rank=float(score_rank[row]),
            human_rank=float(human_rank[row]),
            hypothesis=_cut(bench.hypothesis[place]),
            reference=_cut(bench.reference[place]),
            claims=tuple(_cut(claim) for claim in bench.claims[place][:SHOWN]),
        )

    over = tuple(shown(int(row)) for row in order[:SHOWN] if gap[row] > 0)
    return over, tuple(shown(int(row)) for row in order[::-1][:SHOWN] if gap[row] < 0)


def _says_nothing(sample: RowSample) -> bool:
    score, human = sample.score, sample.human
    return sample.n < 2 or bool((score == score[0]).all() or (human == human[0]).all())


def _ranks(values: Numbers) -> Numbers:
    """Ranks from 0 (lowest) to 1 (highest); equal values share their mean rank."""
    from scipy.stats import rankdata

    found: Numbers = (rankdata(values) - 1) / (values.size - 1)
    return found


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else text[: _CUT - 1] + "…"


def opposite_ends(bench: ReviewTable, sample: RowSample) -> tuple[OppositeEnds | None, tuple[SharedTrait, ...]]:
    """The rows at opposite ends of the metric and of people, and what they share; nothing where all are equal.

    Without grades, the lowest and the highest fifth of the human values count as such.
    """
    if _says_nothing(sample):
        return None, ()
    low, high = np.quantile(sample.oriented, (0.2, 0.8))
    human = sample.human if sample.grade is None else sample.grade
    lowest, highest = np.quantile(human, (0.2, 0.8)) if sample.grade is None else (human.min(), human.max())
    score = sample.oriented  # a fifth and more may share the lowest or the highest score: no row is beyond the cut then
    over = ((score > high) | (score == score.max())) & (human <= lowest)
    under = ((score < low) | (score == score.min())) & (human >= highest)
    rest = sample.rows(~(over | under)).correlations()
    ends = OppositeEnds(
        low_cut=float(sample.sign * low),
        high_cut=float(sample.sign * high),
        lowest=float(lowest),
        highest=float(highest),
        n_over=int(over.sum()),
        n_under=int(under.sum()),
        over=_share(over, sample),
        under=_share(under, sample),
        spearman=rest[SPEARMAN],
        kendall=rest[KENDALL],
    )
    return ends, _traits(bench, over, under, sample)


def _share(chosen: Flags, sample: RowSample) -> Value:
    """The share of the chosen rows."""
    each = np.column_stack([chosen, np.ones(sample.n)]).astype(np.float64)
    sums = resampled_sums(each, sample.cluster, sample.resampler)
    return sample.figure(float(chosen.mean()), ratio(sums[:, 0], sums[:, 1]))


def _traits(bench: ReviewTable, over: Flags, under: Flags, sample: RowSample) -> tuple[SharedTrait, ...]:
    """The mean of each trait that any row has, on both sides and on all rows."""
    found = []
    for name, trait in bench.traits.items():
        values = trait.values[sample.place]
        if not values.any():
            continue
        found.append(
            SharedTrait(
                trait=name,
                unit=trait.unit,
                over=float(values[over].mean()) if over.any() else None,
                under=float(values[under].mean()) if under.any() else None,
                all=float(values.mean()),
                n_over=int(over.sum()),
                n_under=int(under.sum()),
                n_all=sample.n,
                over_less_all=_mean_difference(values, over, sample),
                under_less_all=_mean_difference(values, under, sample),
            )
        )
    return tuple(found)


def _mean_difference(values: Numbers, side: Flags, sample: RowSample) -> Value | None:
    """The mean of the rows of one side less that of all rows; clusters are resampled, the selection stays."""
    if not side.any():
        return None
    each = np.column_stack([values, np.ones(sample.n), values * side, side]).astype(np.float64)
    total, n, own, own_n = resampled_sums(each, sample.cluster, sample.resampler).T
    value = float(values[side].mean() - values.mean())
    return sample.figure(value, ratio(own, own_n) - ratio(total, n), n=int(side.sum()))
