"""A combined metric made from labels, and the honest account of it: everything out of fold, beside what it is made of.

Rows of the account: the calibrated grade, the same without its floor, each metric alone, the mean of their ranks
(which needs no labels), and a fit to labels that were dealt out at random, which must reach nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.correlation import spearman_only
from reviewgauge.analysis.validity.combination import Features, Held, features_of, fit, fit_in_folds, shuffled
from reviewgauge.analysis.validity.report import Scored, Validator, ValiditySettings, length_baseline
from reviewgauge.analysis.validity.rows import HumanValues, Key, ReviewTable, on_steps
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.reports.validity import Figure, MetricValidity
from reviewgauge.core.results import Score
from reviewgauge.metrics.grades.combination import Combination

CALIBRATED, UNFLOORED, RANKS, SHUFFLED = (
    "calibrated, out of fold",
    "the same without its floor",
    "mean of their ranks (no labels)",
    "fitted to shuffled labels",
)
FEWEST_ROWS = 30
LEAK = 0.05  # a fit to shuffled labels that reaches more than this, with an interval above 0, has seen the answers


class Account(NamedTuple):
    """The model, what it gives out of fold beside other things, and the check on leakage."""

    model: Combination
    rows: tuple[MetricValidity, ...]
    leakage: Figure
    left_out: Mapping[str, int]


def fit_account(
    bench: ReviewTable,
    human: HumanValues,
    scored: Mapping[str, tuple[Metric, Sequence[Score]]],
    keys: Mapping[str, str],
    settings: ValiditySettings,
    *,
    dataset: str,
    progress: Progress | None = None,
) -> Account:
    """Fit the metrics (by spec) to the human values, in folds and on all rows.

    `keys` gives the hash of each case's reference text. Raises UserError for too few rows, one grade only, too many
    grades, fewer groups of references than folds, or metrics that tell no review from another.
    """
    features = features_of(scored)
    chosen = [at for at, key in enumerate(features.keys) if key in human.of and key[1] not in bench.people]
    place = {key: at for at, key in enumerate(bench.keys)}
    rows = [features.keys[at] for at in chosen]
    table = features.table[chosen]
    grades = _grades(np.array([human.of[key] for key in rows], dtype=np.float64), human, features)
    groups = bench.cluster[[place[key] for key in rows]]
    held = fit_in_folds(table, grades, groups, folds=settings.folds, seed=settings.seed, progress=progress)
    dealt = shuffled(grades, groups, settings.seed)
    chance = fit_in_folds(table, dealt, groups, folds=settings.folds, seed=settings.seed, progress=progress)
    validator = Validator(bench, settings)
    leakage = spearman_only(chance.grade, dealt, groups, validator.resampler)
    final = fit(table, grades, groups, seed=settings.seed)
    model = Combination(
        metrics=tuple(scored),
        pins={spec: dict(metric.pins()) for spec, (metric, _) in scored.items()},
        features=features.names,
        grades=tuple(np.unique(grades).tolist()),
        final=final,
        held_out=held.fits,
        fold_of={keys[key[0]]: int(fold) for key, fold in zip(rows, held.fold, strict=True)},
        dimension=human.dimension,
        dataset=dataset,
        rows=len(rows),
    )
    made = _made_here(held, features, table, scored, rows)
    alone = [Scored.of(metric, scores) for metric, scores in scored.values()]
    account = tuple(validator.metric(one, human) for one in [*made, *alone, length_baseline(bench)])
    return Account(model, account, leakage, features.left_out)


def _grades(values: Numbers, human: HumanValues, features: Features) -> Numbers:
    """The human values on the steps of their scale."""
    if values.size < FEWEST_ROWS:
        raise UserError(
            f"{values.size} reviews have a label in {human.dimension} and were measured by all metrics",
            remedy=f"at least {FEWEST_ROWS} are needed, some hundreds are better",
        )
    if not features.names:
        raise UserError("the metrics say the same of all reviews", remedy="choose metrics that tell them apart")
    grades = on_steps(values, human.scale)
    if grades is None:
        raise UserError(f"{human.dimension} has too many different values to be grades")
    if np.unique(grades).size < 2:
        raise UserError(f"all labels in {human.dimension} are {grades[0]:g}: there is nothing to learn from them")
    return grades


def _made_here(
    held: Held,
    features: Features,
    table: Numbers,
    scored: Mapping[str, tuple[Metric, Sequence[Score]]],
    rows: Sequence[Key],
) -> list[Scored]:
    """The calibrated grade, the one without a floor, and the mean of the metrics' ranks, by review."""
    ranks = []
    for spec, (metric, _) in scored.items():
        if (spec, metric.headline) in features.names:
            values = table[:, features.names.index((spec, metric.headline))]
            values = np.where(np.isfinite(values), values, np.nanmean(values))
            ranks.append(rankdata(-values if metric.headline in metric.lower_is_better else values) / len(rows))
    found = [(CALIBRATED, "grades", held.grade), (UNFLOORED, "grades", held.expected)]
    if ranks:
        found.append((RANKS, "share", np.mean(ranks, axis=0)))
    fake = any(one.fake for _, scores in scored.values() for one in scores)
    return [
        Scored(name, name, "mean", unit, dict(zip(rows, values.tolist(), strict=True)), {}, fake=fake)
        for name, unit, values in found
    ]
