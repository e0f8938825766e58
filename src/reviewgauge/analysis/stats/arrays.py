"""Array types and totals of measurements as matrices: what `Metric.combine` reads, for many resamples at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from typing_extensions import override

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Parts
from reviewgauge.core.specs import near_names

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


def ratio(numerator: Numbers, denominator: Numbers) -> Numbers:
    """The quotient, broadcast over both arguments, NaN where the denominator is 0."""
    with np.errstate(all="ignore"):
        quotient: Numbers = np.asarray(np.true_divide(numerator, denominator))
    np.copyto(quotient, np.nan, where=np.equal(denominator, 0))
    return quotient


class MatrixAggregate:
    """The `Aggregate` of core/protocols as arrays: totals of parts over r resamples of one set of measurements.

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
        """The aggregate of `values` (n x k) under `weights` (r x n).

        Where rows are sums over clusters, `sizes` (n) are their numbers of measurements; 1 by default.
        """
        counts = weights.sum(axis=1) if sizes is None else weights @ sizes
        return cls(names, np.ascontiguousarray((weights @ values).T), counts)

    @classmethod
    def of(cls, measurements: Sequence[Parts]) -> MatrixAggregate:
        """The aggregate of these measurements, each counted once (r = 1)."""
        names = sorted({name for parts in measurements for name in parts})
        values = np.array([[parts.get(name, 0.0) for name in names] for parts in measurements], dtype=np.float64)
        return cls.resampled(names, values.reshape(len(measurements), len(names)), np.ones((1, len(measurements))))

    @property
    def names(self) -> Sequence[str]:
        """The names of the parts."""
        return self._names

    @property
    def count(self) -> Numbers:
        """The weighted number of measurements (r)."""
        return self._count

    def total(self, name: str) -> Numbers:
        """The sum of a part (r); zeros for a part that does not occur."""
        row = self._rows.get(name)
        return np.zeros_like(self._count) if row is None else self._totals[row]

    def ratio(self, numerator: Numbers, denominator: Numbers) -> Numbers:
        """The quotient, NaN where the denominator is 0."""
        return ratio(numerator, denominator)


def measures_of(metric: Metric, aggregate: MatrixAggregate) -> Mapping[str, Numbers]:
    """Measure -> its r values, NaN where it is not a finite number."""
    with np.errstate(all="ignore"):
        raw = metric.combine(aggregate)
    clean: dict[str, Numbers] = {}
    for name, values in raw.items():
        array = np.asarray(values, dtype=np.float64)
        array = array if array.shape == aggregate.count.shape else np.broadcast_to(array, aggregate.count.shape)
        finite = np.isfinite(array)
        clean[name] = array if finite.all() else np.where(finite, array, np.nan)
    return clean


class _Every(tuple[str, ...]):
    def __contains__(self, name: object) -> bool:
        return True


class _Unmeasured(MatrixAggregate):
    """One part, beside which every other seems to be there: so a metric names also the measures that need some."""

    @property
    @override
    def names(self) -> Sequence[str]:
        return _Every(super().names)


def known_measures(metric: Metric) -> list[str]:
    """The measures that a metric has before anything is measured; empty where they follow from the parts."""
    aggregate = _Unmeasured(["?"], np.zeros((1, 1)), np.ones(1))
    try:
        found = list(measures_of(metric, aggregate))
    except Exception:  # a plug-in's own, which may count on its parts
        return []
    return [] if not found or any("?" in name for name in found) else found


def measures_of_totals(metric: Metric, names: Sequence[str], totals: Numbers) -> Mapping[str, Numbers]:
    """The measures of rows of totals: r x (K + 1), the last column being the number of measurements."""
    columns = np.ascontiguousarray(totals.T)
    return measures_of(metric, MatrixAggregate(names, columns[:-1], columns[-1]))


ROUNDING = 1e-12  # a change of a measure below this is rounding


def no_measure(metric: Metric, measure: str, known: Iterable[str]) -> UserError:
    """The error of a measure that a metric does not have."""
    near, there = near_names(measure, list(known)), ", ".join(known)
    hint = f"did you mean {near[0]}?" if near else f"there are: {there}"
    if measure == metric.headline:
        hint = f"set headline in {type(metric).__name__} to one of: {there}"
    return UserError(f"there is no measure {measure!r}", remedy=hint)


def measure_with(metric: Metric, names: Sequence[str], totals: Numbers, cases: int, measure: str) -> Numbers:
    """The measure of each row of totals (r x K) over `cases` cases: r values, NaN where undefined.

    Raises UserError for a measure that the metric does not have.
    """
    found = measures_of_totals(metric, names, np.column_stack([totals, np.full(len(totals), float(cases))]))
    if measure not in found:
        raise no_measure(metric, measure, found)
    return np.asarray(found[measure], dtype=np.float64)


def swapped(total: Numbers, out: Numbers, into: Numbers) -> Numbers:
    """`total` (K) minus each row of `out` (r x K) plus the same row of `into` (r x K): r x K.

    With a case's parts as rows this is the effect of one case on the measure, also for measures that are not means
    and on cases where the measure alone is undefined (a false comment on a clean change lowers F1).
    """
    return np.asarray(total - out + into)
