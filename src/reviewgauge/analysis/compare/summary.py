"""One summary a system: its measures with intervals and bounds, and its coverage, on any part of a panel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags, MatrixAggregate, Numbers, measures_of
from reviewgauge.analysis.stats.bootstrap import (
    UNDEFINED_LIMIT,
    Clusters,
    Interval,
    Measures,
    Resampler,
    percentile_interval,
    point_measures,
    resampled_measures,
    sum_by_cluster,
)
from reviewgauge.analysis.stats.score_table import ScoreTable, Status
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.leaderboard import Estimate, SystemSummary
from reviewgauge.core.shares import wilson

Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class View:
    """A part of a panel: which cases (N), and the parts to read there (S x N x K).

    `whole` is False for the parts of a facet's subset: a failed score has no facets, so nothing can be filled in.
    """

    mask: Flags
    parts: Numbers
    whole: bool = True


@dataclass(frozen=True)
class Summariser:
    """Makes the rows of a leaderboard. All views share the clusters and the draws, so that rows can be compared.

    `means` are rows of their own below the systems: the mean of the measures of several systems, by its name.
    """

    panel: ScoreTable
    metric: Metric
    clusters: Clusters
    resampler: Resampler
    means: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def rows(self, view: View) -> tuple[list[SystemSummary], list[str]]:
        """One summary a system, in the order of the panel, then the means; the measures without interval, in words."""
        panel, metric = self.panel, self.metric
        kept = panel.scored & view.mask
        sizes = sum_by_cluster(kept[:, :, None].astype(np.float64), self.clusters)[:, :, 0]
        sums = sum_by_cluster(view.parts * kept[:, :, None], self.clusters)
        points = point_measures(metric, panel.names, sums, sizes)
        draws = resampled_measures(metric, panel.names, sums, sizes, self.resampler)
        ends = self._ends(view, points)
        totals = sums.sum(axis=1)
        position = {system: s for s, system in enumerate(panel.systems)}
        named = [(system, [s]) for system, s in position.items()]
        named += [(name, [position[one] for one in own]) for name, own in self.means.items()]
        found: list[SystemSummary] = []
        gaps: dict[str, list[tuple[str, float]]] = {}
        for system, of in named:
            s = min(of, key=lambda one: int(kept[one].sum()))  # of a mean, the one that the fewest cases are known of
            n, clusters = int(kept[s].sum()), int((sizes[s] > 0).sum())
            estimates = []
            of_clusters = cache(lambda s=s: measures_of(metric, MatrixAggregate(panel.names, sums[s].T, sizes[s])))
            for measure, values in zip(points.names, points.values, strict=True):
                value = number(values[of, 0].mean())
                interval = Interval(None, None, 0.0)
                if value is not None and clusters >= 2:
                    interval = percentile_interval(_mean_of(draws, measure, of))
                    fixed = len(of) == 1 and interval.low == interval.high in (0.0, 1.0)
                    if fixed and metric.units.get(measure, "share") == "share":
                        interval = _of_equal(interval, of_clusters()[measure])
                if interval.undefined > UNDEFINED_LIMIT:
                    gaps.setdefault(measure, []).append((system, interval.undefined))
                estimates.append(
                    Estimate(
                        measure=measure,
                        value=value,
                        low=interval.low,
                        high=interval.high,
                        unit=metric.units.get(measure, "share"),
                        n=n,
                        fake=bool(panel.fake[of][:, view.mask].any()),
                        clusters=clusters,
                        worst=ends[measure][s][0] if len(of) == 1 else None,
                        best=ends[measure][s][1] if len(of) == 1 else None,
                    )
                )
            parts = dict(zip(panel.names, totals[of].mean(axis=0).tolist(), strict=True))
            own = self._summary(s, view.mask, tuple(estimates), parts)
            found.append(own.model_copy(update={"system": system, "fake": any(e.fake for e in estimates) or own.fake}))
        return found, _say_gaps(gaps)

    def _summary(self, s: int, mask: Flags, estimates: tuple[Estimate, ...], parts: dict[str, float]) -> SystemSummary:
        panel = self.panel
        counts = Counter(panel.status[s, mask].tolist())
        return SystemSummary(
            system=panel.systems[s],
            estimates=estimates,
            cases=int(mask.sum()),
            scored=counts[Status.SCORED],
            failed=counts[Status.FAILED],
            not_applicable=counts[Status.NOT_APPLICABLE],
            missing=counts[Status.MISSING],
            failures=panel.failures(s, mask),
            attempts=max(1, int(panel.attempts[s, mask].max(initial=1))),
            parts=parts,
            fake=bool(panel.fake[s, mask].any()),
        )

    def _ends(self, view: View, points: Measures) -> dict[str, list[Ends]]:
        """For each measure and system, its value with the failures counted as worst and as best."""
        panel = self.panel
        kept = panel.measured & view.mask
        sizes = kept.sum(axis=1).astype(np.float64)[:, None]
        filled = [
            point_measures(self.metric, panel.names, (table * kept[:, :, None]).sum(axis=1)[:, None], sizes)
            for table in (panel.worst, panel.best)
        ]
        failed = {row for row, column, _ in panel.failed if view.mask[column]}

        def ends(measure: str, s: int) -> Ends:
            if s not in failed:
                return (number(points.of(measure, s)[0]),) * 2
            if not (view.whole and panel.bounded[s]):
                return None, None
            low, high = (number(measures.of(measure, s)[0]) for measures in filled)
            return order_ends(low, high, measure in self.metric.lower_is_better)

        return {measure: [ends(measure, s) for s in range(len(panel.systems))] for measure in points.names}


def _mean_of(draws: Measures, measure: str, systems: Sequence[int]) -> Numbers:
    """The mean of several systems under each resample; undefined where one of them is."""
    found: Numbers = np.mean([draws.of(measure, one) for one in systems], axis=0)
    return found


def _of_equal(interval: Interval, values: Numbers) -> Interval:
    """Wilson's interval of a share that no draw changes, as if each cluster that has a value were one answer."""
    n = int(np.isfinite(values).sum())
    low, high = wilson(n if interval.low else 0, n) or interval[:2]
    return Interval(low, high, interval.undefined)


def order_ends(one: float | None, other: float | None, lower_is_better: bool) -> Ends:
    """The worse and the better of two values of a measure; both None unless both are known."""
    if one is None or other is None:
        return None, None
    return (max(one, other), min(one, other)) if lower_is_better else (min(one, other), max(one, other))


def headline_order(panel: ScoreTable, metric: Metric, baselines: Container[str]) -> list[int]:
    """The rows of the panel, best first by the headline, each on its own scored cases; baselines last."""
    kept = panel.scored[:, :, None]
    sums = (panel.parts * kept).sum(axis=1)[:, None]
    points = point_measures(metric, panel.names, sums, kept.sum(axis=1).astype(np.float64))
    values = [number(points.of(metric.headline, s)[0]) for s in range(len(panel.systems))]
    return rank(panel.systems, values, metric, baselines)


def rank(
    systems: Sequence[str], values: Sequence[float | None], metric: Metric, baselines: Container[str]
) -> list[int]:
    """The positions of `systems`, best headline value first; undefined ones and baselines last, ties by name."""
    sign = 1 if metric.headline in metric.lower_is_better else -1

    def key(at: int) -> tuple[bool, bool, float, str]:
        value = values[at]
        return systems[at] in baselines, value is None, sign * (0.0 if value is None else value), systems[at]

    return sorted(range(len(systems)), key=key)


def number(value: float) -> float | None:
    """A plain number, or None for what is undefined."""
    return float(value) if np.isfinite(value) else None


def _say_gaps(gaps: Mapping[str, Sequence[tuple[str, float]]]) -> list[str]:
    """One line for all measures that are undefined for the same systems; usually they share a denominator."""
    together: dict[tuple[str, ...], list[str]] = {}
    for measure, systems in gaps.items():
        together.setdefault(tuple(name for name, _ in systems), []).append(measure)
    return [
        f"no interval for {_some(measures, 3)} of {_some(names, 5)}: undefined in up to "
        f"{max(share for measure in measures for _, share in gaps[measure]):.0%} of the resamples"
        for names, measures in together.items()
    ]


def _some(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
