"""`reviewgauge info RUN`: what a run was measured with, and what should not stay in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Score
from reviewgauge.core.specs import load, signature
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import recorded_label
from reviewgauge.engine.score import REVIEW_FAILED


class MetricScores(Record):
    """The scores of one metric: of which systems, and what came out.

    `dollars` is the price of every model answer behind them, those from the cache too: no bill says it.
    """

    metric: str
    label: str
    systems: tuple[str, ...]
    measured: int = 0
    not_applicable: int = 0
    failed: int = 0
    failed_reviews: int = 0
    dollars: float = 0.0


class ScoresResult(Record):
    """What is left in the run, metric by metric, and how many scores were `removed`."""

    schema_version: int = 1
    run: str
    metrics: tuple[MetricScores, ...]
    removed: int = 0


def scores(run: str | Path, *, remove: Sequence[str | Metric] = ()) -> ScoresResult:
    """The metrics that a run was measured with. The scores of those in `remove` are taken out of the run first."""
    with RunFolder.open(run, write=bool(remove)) as folder:
        known = dict.fromkeys(score.metric for score in folder.scores())
        gone = [_recorded(metric, known, run) for metric in remove]
        removed = folder.remove_scores(gone) if gone else 0
        left = folder.scores()
    names = dict.fromkeys(score.metric for score in left)
    metrics = tuple(_summary(name, [score for score in left if score.metric == name]) for name in names)
    return ScoresResult(run=str(run), metrics=metrics, removed=removed)


def _recorded(metric: str | Metric, known: Collection[str], run: str | Path) -> str:
    """The signature that the scores carry. Raises UserError where there is none like it."""
    if isinstance(metric, str) and metric in known:  # also one that is not installed any more
        return metric
    wanted = signature(metric if isinstance(metric, Metric) else load(Metric, metric))
    if wanted not in known:
        shown = ", ".join(recorded_label(name) for name in known) or "none"
        raise UserError(f"{run} was not scored with {recorded_label(wanted)}", remedy=f"it holds: {shown}")
    return wanted


def _summary(name: str, found: Sequence[Score]) -> MetricScores:
    of_reviews = sum(score.reason == REVIEW_FAILED for score in found)
    failed = sum(score.failure is not None for score in found) - of_reviews
    measured = sum(score.parts is not None for score in found)
    return MetricScores(
        metric=name,
        label=recorded_label(name),
        systems=tuple(dict.fromkeys(score.system for score in found)),
        measured=measured,
        not_applicable=len(found) - measured - failed - of_reviews,
        failed=failed,
        failed_reviews=of_reviews,
        dollars=round(sum(score.usage.dollars or 0.0 for score in found), 10),
    )
