"""Aligned scores and human values with their resamples: the input of every table of the validity report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Integers, Numbers, ratio
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.stats.correlation import correlate, figure_of, interval_figure, spearman_only, spearman_within
from reviewgauge.core.reports.validity import Figure


@dataclass(frozen=True, eq=False)
class RowSample:
    """n rows. `grade` is `human` on the steps of its scale, None where there are too many.

    Where less is better, `oriented` is negated, so that more always means better.
    """

    score: Numbers
    human: Numbers
    grade: Numbers | None
    cluster: Integers
    resampler: Resampler
    level: float = 0.95
    less_is_better: bool = False

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.score.size)

    @property
    def sign(self) -> float:
        """-1 where less is better."""
        return -1.0 if self.less_is_better else 1.0

    @cached_property
    def oriented(self) -> Numbers:
        """The scores with more being better."""
        return self.sign * self.score

    @property
    def clusters(self) -> int:
        """The number of clusters of the rows."""
        return int(np.unique(self.cluster).size)

    def rows(self, chosen: Flags) -> RowSample:
        """The chosen rows, under the same resamples."""
        return RowSample(
            self.score[chosen],
            self.human[chosen],
            None if self.grade is None else self.grade[chosen],
            self.cluster[chosen],
            self.resampler,
            self.level,
            self.less_is_better,
        )

    def correlations(self) -> dict[str, Figure]:
        """Pearson, Spearman and Kendall of the oriented scores with the human values."""
        return correlate(self.oriented, self.human, self.cluster, self.resampler, level=self.level)

    def spearman(self, values: Numbers | None = None) -> Figure:
        """Spearman's rho of the human values with `values` (more is better), by default with the oriented scores."""
        found = self.oriented if values is None else values
        return spearman_only(found, self.human, self.cluster, self.resampler, level=self.level)

    def spearman_within(self, values: Numbers, group: Integers) -> Figure:
        """The mean of Spearman's rho of the human values with `values` within each group of rows."""
        return spearman_within(values, self.human, self.cluster, group, self.resampler, level=self.level)

    def human_mean(self) -> Figure:
        """The mean of the human values."""
        return interval_figure(
            float(self.human.mean()), self.n, self.cluster, self.resampler, self._means, level=self.level
        )

    def figure(self, value: float, draws: Numbers, *, n: int | None = None, p: float | None = None) -> Figure:
        """A figure of all rows with the interval of its resampled draws."""
        return figure_of(value, self.n if n is None else n, draws, self.cluster, level=self.level, p=p)

    def undefined(self, reason: str, *, n: int | None = None) -> Figure:
        """A figure without a value."""
        return Figure(value=None, n=self.n if n is None else n, level=self.level, reason=reason)

    def _means(self, weights: Numbers) -> Numbers:
        return ratio(weights @ self.human, weights.sum(axis=1))
