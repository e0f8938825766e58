"""Maps from scores to grades that are fitted in folds: floors, isotonic and ordinal calibration.

Every row is mapped by a fit that has seen neither it nor any row of a reference that says nearly the same. The fits
use the human labels, which a judge that was never shown any does not: `WARNING` belongs beside their figures.
Sources: Ayer et al., An empirical distribution function for sampling with incomplete information, Annals of
Mathematical Statistics 26 (1955) (pool adjacent violators); McCullagh, Regression models for ordinal data, JRSS B 42
(1980) (proportional odds); Zadrozny and Elkan, Transforming classifier scores into accurate multiclass probability
estimates, KDD 2002 (isotonic calibration).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from reviewbench.analysis.bag import Numbers

WARNING = (
    "fitted to human labels, out of fold: figures of a judge that saw no label, such as a prompted model, are not to "
    "be compared with it as if both knew as much"
)

Integers = np.ndarray[Any, np.dtype[np.int64]]


# --- floors --------------------------------------------------------------------------------------------------------


def best_floor(score: Numbers, human: Numbers) -> float:
    """The score below which all are best taken as equal: where Spearman's correlation of these rows is highest.

    All distinct scores are tried, in one pass over the rows. The least score (nothing is changed) wins ties.
    """
    from scipy.stats import rankdata

    order = np.argsort(score, kind="stable")
    values, n = score[order], score.size
    ranks = rankdata(values) - (n + 1) / 2
    other = rankdata(human)[order] - (n + 1) / 2
    first = np.flatnonzero(np.append(True, np.diff(values) != 0))  # rows before `first` fall under that floor
    below = (first + 1) / 2 - (n + 1) / 2  # the rank that they share
    product = np.append(0.0, np.cumsum(ranks * other))
    square = np.append(0.0, np.cumsum(ranks**2))
    of_humans = np.append(0.0, np.cumsum(other))
    covariance = product[-1] - product[first] + below * of_humans[first]
    variance = square[-1] - square[first] + below**2 * first
    with np.errstate(all="ignore"):
        found = np.where(variance > 1e-9, covariance / np.sqrt(variance), -np.inf)
    return float(values[first[np.argmax(found.round(12))]])


def floored(score: Numbers, floor: float, bottom: float) -> Numbers:
    """The scores, those below `floor` all at `bottom`."""
    return np.where(score < floor, bottom, score)


# --- isotonic ------------------------------------------------------------------------------------------------------


class Isotonic(NamedTuple):
    """A rising map from scores to values: straight lines between `scores` (ascending), flat beyond them."""

    scores: Numbers
    values: Numbers

    @classmethod
    def fitted(cls, score: Numbers, human: Numbers) -> Isotonic:
        """The rising map with the least squares, by pooling adjacent violators."""
        scores, place = np.unique(score, return_inverse=True)
        weight = np.bincount(place.reshape(-1)).astype(np.float64)
        means = np.bincount(place.reshape(-1), weights=human) / weight
        blocks: list[tuple[float, float, int]] = []  # mean, weight, how many scores
        for mean, size in zip(means.tolist(), weight.tolist(), strict=True):
            block = (mean, size, 1)
            while blocks and blocks[-1][0] >= block[0]:
                last = blocks.pop()
                total = last[1] + block[1]
                block = ((last[0] * last[1] + block[0] * block[1]) / total, total, last[2] + block[2])
            blocks.append(block)
        return cls(scores, np.repeat([block[0] for block in blocks], [block[2] for block in blocks]))

    def predict(self, score: Numbers) -> Numbers:
        """The value of each score."""
        return np.interp(score, self.scores, self.values)


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
    """The proportional-odds model of `human` on `features` (rows x k), with a penalty of `ridge` / 2 per square weight.

    `rising` keeps every weight at 0 or above, so that a higher feature never lowers the grade. Features should be on
    a common scale, such as 0 to 1. Where all human values are equal the model always says that one.
    """
    from scipy.optimize import minimize

    levels, code = np.unique(human, return_inverse=True)
    k, free = features.shape[1], levels.size - 1
    if not free:
        return Ordinal(levels, np.zeros(0), np.zeros(k))
    counts = np.bincount(code.reshape(-1), minlength=levels.size).astype(np.float64)
    share = 1 - np.cumsum(counts)[:-1] / counts.sum()
    cuts = -np.log(share / (1 - share))
    start = np.concatenate([[cuts[0]], np.log(np.maximum(np.diff(cuts), 1e-3)), np.zeros(k)])
    lower = np.concatenate([[-np.inf], np.full(free - 1, -20.0), np.full(k, 0.0 if rising else -np.inf)])
    bounds = [(low if np.isfinite(low) else None, None) for low in lower]
    loss = _OrdinalLoss(features, code.reshape(-1).astype(np.int64), free, ridge)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500}).x
    return Ordinal(levels, loss.cuts(found), found[free:])


class _OrdinalLoss:
    """The penalised negative log-likelihood and its gradient. The cuts are one, and the logarithms of the gaps."""

    def __init__(self, features: Numbers, code: Integers, free: int, ridge: float) -> None:
        self.features, self.code, self.free, self.ridge = features, code, free, ridge

    def cuts(self, x: Numbers) -> Numbers:
        return np.cumsum(np.concatenate([x[:1], np.exp(x[1 : self.free])]))

    def __call__(self, x: Numbers) -> tuple[float, Numbers]:
        weights, cuts = x[self.free :], self.cuts(x)
        place = (self.features @ weights)[:, None]
        beyond = _logistic(place - cuts)
        slope = beyond * (1 - beyond)
        rows = np.arange(self.code.size)
        ones, zeros = np.ones((rows.size, 1)), np.zeros((rows.size, 1))
        padded = np.concatenate([ones, beyond, zeros], axis=1)
        slopes = np.concatenate([zeros, slope, zeros], axis=1)
        own = np.maximum(padded[rows, self.code] - padded[rows, self.code + 1], 1e-300)
        upper, lower = slopes[rows, self.code] / own, slopes[rows, self.code + 1] / own
        by_cut = np.bincount(self.code, upper, self.free + 1)[1:] - np.bincount(self.code, lower, self.free + 1)[:-1]
        gradient = np.empty_like(x)
        tail = np.cumsum(by_cut[::-1])[::-1]  # moving one cut moves all above it
        gradient[0] = tail[0]
        gradient[1 : self.free] = tail[1:] * np.exp(x[1 : self.free])
        gradient[self.free :] = -(self.features.T @ (upper - lower)) + self.ridge * weights
        return float(-np.log(own).sum() + self.ridge / 2 * weights @ weights), gradient


def _logistic(x: Numbers) -> Numbers:
    return 0.5 * (1 + np.tanh(x / 2))


class Segments(NamedTuple):
    """A score as rising features between 0 and 1: how far it has come from each knot to the next.

    With weights of 0 or more they make any rising broken line, so the logit of a grade need not be straight in the
    score.
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
