"""Metrics compared in pairs: does one agree better with people than another, on the rows that both scored?

Two correlations with the same human values rise and fall together, so that overlapping intervals say little about their
difference. Here each resample of the clusters gives both correlations, and the interval is that of their difference.
Sources: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 16 (paired resamples); Hesterberg
(2015): see bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import Resampler, difference_interval
from reviewgauge.analysis.stats.correlation import Rows, row_weights
from reviewgauge.analysis.validity.human_values import HumanValues, Key
from reviewgauge.analysis.validity.review_table import ReviewTable, join
from reviewgauge.core.reports.validity import Figure, MetricDifference, MetricValidity

Values = Mapping[Key, float | str]


@dataclass(frozen=True, eq=False)
class PairedMetrics:
    """The metrics of one dimension, what each says of the reviews, and -1 for each of which less is better."""

    bench: ReviewTable
    human: HumanValues
    found: Sequence[MetricValidity]
    values: Sequence[Values]
    signs: Sequence[float]
    resampler: Resampler
    _drawn: dict[tuple[int, bytes], Numbers] = field(default_factory=dict)

    def differences(self) -> Iterator[MetricDifference]:
        """The best metric less each other one, then each other metric less each baseline; fakes are not compared."""
        rho = [None if m.fake or not m.correlations else m.correlations[0].spearman.value for m in self.found]
        defined = [at for at, value in enumerate(rho) if value is not None]
        ranked = sorted((at for at in defined if not self.found[at].baseline), key=lambda at: -(rho[at] or 0.0))
        for first in ranked:
            for other in defined:
                if other != first and (first == ranked[0] or self.found[other].baseline):
                    yield self._compared(first, other)

    def _compared(self, first: int, second: int) -> MetricDifference:
        one, two = self.found[first], self.found[second]
        pair = (self.values[first], self.values[second])
        common = set.intersection(*({key for key, v in own.items() if not isinstance(v, str)} for own in pair))
        rows = [self._rows(at, common) for at in (first, second)]
        named = {"metric": one.metric, "measure": one.measure, "other": two.metric, "other_measure": two.measure}
        if reason := rows[0].undefined or rows[1].undefined:
            figure = Figure(value=None, n=rows[0].n, reason=reason)
            return MetricDifference(dimension=one.dimension, **named, value=None, other_value=None, difference=figure)
        whole = np.ones((1, rows[0].n))
        values = [float(own.spearman(whole)[0]) for own in rows]
        gaps = self._draws(first, rows[0]) - self._draws(second, rows[1])
        return MetricDifference(
            dimension=one.dimension,
            **named,
            value=values[0],
            other_value=values[1],
            difference=_figure(values[0] - values[1], rows[0], gaps),
        )

    def _rows(self, at: int, keys: set[Key]) -> Rows:
        judged = join(self.bench, self.human, {key: self.values[at][key] for key in keys})
        return Rows(self.signs[at] * judged.score, judged.human, judged.cluster)

    def _draws(self, at: int, rows: Rows) -> Numbers:
        """The correlation in each resample; kept, as most pairs have the same rows."""
        key = (at, rows.score.tobytes())
        if key not in self._drawn:
            drawn = [rows.spearman(weights) for weights in row_weights(rows.cluster, self.resampler)]
            self._drawn[key] = np.concatenate([np.zeros(0), *drawn])
        return self._drawn[key]


def _figure(value: float, rows: Rows, gaps: Numbers) -> Figure:
    clusters = int(np.unique(rows.cluster).size)
    if clusters < 2 or not gaps.size:
        return Figure(value=value, n=rows.n, reason="only one cluster, so no interval")
    low, high, undefined = difference_interval(gaps, clusters)
    reason = "" if low is not None else f"no interval: undefined in {undefined:.0%} of the resamples"
    return Figure(value=value, low=low, high=high, n=rows.n, reason=reason)
