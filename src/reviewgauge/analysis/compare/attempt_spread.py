"""How much of what one system scores lies between changes, and how much between attempts at one change.

See analysis/variance.py for how a reading becomes one value an attempt, and for the sources.
"""

from __future__ import annotations

import math

import numpy as np

from reviewgauge.analysis.stats.arrays import Flags
from reviewgauge.analysis.stats.power import Attempts, Spread, case_means, influences
from reviewgauge.analysis.stats.score_table import ScoreTable
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.leaderboard import AttemptSpread


def attempt_spread(panel: ScoreTable, row: int, metric: Metric) -> AttemptSpread | None:
    """The spread of the headline for one system; None where no case has two scored attempts, or it has no slope."""
    kept = np.asarray(panel.scored[row])
    attempts = attempts_of(panel, row, kept)
    if attempts.cases < 2 or attempts.counts.max() < 2:
        return None
    values = influences(metric, panel.names, attempts, metric.headline)
    if values is None:
        return None
    spread = Spread.of(values, attempts)
    within = float(np.nanmean(spread.own))
    rest = within * float(np.mean(1 / spread.counts))  # what the attempts leave in the mean of a case
    between = max(0.0, float(np.var(case_means(values, attempts), ddof=1)) - rest)
    whole = between + within
    return AttemptSpread(
        reading=metric.headline,
        unit=metric.units.get(metric.headline, "share"),
        between=math.sqrt(between),
        within=math.sqrt(within),
        within_share=within / whole if whole > 0 else None,
        again=math.sqrt(rest / attempts.cases),
        n=attempts.cases,
        repeated=spread.repeated,
        attempts=int(attempts.counts.sum()),
    )


def attempts_of(panel: ScoreTable, row: int, kept: Flags) -> Attempts:
    """The scored attempts of one system at the cases of `kept` (N), one row an attempt."""
    rows: list[list[float]] = []
    case: list[int] = []
    for at, column in enumerate(np.flatnonzero(kept)):
        for score in panel.cells[row, int(column)]:
            if score.parts is not None:
                rows.append([score.parts.get(name, 0.0) for name in panel.names])
                case.append(at)
    return Attempts(np.array(rows, dtype=np.float64), np.array(case, dtype=np.int64), int(kept.sum()))
