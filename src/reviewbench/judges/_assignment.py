"""One-to-one assignment of comments to references by probability, and what it leaves each reference with."""

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
    """The probability, after assignment, that each reference was raised: one number per column.

    A reference that is assigned its best comment keeps that probability. One that loses its best comment to another
    reference gets the smaller of what it was assigned and its own maximum minus `penalty`, so that one comment does
    not count in full for two findings; nothing assigned counts as 0. `penalty` is in units of probability.
    """
    references = probabilities.shape[1]
    scores = np.zeros(references)
    if probabilities.size == 0:
        return scores
    known = np.nan_to_num(probabilities, nan=0.0)
    for row, column in assign(probabilities):
        scores[column] = known[row, column]
    best = known.max(axis=0)
    lost = scores < best
    scores[lost] = np.minimum(scores[lost], np.maximum(best[lost] - penalty, 0.0))
    return scores
