"""The correlation of calibrated scores: each row is mapped by a fit that has not seen its reference.

See stats/calibration for the maps and their sources.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers, Numbers
from reviewgauge.analysis.stats.bootstrap import resampled_sums
from reviewgauge.analysis.stats.calibration import WARNING, Isotonic, Segments, best_floor, fit_ordinal, floored
from reviewgauge.analysis.stats.classification import accuracy, confusion, quadratic_kappa
from reviewgauge.analysis.stats.correlation import defined_groups, mean_within
from reviewgauge.analysis.stats.folds import grouped_folds
from reviewgauge.analysis.validity.human_values import on_steps
from reviewgauge.analysis.validity.sample import RowSample
from reviewgauge.core.labels import Scale
from reviewgauge.core.reports.validity import Calibrated, Figure, HeatMap, ReliabilityPoint

FEWEST = 20  # rows for a fit
WITHIN = "mean of the correlations within each fold"
GROUPED_BY = "reference, near-copies together"
OWN_GRADE = "the score itself, rounded"
_BINS = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)  # shares of the rows, finer at the top


@dataclass(frozen=True)
class OutOfFold:
    """The calibrations of one score and the heat map of the ordinal one, or the `reason` for having none."""

    calibrated: tuple[Calibrated, ...] = ()
    heat_map: HeatMap | None = None
    reason: str = ""


def out_of_fold(sample: RowSample, *, folds: int = 10, seed: int = 0) -> OutOfFold:
    """Floor, isotonic and ordinal calibration of the scores, in folds of whole clusters.

    Without grades there is no ordinal model and no heat map.
    """
    if sample.n < FEWEST or sample.clusters < 2:
        return OutOfFold(reason=f"{sample.n} rows in {sample.clusters} clusters are too few for a fit")
    if (sample.human == sample.human[0]).all():
        return OutOfFold(reason="all human values are equal")
    work = _Work(sample, grouped_folds(sample.cluster.tolist(), min(folds, sample.clusters), seed))
    found, heat = [work.floor(), work.isotonic()], None
    if sample.grade is not None:
        ordinal, heat = work.ordinal(sample.grade)
        found.append(ordinal)
    return OutOfFold(tuple(found), heat)


class _Work:
    def __init__(self, sample: RowSample, fold: Integers) -> None:
        self.sample, self.folds = sample, int(fold.max()) + 1
        self.score, self.human = sample.oriented, sample.human
        self.fold, self.held_out = fold, [fold == number for number in range(self.folds)]

    def floor(self) -> Calibrated:
        """Scores below a floor become equal; the floor is fitted on the other folds."""
        mapped, floors, bottom = np.empty(self.score.size), [], float(self.score.min())
        for held_out in self.held_out:
            floor = best_floor(self.score[~held_out], self.human[~held_out])
            mapped[held_out] = floored(self.score[held_out], floor, bottom)
            floors.append(-floor if self.sample.less_is_better else floor)
        side = "above" if self.sample.less_is_better else "below"
        low, middle, high = min(floors), float(np.median(floors)), max(floors)
        learned = f"scores {side} {middle:.4g} count as equal (median over the folds; {low:.4g} to {high:.4g})"
        return self._calibrated("floor", self.sample.spearman(mapped), learned)

    def isotonic(self) -> Calibrated:
        """A rising step map, fitted on the other folds."""
        mapped, steps = np.empty(self.score.size), []
        for held_out in self.held_out:
            fitted = Isotonic.fitted(self.score[~held_out], self.human[~held_out])
            mapped[held_out] = fitted.predict(self.score[held_out])
            steps.append(np.unique(fitted.values).size)
        learned = f"{min(steps)} to {max(steps)} levels by fold; {WITHIN}{self._uncalibrated(mapped)}"
        return self._calibrated("isotonic", self._within(mapped), learned, self._reliability(mapped))

    def ordinal(self, grade: Numbers) -> tuple[Calibrated, HeatMap]:
        """A proportional-odds model on rising segments of the score, fitted on the other folds."""
        mapped = np.empty(self.score.size)
        for held_out in self.held_out:
            segments = Segments.of(self.score[~held_out])
            model = fit_ordinal(segments.features(self.score[~held_out]), grade[~held_out])
            mapped[held_out] = model.expected(segments.features(self.score[held_out]))
        learned = f"proportional odds on rising segments of the score, ridge 1; {WITHIN}{self._uncalibrated(mapped)}"
        found = self._calibrated("ordinal", self._within(mapped), learned, self._reliability(mapped))
        predicted_by = f"ordinal calibration, {found.folds} folds by {GROUPED_BY}; the expected grade, rounded"
        return found, heat_map(self.sample, mapped, grade, predicted_by)

    def _within(self, mapped: Numbers) -> Figure:
        """Rank within folds: different fits map rows that they cannot separate to different values."""
        return self.sample.spearman_within(mapped, self.fold)

    def _uncalibrated(self, mapped: Numbers) -> str:
        """The uncalibrated score's mean over the same folds, which compares with the calibrated one."""
        value = mean_within(self.score, self.human, defined_groups(mapped, self.human, self.fold))
        return "" if value is None else f"; the uncalibrated score has {value:.3f} there"

    def _calibrated(
        self, method: str, spearman: Figure, learned: str, points: tuple[ReliabilityPoint, ...] = ()
    ) -> Calibrated:
        return Calibrated(
            method=method,
            folds=self.folds,
            grouped_by=GROUPED_BY,
            spearman=spearman,
            learned=learned,
            warning=WARNING,
            reliability=points,
        )

    def _reliability(self, predicted: Numbers) -> tuple[ReliabilityPoint, ...]:
        """The mean human value by predicted value, in finer bins at the top."""
        edges = np.unique(np.quantile(predicted, _BINS))
        bins = np.searchsorted(edges[1:-1], predicted, side="right")
        return tuple(
            ReliabilityPoint(
                predicted=float(predicted[bins == place].mean()),
                observed=self.sample.rows(np.asarray(bins == place)).human_mean(),
            )
            for place in np.unique(bins)
        )


def own_heat_map(sample: RowSample, scale: Scale) -> HeatMap | None:
    """The heat map of scores that are grades on this scale already, rounded to its steps; nothing is fitted.

    None without grades, or where a score is outside the scale.
    """
    if sample.grade is None or not sample.n:
        return None
    reach = scale.step / 2
    if sample.score.min() < scale.low - reach or sample.score.max() > scale.high + reach:
        return None
    return heat_map(sample, sample.score, sample.grade, OWN_GRADE, scale)


def heat_map(
    sample: RowSample, predicted: Numbers, grade: Numbers, predicted_by: str, scale: Scale | None = None
) -> HeatMap:
    """Predictions, rounded to the grades that occur or to the steps of a `scale`, against the human grades."""
    grades = np.unique(grade)
    if scale is not None and (stepped := on_steps(predicted, scale)) is not None and scale.step > 0:
        grades = np.unique(np.concatenate([grades, np.clip(stepped, scale.low, scale.high)]))
    code = np.searchsorted(grades, grade)
    nearest = np.searchsorted((grades[1:] + grades[:-1]) / 2, predicted, side="right")
    k = grades.size
    table = confusion(nearest, code, k)
    cells = np.eye(k * k)[nearest * k + code]
    draws = resampled_sums(cells, sample.cluster, sample.resampler).reshape(-1, k, k)
    kappa = float(quadratic_kappa(table, grades))
    return HeatMap(
        predicted_by=predicted_by,
        grades=tuple(grades.tolist()),
        counts=tuple(tuple(int(cell) for cell in row) for row in table),
        exact=sample.figure(float(accuracy(table)), accuracy(draws)),
        kappa_quadratic=sample.figure(kappa, quadratic_kappa(draws, grades))
        if np.isfinite(kappa)
        else sample.undefined("people and predictions gave one and the same grade only"),
    )
