"""Fit a combined metric to human labels, and account for it: every figure out of fold, beside its own metrics.

Rows of one reference, and of references that say nearly the same, are never on both sides of a split. The floor is set
on rows that the fit below it has not seen, and no figure of a fold rests on the fold itself. The account lists the
calibrated grade, the same without its floor, each metric alone, the mean of their ranks (which needs no labels), and a
fit to shuffled labels, whose correlation must be near 0.
Source: McCullagh, Regression models for ordinal data, JRSS B 42 (1980) (proportional odds); the penalty is a ridge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from reviewgauge.analysis.stats.arrays import Integers, Numbers
from reviewgauge.analysis.stats.correlation import spearman_only
from reviewgauge.analysis.stats.folds import grouped_folds
from reviewgauge.analysis.validity.calibration import fit_ordinal
from reviewgauge.analysis.validity.human_values import HumanValues, Key, on_steps
from reviewgauge.analysis.validity.report import Validator, ValiditySettings
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.scored import Scored, length_baseline, measured_alone
from reviewgauge.core.document import Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.reports.validity import FitReport
from reviewgauge.core.results import Score
from reviewgauge.core.specs import all_pins
from reviewgauge.metrics.combined import Combination, Fit, graded

RIDGE = 3.0
INNER_FOLDS, INNER_ROUNDS = 5, 3  # the mean of three rounds sets the floor; one is noisy


class Features(NamedTuple):
    """The measures of several metrics on the reviews that all measured: `table` is rows x features."""

    keys: tuple[Key, ...]
    names: tuple[tuple[str, str], ...]
    table: Numbers
    left_out: Mapping[str, int]


def features_of(scored: Mapping[str, tuple[Metric, Sequence[Score]]]) -> Features:
    """The measures of each metric (by spec) on the reviews that all measured; other reviews are counted by reason.

    Undefined measures are NaN. Measures that are constant over all reviews are left out.
    """
    columns: dict[tuple[str, str], dict[Key, float]] = {}
    measured: Counter[Key] = Counter()
    reasons: dict[Key, str] = {}
    for spec, (metric, scores) in scored.items():
        measures, others = measured_alone(metric, scores)
        columns |= {(spec, measure): values for measure, values in measures.items()}
        measured.update(dict.fromkeys(key for values in measures.values() for key in values).keys())
        reasons |= {key: f"{spec}: {score.reason}" for key, score in others.items()}
    kept = tuple(key for key, metrics in measured.items() if metrics == len(scored))
    unmeasured = {*measured, *reasons} - set(kept)
    left_out = Counter(reasons.get(key, "not measured by all metrics") for key in unmeasured)
    varying = {
        name: column
        for name, values in columns.items()
        if np.nanstd(column := np.array([values[key] for key in kept])) > 1e-12
    }
    table = np.stack(list(varying.values()), axis=1) if varying else np.zeros((len(kept), 0))
    return Features(kept, tuple(varying), table, left_out)


def fit(table: Numbers, human: Numbers, groups: Integers, *, seed: int, ridge: float = RIDGE) -> Fit:
    """The model of `human` on all these rows; its floor is set on out-of-fold predictions."""
    unfloored = _fit_without_floor(table, human, ridge)
    rounds, grades = [], np.unique(human)
    folds = min(INNER_FOLDS, int(np.unique(groups).size))
    for number in range(INNER_ROUNDS if folds >= 2 else 0):
        fold = grouped_folds(groups.tolist(), folds, seed + number)
        unseen = np.zeros(human.size)
        for one in range(folds):
            inner = _fit_without_floor(table[fold != one], human[fold != one], ridge, grades)
            unseen[fold == one] = graded(inner, grades.tolist(), table[fold == one])[1]
        rounds.append(unseen)
    return unfloored.model_copy(update={"floor": matching_floor(np.mean(rounds, axis=0), human)} if rounds else {})


def matching_floor(expected: Numbers, human: Numbers) -> float:
    """The floor that leaves as many rows above it as people graded above the lowest grade.

    A floor with the best correlation on the training rows would be less stable from fold to fold.
    """
    return float(np.quantile(expected, float((human <= human.min()).mean()), method="higher"))


def _fit_without_floor(table: Numbers, human: Numbers, ridge: float, grades: Numbers | None = None) -> Fit:
    """The model without a floor. A grade that these rows lack gets the cut of the next higher one."""
    grades = np.unique(human) if grades is None else grades
    known = np.isfinite(table)
    filled = np.where(known, table, 0.0)
    count = np.maximum(known.sum(axis=0), 1)
    means = filled.sum(axis=0) / count
    spread = np.sqrt((np.where(known, table - means, 0.0) ** 2).sum(axis=0) / count)
    scales = np.where(spread > 1e-12, spread, 1.0)
    standard = np.where(known, (table - means) / scales, 0.0)
    model = fit_ordinal(standard, human, ridge=ridge, rising=False)
    return Fit(
        means=_short(means),
        scales=_short(scales),
        weights=_short(model.weights),
        cuts=_cuts(model.levels, model.cuts, grades),
        floor=float(grades[0]),
    )


def _cuts(levels: Numbers, cuts: Numbers, grades: Numbers) -> tuple[float, ...]:
    """One cut a grade above the lowest, for P(value >= grade); 50 for grades above all that occur."""
    return _short(np.append(cuts, 50.0)[np.searchsorted(levels[1:], grades[1:])])


def _short(values: Numbers) -> tuple[float, ...]:
    return tuple(float(f"{value:.6g}") for value in values)


class OutOfFoldFits(NamedTuple):
    """The fits by fold, the fold of each row, and the grade of each row by the fit that has not seen it."""

    fits: tuple[Fit, ...]
    fold: Integers
    grade: Numbers
    expected: Numbers


def fit_in_folds(
    table: Numbers,
    human: Numbers,
    groups: Integers,
    *,
    folds: int,
    seed: int,
    ridge: float = RIDGE,
    progress: Progress | None = None,
) -> OutOfFoldFits:
    """A fit for each fold on the other folds, and its grades of the fold.

    Raises UserError for fewer groups than folds.
    """
    fold = grouped_folds(groups.tolist(), folds, seed)  # rows of one group share a fold
    grades = np.unique(human)
    fits = []
    grade, expected = np.zeros(human.size), np.zeros(human.size)
    for number in range(folds):
        seen = fold != number
        one = fit(table[seen], human[seen], groups[seen], seed=seed, ridge=ridge)
        levels = np.unique(human[seen])
        if levels.size < grades.size:  # a cut for every grade, including those that these rows lack
            one = one.model_copy(update={"cuts": _cuts(levels, np.array(one.cuts), grades)})
        grade[~seen], expected[~seen], _ = graded(one, grades.tolist(), table[~seen])
        fits.append(one)
        if progress is not None:
            progress(number + 1, folds, "fitting")
    return OutOfFoldFits(tuple(fits), fold, grade, expected)


def shuffled(human: Numbers, groups: Integers, seed: int) -> Numbers:
    """The labels shuffled by groups: a fit to them that correlates out of fold shows a leak.

    Groups keep their labels together, since labels shuffled singly would hide a fit that has seen other rows of a
    group. Within a group they are shuffled too, so that they carry nothing about the system.
    """
    draw = np.random.default_rng([seed, 1])
    rows = [draw.permutation(np.flatnonzero(groups == group)) for group in draw.permutation(np.unique(groups))]
    found = np.empty_like(human)
    found[np.argsort(groups, kind="stable")] = human[np.concatenate(rows)]
    return found


CALIBRATED, UNFLOORED = "calibrated, out of fold", "the same without its floor"
RANKS = "mean of their ranks (no labels)"
FEWEST_ROWS = 30
_LEAK = 0.05  # a fit to shuffled labels above this, with an interval above 0, has seen the answers
_SHUFFLES = 3  # in a row that must show it: one in forty does so by chance


def leaks(leakage: Value) -> bool:
    """Whether a fit to shuffled labels finds anything: then rows of one text lie on both sides of a split."""
    return leakage.value is not None and leakage.value > _LEAK and (leakage.low or 0) > 0


def fit_combination(
    bench: ReviewTable,
    human: HumanValues,
    scored: Mapping[str, tuple[Metric, Sequence[Score]]],
    keys: Mapping[str, str],
    settings: ValiditySettings,
    *,
    dataset: str,
    progress: Progress | None = None,
) -> tuple[Combination, FitReport]:
    """Fit the metrics (by spec) to the human values: the model of all rows, and what the fits in folds are worth.

    `keys` gives the hash of each case's reference text. Raises UserError for too few rows, one grade only, too many
    grades, fewer groups of references than folds, or metrics that are constant on all reviews.
    """
    features = features_of(scored)
    chosen = [at for at, key in enumerate(features.keys) if key in human.of and key[1] not in bench.people]
    place = {key: at for at, key in enumerate(bench.keys)}
    rows = [features.keys[at] for at in chosen]
    table = features.table[chosen]
    grades = _grades(np.array([human.of[key] for key in rows], dtype=np.float64), human, features)
    groups = bench.cluster[[place[key] for key in rows]]
    held = fit_in_folds(table, grades, groups, folds=settings.folds, seed=settings.seed, progress=progress)
    validator = Validator(bench, settings)
    for seed in range(settings.seed, settings.seed + _SHUFFLES):
        dealt = shuffled(grades, groups, seed)
        unrelated = fit_in_folds(table, dealt, groups, folds=settings.folds, seed=seed, progress=progress)
        leakage = spearman_only(unrelated.grade, dealt, groups, validator.resampler)
        if not leaks(leakage):
            break
    final = fit(table, grades, groups, seed=settings.seed)
    model = Combination(
        metrics=tuple(scored),
        pins={spec: all_pins(metric) for spec, (metric, _) in scored.items()},
        features=features.names,
        grades=tuple(np.unique(grades).tolist()),
        final=final,
        held_out=held.fits,
        fold_of={keys[key[0]]: int(fold) for key, fold in zip(rows, held.fold, strict=True)},
        dimension=human.dimension,
        dataset=dataset,
        rows=len(rows),
    )
    combined = _combined(held, features, table, scored, rows)
    alone = [Scored.of(metric, scores) for metric, scores in scored.values()]
    account = tuple(validator.metric(one, human)[0] for one in [*combined, *alone, length_baseline(bench)])
    weights = sorted(zip(features.names, final.weights, strict=True), key=lambda item: -abs(item[1]))
    report = FitReport(
        dataset=dataset,
        dimension=human.dimension,
        rows=len(rows),
        folds=settings.folds,
        account=account,
        leakage=leakage,
        leaks=leaks(leakage),
        weights=tuple((f"{spec} {measure}", weight) for (spec, measure), weight in weights),
        left_out=features.left_out,
    )
    return model, report


def _grades(values: Numbers, human: HumanValues, features: Features) -> Numbers:
    """The human values on the steps of their scale."""
    if values.size < FEWEST_ROWS:
        raise UserError(
            f"{values.size} reviews have a label in {human.dimension} and were measured by all metrics",
            remedy=f"at least {FEWEST_ROWS} are needed, some hundreds are better",
        )
    if not features.names:
        raise UserError("the metrics are constant on all reviews", remedy="choose metrics that distinguish reviews")
    grades = on_steps(values, human.scale)
    if grades is None:
        raise UserError(f"{human.dimension} has too many different values for grades")
    if np.unique(grades).size < 2:
        raise UserError(f"all labels in {human.dimension} are {grades[0]:g}, so nothing can be fitted")
    return grades


def _combined(
    held: OutOfFoldFits,
    features: Features,
    table: Numbers,
    scored: Mapping[str, tuple[Metric, Sequence[Score]]],
    rows: Sequence[Key],
) -> list[Scored]:
    """The calibrated grade, the one without a floor, and the mean of the metrics' ranks, by review."""
    ranks = []
    for spec, (metric, _) in scored.items():
        if (spec, metric.headline) in features.names:
            values = table[:, features.names.index((spec, metric.headline))]
            values = np.where(np.isfinite(values), values, np.nanmean(values))
            ranks.append(rankdata(-values if metric.headline in metric.lower_is_better else values) / len(rows))
    found = [(CALIBRATED, "grades", held.grade), (UNFLOORED, "grades", held.expected)]
    if ranks:
        found.append((RANKS, "share", np.mean(ranks, axis=0)))
    fake = any(one.fake for _, scores in scored.values() for one in scores)
    return [
        Scored(name, name, "mean", unit, dict(zip(rows, values.tolist(), strict=True)), {}, fake=fake)
        for name, unit, values in found
    ]
