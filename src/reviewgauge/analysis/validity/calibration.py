"""Maps from scores to grades (floors and ordinal calibration) and the correlation of calibrated scores.

The fits use human labels, so their figures do not compare with those of a judge that saw none: show `WARNING` beside
them. They are made in folds, so that each row is mapped by a fit that has not seen its reference.
Source: McCullagh, Regression models for ordinal data, JRSS B 42 (1980) (proportional odds).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers, Numbers
from reviewgauge.analysis.stats.bootstrap import resampled_sums
from reviewgauge.analysis.stats.classification import accuracy, confusion, quadratic_kappa
from reviewgauge.analysis.stats.correlation import defined_groups, mean_within, spearman_within
from reviewgauge.analysis.stats.folds import grouped_folds
from reviewgauge.analysis.validity.human_values import on_steps
from reviewgauge.analysis.validity.sample import RowSample
from reviewgauge.core.document import Value
from reviewgauge.core.labels import Scale
from reviewgauge.core.reports.validity import Calibrated, HeatMap

WARNING = (
    "fitted to human labels, out of fold: figures of a judge that saw no label, such as a prompted model, are not to "
    "be compared with it as if both knew as much"
)

_MOST_STEPS = 100
_STEEP = 1e-7  # a gradient below this counts as 0
_FEW_FEATURES = 12


# --- floors --------------------------------------------------------------------------------------------------------


def best_floor(score: Numbers, human: Numbers) -> float:
    """The floor with the highest Spearman correlation on these rows, when all scores below it count as equal.

    All distinct scores are tried in one pass over the rows. Ties go to the lowest score, which changes nothing.
    """
    from scipy.stats import rankdata

    order = np.argsort(score, kind="stable")
    values, n = score[order], score.size
    ranks = rankdata(values) - (n + 1) / 2
    other = rankdata(human)[order] - (n + 1) / 2
    first = np.flatnonzero(np.append(True, np.diff(values) != 0))  # rows before `first` fall under that floor
    below = (first + 1) / 2 - (n + 1) / 2  # their shared rank
    product = np.append(0.0, np.cumsum(ranks * other))
    square = np.append(0.0, np.cumsum(ranks**2))
    of_humans = np.append(0.0, np.cumsum(other))
    covariance = product[-1] - product[first] + below * of_humans[first]
    variance = square[-1] - square[first] + below**2 * first
    with np.errstate(all="ignore"):
        found = np.where(variance > 1e-9, covariance / np.sqrt(variance), -np.inf)
    return float(values[first[np.argmax(found.round(12))]])


def floored(score: Numbers, floor: float, bottom: float) -> Numbers:
    """The scores, with those below `floor` set to `bottom`."""
    return np.where(score < floor, bottom, score)


# --- ordinal -------------------------------------------------------------------------------------------------------


class Ordinal(NamedTuple):
    """A proportional-odds model: P(grade > levels[j]) = 1 / (1 + exp(cuts[j] - features @ weights))."""

    levels: Numbers
    cuts: Numbers
    weights: Numbers

    def probabilities(self, features: Numbers) -> Numbers:
        """The probability of each level (rows x levels)."""
        beyond = _logistic((features @ self.weights)[:, None] - self.cuts)
        edge = np.ones((features.shape[0], 1))
        found: Numbers = -np.diff(np.concatenate([edge, beyond, 0 * edge], axis=1), axis=1)
        return found

    def expected(self, features: Numbers) -> Numbers:
        """The expected grade of each row."""
        found: Numbers = self.probabilities(features) @ self.levels
        return found


def fit_ordinal(features: Numbers, human: Numbers, *, ridge: float = 1.0, rising: bool = True) -> Ordinal:
    """Fit a proportional-odds model of `human` on `features` (rows x k), penalised by `ridge` / 2 per squared weight.

    `rising` keeps every weight at 0 or above, so that a higher feature never lowers the grade. Features should be on
    a common scale, such as 0 to 1. If all human values are equal the model always predicts that value.
    """
    levels, code = np.unique(human, return_inverse=True)
    k, free = features.shape[1], levels.size - 1
    if not free:
        return Ordinal(levels, np.zeros(0), np.zeros(k))
    counts = np.bincount(code.reshape(-1), minlength=levels.size).astype(np.float64)
    share = 1 - np.cumsum(counts)[:-1] / counts.sum()
    loss = _OrdinalLoss(features, code.reshape(-1).astype(np.int64), free, ridge)
    floor = np.concatenate([np.full(free, -np.inf), np.full(k, 0.0 if rising else -np.inf)])
    found = _minimise(loss, np.concatenate([-np.log(share / (1 - share)), np.zeros(k)]), floor)
    return Ordinal(levels, found[:free], found[free:])


def _minimise(loss: _OrdinalLoss, x: Numbers, floor: Numbers) -> Numbers:
    """The minimum of a convex loss with every entry of x at its floor or above, by projected Newton steps.

    Source: Bertsekas, Projected Newton methods for optimization problems with simple constraints, SIAM Journal on
    Control and Optimization 20 (1982).
    """
    value, gradient, curvature = loss(x)
    for _ in range(_MOST_STEPS):
        free = np.flatnonzero((x > floor) | (gradient < 0))
        if not free.size or np.abs(gradient[free]).max() < _STEEP:
            break
        step = np.zeros_like(x)
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)] + 1e-9 * np.eye(free.size), -gradient[free])
        for halvings in range(40):
            trial = np.maximum(x + step / 2**halvings, floor)
            new = loss(trial)
            if new[0] <= value + 1e-4 * gradient @ (trial - x):
                break
        else:  # no improvement along this step: only rounding is left
            break
        x, (value, gradient, curvature) = trial, new
    return x


class _OrdinalLoss:
    """The penalised negative log-likelihood of x = (cuts, weights) with its gradient and its second derivatives.

    Infinite where the cuts are not in order. It is convex: Pratt, Concavity of the log likelihood, JASA 76 (1981).
    Rows are sorted by grade, so that derivatives by the cuts are sums over each grade. With few features einsum is
    faster than a matrix product, which would wake threads.
    """

    def __init__(self, features: Numbers, code: Integers, free: int, ridge: float) -> None:
        order = np.argsort(code, kind="stable")
        self.features, self.code, self.free = np.ascontiguousarray(features[order]), code[order], free
        self.starts = np.searchsorted(self.code, np.arange(free + 1))
        self.penalty = np.concatenate([np.zeros(free), np.full(features.shape[1], ridge)])

    def __call__(self, x: Numbers) -> tuple[float, Numbers, Numbers]:
        free, features = self.free, self.features
        place = np.einsum("nk,k->n", features, x[free:])
        edges = np.concatenate([[-np.inf], x[:free], [np.inf]])
        above, beyond = _logistic(place - edges[self.code]), _logistic(place - edges[self.code + 1])
        own = above - beyond
        if (np.diff(x[:free]) <= 0).any() or (own <= 0).any():
            return np.inf, np.zeros_like(x), np.zeros((x.size, x.size))
        by_up, by_low = above * (1 - above) / own, beyond * (1 - beyond) / own  # the slopes of the two ends
        bend_up = by_up * (by_up - (1 - 2 * above))
        bend_low = by_low * (by_low + (1 - 2 * beyond))
        across = -by_up * by_low
        up, low, upper, lower, both = self._by_grade(np.stack([by_up, by_low, bend_up, bend_low, across], axis=1)).T
        gradient = np.concatenate([up[1:] - low[:-1], np.einsum("nk,n->k", features, by_low - by_up)])
        curvature = np.diag(self.penalty)
        cuts = np.arange(free)
        curvature[cuts, cuts] += upper[1:] + lower[:-1]
        curvature[cuts[:-1], cuts[1:]] = curvature[cuts[1:], cuts[:-1]] = both[1:-1]
        mixed = -self._by_grade(features * (bend_up + across)[:, None])[1:]
        mixed -= self._by_grade(features * (bend_low + across)[:, None])[:-1]
        curvature[:free, free:], curvature[free:, :free] = mixed, mixed.T
        whole = bend_up + bend_low + 2 * across
        weighted = features * whole[:, None]
        few = features.shape[1] < _FEW_FEATURES
        curvature[free:, free:] += np.einsum("nk,nl->kl", weighted, features) if few else weighted.T @ features
        value = -np.log(own).sum() + (self.penalty * x * x).sum() / 2
        return float(value), gradient + self.penalty * x, curvature

    def _by_grade(self, values: Numbers) -> Numbers:
        found: Numbers = np.add.reduceat(values, self.starts, axis=0)
        return found


def _logistic(x: Numbers) -> Numbers:
    return 0.5 * (1 + np.tanh(x / 2))


class Segments(NamedTuple):
    """A score as rising features between 0 and 1: its way from each knot to the next.

    With weights of 0 or more they form any rising piecewise-linear function of the score.
    """

    knots: Numbers

    @classmethod
    def of(cls, score: Numbers, shares: Sequence[float] = (0, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 1)) -> Segments:
        """Knots at these shares of the training scores."""
        return cls(np.unique(np.quantile(score, shares)))

    def features(self, score: Numbers) -> Numbers:
        """Rows x segments; one column of zeros where all training scores were equal."""
        low, high = self.knots[:-1], self.knots[1:]
        if not low.size:
            return np.zeros((score.size, 1))
        return np.clip((score[:, None] - low) / (high - low), 0.0, 1.0)


FEWEST = 20  # rows for a fit
WITHIN = "mean of the correlations within each fold"
GROUPED_BY = "reference, near-copies together"
OWN_GRADE = "the score itself, rounded"


@dataclass(frozen=True)
class OutOfFold:
    """The calibrations of one score and the heat map of the ordinal one, or the `reason` for having none."""

    calibrated: tuple[Calibrated, ...] = ()
    heat_map: HeatMap | None = None
    reason: str = ""


def out_of_fold(sample: RowSample, *, folds: int = 10, seed: int = 0) -> OutOfFold:
    """Floor and ordinal calibration of the scores, in folds of whole clusters.

    Without grades there is no ordinal model and no heat map.
    """
    if sample.n < FEWEST or sample.clusters < 2:
        return OutOfFold(reason=f"{sample.n} rows in {sample.clusters} clusters are too few for a fit")
    if (sample.human == sample.human[0]).all():
        return OutOfFold(reason="all human values are equal")
    fold = grouped_folds(sample.cluster.tolist(), min(folds, sample.clusters), seed)
    floor = _floor(sample, fold)
    if sample.grade is None:
        return OutOfFold((floor,))
    ordinal, heat = _ordinal(sample, sample.grade, fold)
    return OutOfFold((floor, ordinal), heat)


def _floor(sample: RowSample, fold: Integers) -> Calibrated:
    """Scores below a floor become equal; the floor is fitted on the other folds."""
    score, human = sample.oriented, sample.human
    mapped, floors, bottom = np.empty(score.size), [], float(score.min())
    for held_out in (fold == number for number in range(int(fold.max()) + 1)):
        floor = best_floor(score[~held_out], human[~held_out])
        mapped[held_out] = floored(score[held_out], floor, bottom)
        floors.append(sample.sign * floor)
    side = "above" if sample.less_is_better else "below"
    low, middle, high = min(floors), float(np.median(floors)), max(floors)
    learned = f"scores {side} {middle:.4g} count as equal (median over the folds; {low:.4g} to {high:.4g})"
    return _calibrated("floor", fold, sample.spearman(mapped), learned)


def _ordinal(sample: RowSample, grade: Numbers, fold: Integers) -> tuple[Calibrated, HeatMap]:
    """A proportional-odds model on rising segments of the score, fitted on the other folds."""
    score, mapped = sample.oriented, np.empty(sample.n)
    for held_out in (fold == number for number in range(int(fold.max()) + 1)):
        segments = Segments.of(score[~held_out])
        model = fit_ordinal(segments.features(score[~held_out]), grade[~held_out])
        mapped[held_out] = model.expected(segments.features(score[held_out]))
    learned = f"proportional odds on rising segments of the score, ridge 1; {WITHIN}"
    uncalibrated = mean_within(score, sample.human, defined_groups(mapped, sample.human, fold))
    learned += "" if uncalibrated is None else f"; the uncalibrated score has {uncalibrated:.3f} there"
    # ranked within folds: different fits map rows that they cannot separate to different values
    spearman = spearman_within(mapped, sample.human, sample.cluster, fold, sample.resampler)
    found = _calibrated("ordinal", fold, spearman, learned)
    predicted_by = f"ordinal calibration, {found.folds} folds by {GROUPED_BY}; the expected grade, rounded"
    return found, heat_map(sample, mapped, grade, predicted_by)


def _calibrated(method: str, fold: Integers, spearman: Value, learned: str) -> Calibrated:
    return Calibrated(
        method=method,
        folds=int(fold.max()) + 1,
        grouped_by=GROUPED_BY,
        spearman=spearman,
        learned=learned,
        warning=WARNING,
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
