"""The smallest difference that a benchmark can detect, and how many changes a smaller one would take."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from reviewgauge.analysis.stats.sums import Numbers


def standard_error(draws: Numbers, clusters: int) -> float | None:
    """The bootstrap standard error of a statistic: the standard deviation of its resampled values.

    Resampling n clusters gives a variance that is (n - 1) / n of the unbiased one, so it is put right by
    n / (n - 1). NaN draws are left out. None with fewer than two clusters or two defined draws.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 6 and section 5.3.
    """
    defined = draws[np.isfinite(draws)]
    if clusters < 2 or defined.size < 2:
        return None
    return float(np.std(defined, ddof=1) * math.sqrt(clusters / (clusters - 1)))


def detectable_difference(error: float | None, *, power: float = 0.8, level: float = 0.05) -> float | None:
    """The smallest true difference that a two-sided test at `level` finds with probability `power`.

    It is (z[1 - level / 2] + z[power]) times the standard error of the paired difference: 2.80 standard errors by
    default. It rests on the normal approximation and on one comparison: a Holm correction over several needs more.
    None when the standard error is unknown or 0, since systems that never differ show nothing about how much
    they might. Source: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 2; Bloom,
    Minimum Detectable Effects, Evaluation Review 19 (1995), for the form used here.
    """
    if error is None or not math.isfinite(error) or error <= 0:
        return None
    normal = NormalDist()
    return (normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)) * error


def clusters_needed(detectable: float, clusters: int, difference: float) -> int:
    """How many clusters like these it takes to detect `difference`, when `clusters` of them detect `detectable`.

    The standard error shrinks with the square root of their number. Raises ValueError for a difference of 0.
    """
    if difference == 0:
        raise ValueError("no number of clusters detects a difference of 0")
    # Rounded first, so that the same difference asks for the same clusters and not for one more.
    return math.ceil(round(clusters * (detectable / abs(difference)) ** 2, 9))
