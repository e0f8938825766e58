"""The p-value of a rank correlation, also of so few values that the usual approximation is none.

Of n values the rarest order has the probability 1 / n!, and both ends count: four systems in one order have p 1/12, and
Student's distribution says 0. Sources: Kendall and Gibbons, Rank Correlation Methods (1990), chapter 4; Phipson and
Smyth, Permutation p-values should never be zero, SAGMB 9 (2010).
"""

from __future__ import annotations

import math
import warnings
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np

from reviewgauge.analysis.stats.sums import Numbers

EXACT = 8  # values up to which every order is counted; beyond, Student's distribution is as good
_ROUNDING = 1e-9

Integers = np.ndarray[Any, np.dtype[np.int64]]


def spearman_p(first: Numbers, second: Numbers) -> float | None:
    """The two-sided p-value of Spearman's rho; None where rho is undefined.

    The share of all orders in which rho is as far from 0, ties included; of more than 8 values scipy's, but never less
    than the share of the two rarest orders.
    """
    from scipy import stats

    n = first.size
    if n > EXACT:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of constant input, for which the answer is None
            found = float(stats.spearmanr(first, second).pvalue)
        return max(found, 2 / math.factorial(min(n, 170))) if math.isfinite(found) else None
    one, other = (stats.rankdata(values) - (n + 1) / 2 for values in (first, second))
    if n < 2 or not one.any() or not other.any():
        return None
    here = abs(float(one @ other))
    return float((np.abs(one[_orders(n)] @ other) >= here - _ROUNDING).mean())


@cache
def _orders(n: int) -> Integers:
    """Every order of the places below n (n! x n)."""
    return np.array(list(permutations(range(n))), dtype=np.int64)
