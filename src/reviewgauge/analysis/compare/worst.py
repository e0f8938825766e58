"""The cases that cost the systems the most: what a report shows of a benchmark that is too large to show."""

from __future__ import annotations

import numpy as np

from reviewgauge.analysis.stats.arrays import measures_of_totals
from reviewgauge.analysis.stats.score_table import table_of
from reviewgauge.engine.run.scored_run import ScoredRun


def worst_cases(run: ScoredRun, count: int) -> list[int]:
    """The positions of the `count` cases that cost the headline the most, in the order of the benchmark.

    A case costs what the headline would gain without it, summed over the systems; of ties the first come first.
    """
    metric = run.metric
    panel = table_of(run)
    cost = np.zeros(len(panel.cases))
    for parts, scored in zip(panel.parts, panel.scored, strict=True):
        own = np.column_stack([parts * scored[:, None], scored])  # the last column counts
        total = own.sum(axis=0)
        measures = measures_of_totals(metric, panel.names, np.vstack([total, total - own]))[metric.headline]
        cost += np.nan_to_num(measures[1:] - measures[0])
    costs = {case.id: value for case, value in zip(panel.cases, cost.tolist(), strict=True)}
    sign = -1.0 if metric.headline in metric.lower_is_better else 1.0
    by_place = np.array([sign * costs[case.id] for case in run.cases])
    return sorted(np.argsort(-by_place, kind="stable")[:count].tolist())
