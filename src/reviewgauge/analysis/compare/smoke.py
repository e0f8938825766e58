"""Which few cases tell systems apart best, for a quick look?

Each case is judged by what it does to a middling system's measure when that system's parts on it are replaced by each
system's in turn, and how far that goes with what the systems do on all other cases. Source: the corrected item-total
covariance of test theory (Lord and Novick, Statistical Theories of Mental Test Scores, 1968, chapter 15), with the
variance between attempts in the denominator, so that a case that flips from attempt to attempt is not picked. Of two
systems every case goes with the rest one way or the other, so there the size of the difference counts.
"""

from __future__ import annotations

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers, Numbers, measure_with, swapped
from reviewgauge.analysis.stats.score_table import ScoreTable, table_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.gate import SmokeCase, SmokeSet
from reviewgauge.engine.run.scored_run import ScoredRun


def smoke(run: ScoredRun, *, count: int, measure: str = "") -> SmokeSet:
    """The `count` cases that separated these systems best. Clean changes keep the share that they have in the whole.

    Raises UserError for fewer than two systems, and where fewer cases were scored for all of them.
    """
    if count < 1:
        raise UserError(f"--smoke {count} asks for no case")
    metric = run.metric
    panel = table_of(run)
    if len(panel.systems) < 2:
        raise UserError("it takes two systems to see which cases tell systems apart", remedy="name a second run")
    kept = np.flatnonzero(panel.scored.all(axis=0))
    if len(kept) < count:
        raise UserError(f"{len(kept)} cases were scored for all systems, fewer than {count}")
    effects, noise = _effects(panel, metric, measure or metric.headline, kept)
    chosen = _choose(panel, kept, effects, noise, count)
    warnings = [] if len(panel.systems) > 2 else ["picked from two systems: what sets these two apart may not others"]
    warnings.append("the cases were picked because they tell systems apart: differences on them are exaggerated")
    return SmokeSet(
        metric=run.signature,
        label=run.label,
        measure=measure or metric.headline,
        systems=panel.systems,
        of=len(panel.cases),
        dataset=run.dataset,
        benchmark=run.benchmark,
        cases=tuple(chosen),
        warnings=tuple(warnings),
    )


def _effects(panel: ScoreTable, metric: Metric, measure: str, kept: Integers) -> tuple[Numbers, Numbers]:
    """(what each system's parts on each case do to the mean system's measure: S x n, noise between attempts: n).

    An undefined effect counts as none.
    """
    systems, sign = len(panel.systems), -1 if measure in metric.lower_is_better else 1
    middle = panel.parts[:, kept].mean(axis=0)
    total = middle.sum(axis=0)
    base = float(measure_with(metric, panel.names, total[None], len(kept), measure)[0])
    effects, noise = np.zeros((systems, len(kept))), np.full(len(kept), np.nan)
    for at, column in enumerate(kept):
        groups = [panel.attempt_parts(row, int(column)) for row in range(systems)]
        rows = swapped(total, middle[at], np.concatenate(groups))
        values = np.nan_to_num(sign * (measure_with(metric, panel.names, rows, len(kept), measure) - base), nan=0.0)
        by_system = np.split(values, np.cumsum([len(group) for group in groups])[:-1])
        effects[:, at] = [own.mean() for own in by_system]
        if spread := [own.var(ddof=1) / own.size for own in by_system if own.size > 1]:
            noise[at] = float(np.mean(spread))
    return effects, noise


def _choose(panel: ScoreTable, kept: Integers, effects: Numbers, noise: Numbers, count: int) -> list[SmokeCase]:
    """The best of the clean changes and of the others, each by its share of the whole, best first."""
    centred = effects - effects.mean(axis=0)
    rest = centred.sum(axis=1, keepdims=True) - centred
    separation = (centred * rest).mean(axis=0)
    between = centred.var(axis=0)
    spread = between + np.nan_to_num(noise, nan=0.0)
    scale = np.divide(1 if len(centred) > 2 else between, spread, out=np.zeros_like(spread), where=spread > 0)
    worth = separation * np.sqrt(scale)
    clean = np.array([panel.cases[int(column)].clean for column in kept], dtype=np.bool_)
    quiet = round(count * clean.mean())
    order = sorted(range(len(kept)), key=lambda at: (-worth[at], panel.cases[int(kept[at])].id))
    picked = {*[at for at in order if clean[at]][:quiet], *[at for at in order if not clean[at]][: count - quiet]}
    return [
        SmokeCase(
            case=panel.cases[int(kept[at])].id,
            separation=float(separation[at]),
            noise=None if np.isnan(noise[at]) else float(noise[at]),
            clean=bool(clean[at]),
        )
        for at in order
        if at in picked
    ]
