"""The array types that the statistics share, and a division that is NaN where it is undefined."""

from __future__ import annotations

from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


def ratio(numerator: Numbers, denominator: Numbers) -> Numbers:
    """The quotient, broadcast over both arguments, NaN where the denominator is 0."""
    top, bottom = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    quotient: Numbers = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom != 0)
    return quotient
