"""Fitting the lexical judges: logistic regression with an L2 penalty, Platt scaling, choice of a threshold.

numpy only, deterministic, so that anyone can refit with the base install.
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


def _newton(z: Array, target: Array, weights: Array, ridge: Array, start: Array) -> Array:
    """Minimise sum(w * cross entropy) + ridge . theta^2 / 2 by Newton's method with step halving (convex)."""

    def loss(theta: Array) -> float:
        logits = z @ theta
        return float(weights @ (np.logaddexp(0.0, logits) - target * logits)) + float(ridge @ theta**2) / 2

    theta, value = start, loss(start)
    for _ in range(100):
        p = sigmoid(z @ theta)
        slope = z.T @ (weights * (p - target)) + ridge * theta
        curve = (z * (weights * p * (1 - p))[:, None]).T @ z + np.diag(ridge + 1e-9)
        step = np.linalg.solve(curve, slope)
        size = 1.0
        while (new := loss(theta - size * step)) > value and size > 1e-6:
            size /= 2
        if value - new <= 1e-10 * max(1.0, abs(value)):
            break
        theta, value = theta - size * step, new
    return theta


def fit_logistic(x: Array, y: Flags, c: float = 0.3, weights: Array | None = None) -> Logistic:
    """L2-penalised logistic regression on standardised columns; `c` is the inverse penalty, as in scikit-learn.

    Minimises sum(w * log loss) + |coefficients|^2 / (2 c); the intercept is not penalised. The signs are left free:
    holding them to what each feature "should" say costs .02 kappa out of the repository.
    """
    means, scales = x.mean(axis=0), x.std(axis=0)
    scales = np.where(scales > 1e-9, scales, 1.0)
    z = np.column_stack([np.ones(len(y)), (x - means) / scales])
    ridge = np.concatenate([[0.0], np.full(x.shape[1], 1 / c)])
    theta = _newton(z, y.astype(float), np.ones(len(y)) if weights is None else weights, ridge, np.zeros(z.shape[1]))
    return Logistic(
        float(theta[0]),
        tuple(float(v) for v in theta[1:]),
        tuple(float(v) for v in means),
        tuple(float(v) for v in scales),
    )


def fit_platt(logits: Array, y: Flags) -> tuple[float, float]:
    """(slope, intercept) of Platt's sigmoid, with his smoothed targets (Platt 1999)."""
    positives, negatives = float(y.sum()), float((~y).sum())
    target = np.where(y, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    z = np.column_stack([logits, np.ones(len(y))])
    slope, intercept = _newton(z, target, np.ones(len(y)), np.zeros(2), np.array([1.0, 0.0]))
    return float(slope), float(intercept)


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
