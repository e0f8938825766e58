"""One-to-one assignment of comments to references by probability, and the scores that follow from it."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def assign(probabilities: Array) -> list[tuple[int, int]]:
    """(row, column) pairs, at most one per row and per column, with the largest sum of probabilities.

    `probabilities` has one row per comment and one column per reference; NaN is a pair that nobody judged and is
    never assigned, nor is a pair of probability 0. Kuhn-Munkres by `scipy.optimize.linear_sum_assignment`.
    """
    if probabilities.size == 0:
        return []
    from scipy.optimize import linear_sum_assignment

    known = np.nan_to_num(probabilities, nan=0.0)
    rows, columns = linear_sum_assignment(known, maximize=True)
    return [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if known[r, c] > 0]


def golden_scores(probabilities: Array, penalty: float) -> Array:
    """The probability that each reference was raised, once comments are shared out: one number per column.

    A reference that is assigned its best comment keeps that probability. One that loses its best comment to another
    reference falls below its own maximum: to that maximum minus `penalty`, or to what it was assigned if that is
    more. It does not fall to 0, because one comment can raise two findings. `penalty` is in units of probability.
    """
    scores = assigned_scores(probabilities)
    if probabilities.size == 0:
        return scores
    best = np.nan_to_num(probabilities, nan=0.0).max(axis=0)
    return np.asarray(np.maximum(scores, np.where(scores < best, best - penalty, best)), dtype=float)


def assigned_scores(probabilities: Array) -> Array:
    """The probability of each reference's assigned comment, 0 without one: one number per column."""
    scores = np.zeros(probabilities.shape[1])
    for row, column in assign(probabilities):
        scores[column] = probabilities[row, column]
    return scores


def shared_out(probabilities: Array) -> Array:
    """The probability of each comment's assigned reference, 0 without one: one number per row."""
    return assigned_scores(probabilities.T)
