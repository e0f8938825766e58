"""Fitting the lexical judges: logistic regression with an L2 penalty, Platt scaling, choice of a threshold.

numpy and scipy only, deterministic, so that anyone can refit with the base install.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Logistic:
    """logit = intercept + sum of coefficient * (x - mean) / scale."""

    intercept: float
    coefficients: tuple[float, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]

    def logits(self, x: Array) -> Array:
        """One logit per row of `x`."""
        standardised = (x - np.asarray(self.means)) / np.asarray(self.scales)
        return np.asarray(self.intercept + standardised @ np.asarray(self.coefficients), dtype=float)


def sigmoid(z: Array) -> Array:
    """1 / (1 + exp(-z)), without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * z)), dtype=float)


def fit_logistic(x: Array, y: Flags, c: float = 0.3, weights: Array | None = None) -> Logistic:
    """L2-penalised logistic regression on standardised columns; `c` is the inverse penalty, as in scikit-learn.

    Minimises sum(w * log loss) + |coefficients|^2 / (2 c) with L-BFGS; the intercept is not penalised. The signs
    are left free: holding them to what each feature "should" say costs .02 kappa out of the repository.
    """
    from scipy.optimize import minimize

    w = np.ones(len(y)) if weights is None else weights
    means, scales = x.mean(axis=0), x.std(axis=0)
    scales = np.where(scales > 1e-9, scales, 1.0)
    z, sign = (x - means) / scales, np.where(y, 1.0, -1.0)

    def loss(theta: Array) -> tuple[float, Array]:
        margin = sign * (theta[0] + z @ theta[1:])
        slope = -w * sign * sigmoid(-margin)
        value = float(w @ np.logaddexp(0.0, -margin)) + float(theta[1:] @ theta[1:]) / (2 * c)
        return value, np.concatenate([[slope.sum()], z.T @ slope + theta[1:] / c])

    start = np.zeros(x.shape[1] + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    return Logistic(
        float(found.x[0]),
        tuple(float(v) for v in found.x[1:]),
        tuple(float(v) for v in means),
        tuple(float(v) for v in scales),
    )


def fit_platt(logits: Array, y: Flags) -> tuple[float, float]:
    """(slope, intercept) of Platt's sigmoid, with his smoothed targets (Platt 1999)."""
    from scipy.optimize import minimize

    positives, negatives = float(y.sum()), float((~y).sum())
    target = np.where(y, (positives + 1) / (positives + 2), 1 / (negatives + 2))

    def loss(theta: Array) -> tuple[float, Array]:
        z = theta[0] * logits + theta[1]
        error = sigmoid(z) - target
        value = float((np.logaddexp(0.0, z) - target * z).sum())
        return value, np.array([float(error @ logits), float(error.sum())])

    found = minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B")
    return float(found.x[0]), float(found.x[1])


def kappa(one: Flags, other: Flags) -> float:
    """Cohen's kappa of two binary raters; NaN when chance agreement is complete."""
    if len(one) == 0:
        return float("nan")
    agreed = float((one == other).mean())
    p, q = float(one.mean()), float(other.mean())
    chance = p * q + (1 - p) * (1 - q)
    return (agreed - chance) / (1 - chance) if chance < 1 else float("nan")


def best_threshold(scores: Array, y: Flags) -> float:
    """The threshold with the largest kappa; the middle of the best plateau, smoothed over neighbours."""
    grid = np.linspace(0.02, 0.98, 97)
    values = np.array([kappa(scores >= t, y) for t in grid])
    smooth = np.convolve(np.pad(values, 3, mode="edge"), np.ones(7) / 7, mode="valid")
    top = np.flatnonzero(smooth >= smooth.max() - 1e-12)
    return round(float(grid[top[len(top) // 2]]), 3)


def grouped_folds(groups: Sequence[str], folds: int) -> list[Flags]:
    """`folds` masks of held-out rows; rows of one group stay together. Deterministic: groups sorted, dealt in turn."""
    place = {group: index % folds for index, group in enumerate(sorted(set(groups)))}
    held = np.array([place[group] for group in groups])
    return [held == fold for fold in range(folds) if (held == fold).any()]
