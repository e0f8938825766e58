"""Cluster bootstrap: resampled measures of any metric, in bounded memory.

Parts are additive, so they are summed over each cluster once, and a resample is a row of cluster weights: all
resamples of all systems are one matrix product. All systems share the weights, so differences are paired.
Sources: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13 (percentile intervals);
Field and Welsh, Bootstrapping clustered data, JRSS B 69 (2007) (resampling whole clusters); Hesterberg, What Teachers
Should Know About the Bootstrap, The American Statistician 69 (2015), section 4.1 (percentiles expanded for few
clusters).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, Integers, MatrixAggregate, Numbers, measures_of, measures_of_totals
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import PAIR, Case

ENOUGH_REPOSITORIES = 20
FEW_CLUSTERS = 20
LEVEL = 0.95  # of every interval
UNDEFINED_LIMIT = 0.05
REPOSITORY, PULL, HOST, CHANGE = "repository", "pull request", "host", "change"  # what is resampled whole
_CHUNK_CELLS = 1_000_000  # 8 MB of weights at a time
_KEPT_CELLS = 16_000_000

Counts = np.ndarray[tuple[int, ...], np.dtype[np.uint32]]


@dataclass(frozen=True)
class Clusters:
    """The units that are resampled whole. `index` (n cases) is each case's cluster, -1 where it is not used."""

    by: str
    labels: tuple[str, ...]
    index: Integers
    repositories: int

    @property
    def count(self) -> int:
        """The number of clusters."""
        return len(self.labels)

    def narrow(self, cases: Flags) -> Clusters:
        """The same clusters, those of `cases` alone."""
        kept = np.unique(self.index[cases])
        index = np.where(cases, np.searchsorted(kept, self.index), -1)
        return Clusters(self.by, tuple(self.labels[at] for at in kept), index, self.repositories)

    def warnings(self, expanded: bool = False) -> list[str]:
        """Warnings to show beside intervals over these clusters; `expanded` ones are wide enough with few."""
        found: list[str] = []
        unit = CHANGE if self.by == REPOSITORY else self.by
        if self.by != REPOSITORY and self.repositories > 1 and not expanded:
            found.append(f"{self.repositories} repositories, too few to say how far the result holds for others")
        if self.count == 1:
            found.append(f"only 1 {unit} with a score: an interval needs at least 2")
        elif 1 < self.count < FEW_CLUSTERS and not expanded:
            found.append(
                f"only {self.count} {unit}s with a score: percentile intervals from fewer than {FEW_CLUSTERS} "
                "are too narrow"
            )
        return found


def cluster_cases(cases: Sequence[Case], used: Flags) -> Clusters:
    """Cluster the `used` cases by repository where there are at least 20, else by pull request or host.

    The fact `pull` names the pull request: several revisions or hunks of one are not independent cases. The fact `pair`
    names the host of injected defects and their twin.
    """
    repositories = sorted({case.change.repo for case, flag in zip(cases, used, strict=True) if flag})
    by_repository = len(repositories) >= ENOUGH_REPOSITORIES
    keys = [case.change.repo if by_repository else _whole(case) for case in cases]
    labels = sorted({key for key, flag in zip(keys, used, strict=True) if flag})
    position = {label: at for at, label in enumerate(labels)}
    index = np.array([position[key] if flag else -1 for key, flag in zip(keys, used, strict=True)], dtype=np.int64)
    by = CHANGE if len(labels) == np.count_nonzero(used) else HOST if any(PAIR in c.facts for c in cases) else PULL
    by = REPOSITORY if by_repository else by
    return Clusters(by, tuple(labels), index, len(repositories))


def _whole(case: Case) -> str:
    """The case's host or pull request, where the fact is set; else the case itself."""
    pull = case.facts.get(PAIR, case.facts.get("pull"))
    return case.id if pull is None else f"{case.change.repo}\x1f{pull}"


def sum_by_cluster(values: Numbers, clusters: Clusters) -> Numbers:
    """Sums of `values` (systems x cases x parts) over each cluster: systems x clusters x parts."""
    order = np.argsort(clusters.index, kind="stable")
    order = order[clusters.index[order] >= 0]
    if not order.size:
        return np.zeros((values.shape[0], 0, values.shape[2]))
    starts = np.flatnonzero(np.diff(clusters.index[order], prepend=-1))
    return np.add.reduceat(values[:, order], starts, axis=1)


@dataclass(frozen=True)
class Resampler:
    """`resamples` draws of n clusters from n with replacement. The same seed and n give the same draws.

    Draws that fit into 64 MB are kept for the next slice or pair; others are drawn again.
    """

    clusters: int
    resamples: int
    seed: int

    def __post_init__(self) -> None:
        """Raises UserError for a negative seed."""
        if self.seed < 0:
            raise UserError(f"seed must not be negative, got {self.seed}", remedy="0 is the default")

    def weights(self) -> Iterator[Numbers]:
        """How often each cluster was drawn, in chunks of rows (rows x clusters)."""
        kept = self.clusters * self.resamples <= _KEPT_CELLS
        for counts in self._kept if kept else self._draw():
            yield counts.astype(np.float64)

    @cached_property
    def _kept(self) -> list[Counts]:
        return list(self._draw())

    def _draw(self) -> Iterator[Counts]:
        n = self.clusters
        rows = max(16, _CHUNK_CELLS // max(n, 1))
        for chunk, start in enumerate(range(0, self.resamples if n else 0, rows)):
            here = min(rows, self.resamples - start)
            drawn = np.random.default_rng([self.seed, chunk]).integers(0, n, size=(here, n))
            drawn += np.arange(here)[:, None] * n
            yield np.bincount(drawn.ravel(), minlength=here * n).reshape(here, n).astype(np.uint32)


@dataclass(frozen=True)
class Resamples:
    """How intervals are made: the number of resamples and their seed."""

    resamples: int = 1_000
    seed: int = 0

    def over(self, names: Sequence[str]) -> tuple[Integers, Resampler]:
        """(the cluster of each row, counted from 0; the resampler of clusters)."""
        distinct, index = np.unique(np.array(names, dtype=str), return_inverse=True)
        return index.reshape(-1).astype(np.int64), Resampler(max(1, int(distinct.size)), self.resamples, self.seed)


class Measures(NamedTuple):
    """Measures of several systems. `values` is measures x systems x resamples, NaN where undefined."""

    names: tuple[str, ...]
    values: Numbers

    def of(self, name: str, system: int) -> Numbers:
        """One system's values of one measure, one a resample; all undefined for an unknown measure."""
        if name not in self.names:
            return np.full(max(self.values.shape[2], 1), np.nan)
        found: Numbers = self.values[self.names.index(name), system]
        return found


def point_measures(metric: Metric, names: Sequence[str], sums: Numbers, sizes: Numbers) -> Measures:
    """The measures of each system from its sums by cluster (systems x clusters x parts), every cluster once."""
    found = measures_of_totals(metric, names, np.column_stack([sums.sum(axis=1), sizes.sum(axis=1)]))
    return Measures(tuple(found), np.array(list(found.values())).reshape(len(found), len(sums), 1))


def resampled_measures(
    metric: Metric, names: Sequence[str], sums: Numbers, sizes: Numbers, resampler: Resampler
) -> Measures:
    """The measures of every system under every resample.

    `sums` is systems x clusters x parts, `sizes` systems x clusters (measurements in each cluster).
    """
    systems, _, width = sums.shape
    table = np.concatenate([sums, sizes[:, :, None]], axis=2)
    active = np.flatnonzero(table.any(axis=(0, 2)))
    columns = np.ascontiguousarray(table[:, active].transpose(2, 0, 1)).reshape((width + 1) * systems, active.size)
    numbers: dict[bytes, int] = {}  # systems share many rows, such as the number of findings: each is summed once
    same = [numbers.setdefault(row.tobytes(), len(numbers)) for row in columns]
    distinct = columns[np.unique(same, return_index=True)[1]]
    all_active = active.size == resampler.clusters
    found: Mapping[str, Numbers] = {}
    pieces: list[Numbers] = []
    for weights in resampler.weights():
        drawn = weights if all_active else weights[:, active]
        totals = (distinct @ drawn.T)[same].reshape(width + 1, -1)
        found = measures_of(metric, MatrixAggregate(names, totals[:-1], totals[-1]))
        pieces.append(np.array(list(found.values())).reshape(len(found), systems, len(weights)))
    return Measures(tuple(found), np.concatenate(pieces or [np.zeros((0, systems, 0))], axis=2))


def resampled_sums(values: Numbers, cluster: Integers, resampler: Resampler) -> Numbers:
    """The sums of `values` (rows x k) under each resample of the rows' clusters (resamples x k)."""
    sums = np.zeros((resampler.clusters, values.shape[1]))
    np.add.at(sums, cluster, values)
    return np.concatenate([np.zeros((0, sums.shape[1])), *(weights @ sums for weights in resampler.weights())])


class Interval(NamedTuple):
    """A percentile interval; `undefined` is the share of resamples in which the measure had no value."""

    low: float | None
    high: float | None
    undefined: float


def percentile_interval(draws: Numbers, level: float = LEVEL) -> Interval:
    """The middle `level` of the defined draws; no interval if more than 5% are undefined."""
    if not draws.size:
        return Interval(None, None, 1.0)
    defined = draws[np.isfinite(draws)]
    undefined = (draws.size - defined.size) / draws.size
    if not defined.size or undefined > UNDEFINED_LIMIT:
        return Interval(None, None, undefined)
    ends = (1 - level) / 2 * (defined.size - 1), (1 + level) / 2 * (defined.size - 1)  # among the sorted draws
    beside = [int(at) for end in ends for at in (math.floor(end), math.ceil(end))]
    low, high = np.interp(ends, beside, np.partition(defined, beside)[beside])  # np.quantile takes three times as long
    return Interval(float(low), float(high), undefined)


def difference_interval(gaps: Numbers, clusters: int) -> Interval:
    """The interval of a paired difference from its draws, with percentiles expanded for few clusters (2 or more).

    They cover as often as a 95% t interval of as many observations does.
    """
    return percentile_interval(gaps, math.erf(math.sqrt(clusters / (clusters - 1) / 2) * student_t(clusters - 1)))


@lru_cache
def student_t(degrees: int) -> float:
    """What 95% of Student's distribution lie within (Abramowitz and Stegun 1964, 26.7.3-4): scipy is slow to import."""
    k = np.arange(2 + degrees % 2, degrees, 2)
    low, high = 1.0, 13.0
    for _ in range(45):
        t = (low + high) / 2
        angle = math.atan(t / math.sqrt(degrees))
        share = math.sin(angle) * (1 + float(np.cumprod(math.cos(angle) ** 2 * (k - 1) / k).sum()))
        if degrees % 2:
            share = 2 / math.pi * (angle + share * math.cos(angle) * (degrees > 1))
        low, high = (t, high) if share < LEVEL else (low, t)
    return low
