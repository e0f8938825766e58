"""Bags of measurements as matrices: what `Metric.combine` is handed, many resamples at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Parts

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


class MatrixBag:
    """The `Bag` of core/protocols: totals of parts over r resamples of one set of measurements.

    `totals` is k x r (parts x resamples), `count` has r entries: the weighted number of measurements.
    """

    def __init__(self, names: Sequence[str], totals: Numbers, count: Numbers) -> None:
        if totals.shape != (len(names), count.shape[0]):
            raise ValueError(f"totals are {totals.shape}, expected {(len(names), count.shape[0])}")
        self._names = tuple(names)
        self._rows = {name: row for row, name in enumerate(self._names)}
        self._totals = totals
        self._count = count

    @classmethod
    def resampled(
        cls, names: Sequence[str], values: Numbers, weights: Numbers, sizes: Numbers | None = None
    ) -> MatrixBag:
        """The bag of `values` (n x k) under `weights` (r x n).

        `sizes` (n) says how many measurements each row stands for, where rows are sums over a cluster; 1 by default.
        """
        counts = weights.sum(axis=1) if sizes is None else weights @ sizes
        return cls(names, np.ascontiguousarray((weights @ values).T), counts)

    @classmethod
    def of(cls, measurements: Sequence[Parts]) -> MatrixBag:
        """The bag of these measurements, each counted once (r = 1)."""
        names = sorted({name for parts in measurements for name in parts})
        values = np.array([[parts.get(name, 0.0) for name in names] for parts in measurements], dtype=np.float64)
        return cls.resampled(names, values.reshape(len(measurements), len(names)), np.ones((1, len(measurements))))

    @property
    def names(self) -> Sequence[str]:
        """The parts that occur."""
        return self._names

    @property
    def count(self) -> Numbers:
        """The weighted number of measurements, one entry a resample."""
        return self._count

    def total(self, name: str) -> Numbers:
        """The sum of a part, one entry a resample; zeros for a part that does not occur."""
        row = self._rows.get(name)
        return np.zeros_like(self._count) if row is None else self._totals[row]

    def ratio(self, numerator: Numbers, denominator: Numbers) -> Numbers:
        """Their quotient, NaN where the denominator is 0."""
        top, bottom = np.broadcast_arrays(
            np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
        )
        quotient: Numbers = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom != 0)
        return quotient


def readings_of(metric: Metric, bag: MatrixBag) -> Mapping[str, Numbers]:
    """What `metric` makes of `bag`: one array of r entries a reading, NaN wherever a reading is not a finite number."""
    with np.errstate(all="ignore"):
        raw = metric.combine(bag)
    clean: dict[str, Numbers] = {}
    for name, values in raw.items():
        array = np.broadcast_to(np.asarray(values, dtype=np.float64), bag.count.shape)
        clean[name] = np.where(np.isfinite(array), array, np.nan)
    return clean
