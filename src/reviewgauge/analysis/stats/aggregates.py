"""Totals of measurements as matrices: what `Metric.combine` reads, for many resamples at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers, ratio
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Parts


class MatrixAggregate:
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
    ) -> MatrixAggregate:
        """The bag of `values` (n x k) under `weights` (r x n).

        `sizes` (n) says how many measurements each row stands for, where rows are sums over a cluster; 1 by default.
        """
        counts = weights.sum(axis=1) if sizes is None else weights @ sizes
        return cls(names, np.ascontiguousarray((weights @ values).T), counts)

    @classmethod
    def of(cls, measurements: Sequence[Parts]) -> MatrixAggregate:
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
        """The quotient, NaN where the denominator is 0."""
        return ratio(numerator, denominator)


def readings_of(metric: Metric, bag: MatrixAggregate) -> Mapping[str, Numbers]:
    """What `metric` makes of `bag`: one array of r entries a reading, NaN wherever a reading is not a finite number."""
    with np.errstate(all="ignore"):
        raw = metric.combine(bag)
    clean: dict[str, Numbers] = {}
    for name, values in raw.items():
        array = np.broadcast_to(np.asarray(values, dtype=np.float64), bag.count.shape)
        clean[name] = np.where(np.isfinite(array), array, np.nan)
    return clean


ROUNDING = 1e-12  # a change of a reading this small is none


def reading_with(metric: Metric, names: Sequence[str], totals: Numbers, cases: int, reading: str) -> Numbers:
    """The reading of each row of totals (r x K) over `cases` cases: r values, NaN where undefined.

    Raises UserError for a reading that the metric does not have.
    """
    bag = MatrixAggregate(names, np.ascontiguousarray(totals.T), np.full(len(totals), float(cases)))
    found = readings_of(metric, bag)
    if reading not in found:
        raise UserError(f"no reading is called {reading!r}", remedy=f"there are: {', '.join(found)}")
    return np.asarray(found[reading], dtype=np.float64)


def swapped(total: Numbers, out: Numbers, into: Numbers) -> Numbers:
    """`total` (K) with the rows of `out` (r x K) taken out and those of `into` (r x K) put in: r x K."""
    return np.asarray(total - out + into)
