"""Figures of tables of predicted against true grades, many tables at once: ... x k x k, rows are predictions.

What is undefined is NaN here, for the callers to say why. Sources: Cohen, Weighted kappa, Psychological Bulletin 70
(1968); Brodersen et al., The balanced accuracy and its posterior distribution, ICPR 2010.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reviewgauge.analysis.stats.sums import Numbers

Integers = np.ndarray[Any, np.dtype[np.int64]]


class Rates(NamedTuple):
    """Precision, recall and F1 of each grade (... x k).

    A grade that was never predicted has no precision, one that never occurred no recall, one that did neither no F1.
    """

    precision: Numbers
    recall: Numbers
    f1: Numbers


def confusion(predicted: Integers, true: Integers, k: int) -> Numbers:
    """How often each grade 0 to k-1 was predicted (row) where each was true (column)."""
    return np.bincount(predicted * k + true, minlength=k * k).reshape(k, k).astype(np.float64)


def rates(tables: Numbers) -> Rates:
    """Precision, recall and F1 by grade."""
    hits = np.diagonal(tables, axis1=-2, axis2=-1)
    said, there = tables.sum(axis=-1), tables.sum(axis=-2)
    return Rates(ratio(hits, said), ratio(hits, there), ratio(2 * hits, said + there))


def accuracy(tables: Numbers) -> Numbers:
    """The share of exact agreement."""
    return ratio(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def balanced_accuracy(tables: Numbers) -> Numbers:
    """The mean recall over the grades that occur: 1/k for saying one grade always."""
    recall = rates(tables).recall
    there = np.isfinite(recall)
    return ratio(np.where(there, recall, 0.0).sum(axis=-1), there.sum(axis=-1))


def quadratic_kappa(tables: Numbers, grades: Numbers) -> Numbers:
    """Cohen's kappa weighted by the squared distance of the `grades` (k); undefined where both sides are one grade."""
    cost = (grades[:, None] - grades[None, :]) ** 2
    total = tables.sum(axis=(-2, -1))
    by_chance = tables.sum(axis=-1)[..., :, None] * tables.sum(axis=-2)[..., None, :]
    observed = (tables * cost).sum(axis=(-2, -1)) * total
    return 1 - ratio(observed, (by_chance * cost).sum(axis=(-2, -1)))


def ratio(top: Numbers, bottom: Numbers) -> Numbers:
    """Their quotient, NaN where the bottom is 0."""
    found: Numbers = np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom != 0)
    return found
