"""`reviewgauge calibrate`: several metrics made into one grade, fitted to human labels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pydantic import Field

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.validity.combination import Account, fit_account, leaks
from reviewgauge.analysis.validity.human_values import HumanValues, human_values
from reviewgauge.analysis.validity.report import ValiditySettings
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.api.judged_runs import NO_LABELS, JudgedData, JudgedRun, measured_run
from reviewgauge.api.resolve import find_metrics
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.protocols import Dataset, Metric, Progress, Stage
from reviewgauge.core.reports.validity import Figure, MetricValidity
from reviewgauge.core.specs import short_spec, signature
from reviewgauge.engine.run.executors import Interruption, abort_on_interrupt
from reviewgauge.engine.run.model_options import ModelOptions, Spending
from reviewgauge.engine.score import ScoreTotals
from reviewgauge.metrics.combined import Combined, asked_by, reference_key

FILE = "combined.json"


class CalibrateResult(Record):
    """The file that was written, and what the calibration gives on labels that it has not seen.

    `account` has the calibrated grade first, then what it is made of. `leakage` is the correlation that a fit to
    shuffled labels reaches out of fold; it must not be above 0. `weights` are those of the final fit, per standard
    deviation of the feature, largest first. Where measuring was stopped early, and with `--dry-run`, nothing was fitted
    and no file written: there is no account.
    """

    schema_version: int = 1
    file: str = ""
    spec: str = ""
    run: str
    dataset: str = ""
    dimension: str = ""
    rows: int = 0
    groups: int = 0
    folds: int
    account: tuple[MetricValidity, ...] = ()
    leakage: Figure = Figure(value=None, n=0, reason="nothing was fitted")
    weights: tuple[tuple[str, float], ...] = ()
    totals: tuple[ScoreTotals, ...] = ()
    spending: Spending = Spending()
    left_out: dict[str, int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = Field(ge=0)

    @property
    def leaks(self) -> bool:
        """Whether a fit to shuffled labels finds anything: then rows of one text lie on both sides of a split."""
        return leaks(self.leakage)


def calibrate(
    labels: str | Dataset,
    *metrics: str | Metric,
    out: str | Path = FILE,
    run: str | Path | None = None,
    source: str | Path | None = None,
    label_file: str | Path | None = None,
    dimension: str | None = None,
    stages: Sequence[str | Stage] = (),
    resamples: int = 1_000,
    seed: int = 0,
    folds: int = 10,
    retry_failed: bool = False,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> CalibrateResult:
    """Fit `metrics` to the human labels of a data set or a run folder, and write the file that `combined` reads.

    `run` is the folder that keeps the measurements of a data set (`validity-<data set>`, which `validate` shares).
    Metrics that ask models do so as `models` says; the totals and `stop` say what stopped them early.
    """
    began = time.monotonic()
    check_settings(resamples)
    if not metrics:
        raise UserError("no metric given", remedy="reviewgauge calibrate graded_reviews overlap rouge chrf")
    if Path(out).is_dir():
        raise UserError(f"{out} is a folder", remedy=f"name a file, such as {FILE}")
    wanted = find_metrics(metrics)
    models, stop = models or ModelOptions(), stop or Interruption()
    data = JudgedData(labels, source, label_file, stages)
    measuring = measured_run(data, run, wanted, models, retry_failed=retry_failed, stop=stop, progress=progress)
    with measuring as (folder, judged, measured):
        ended = partial(CalibrateResult, folds=folds, totals=measured.totals, spending=measured.spending)
        if judged is None or stop.is_set():
            at, notes = (judged.run.path, judged.notes) if judged else (folder, ())
            return ended(run=str(at), notes=notes, seconds=round(time.monotonic() - began, 3))
        human = _one_dimension(judged, dimension)
        settings = ValiditySettings(resamples, seed, folds, slices=("system",))
        account = _account(judged, wanted, human, settings, abort_on_interrupt(stop, progress))
        dataset = judged.run.manifest.dataset
    model = account.model
    write_whole(Path(out), model.model_dump_json().encode() + b"\n")
    weights = sorted(zip(model.features, model.final.weights, strict=True), key=lambda item: -abs(item[1]))
    return ended(
        file=str(out),
        spec=short_spec(Combined(str(out), asked_by({short_spec(metric): metric for metric in wanted}))),
        run=str(judged.run.path),
        dataset=dataset,
        dimension=human.dimension,
        rows=model.rows,
        groups=account.rows[0].correlations[0].rows.clusters,
        account=account.rows,
        leakage=account.leakage,
        weights=tuple((f"{spec} {measure}", weight) for (spec, measure), weight in weights),
        left_out=dict(account.left_out),
        notes=(*judged.notes, *_stacked(wanted)),
        seconds=round(time.monotonic() - began, 3),
    )


def _stacked(metrics: Sequence[Metric]) -> list[str]:
    """Notes on metrics that were fitted to labels themselves, with other folds than those made here."""
    return [
        f"{short_spec(metric)} was {metric.estimate_note}: on the same labels its folds are others than those made "
        "here, so that what is fitted over it has seen labels of each fold"
        for metric in metrics
        if isinstance(metric, Combined)
    ]


def _one_dimension(judged: JudgedRun, wanted: str | None) -> HumanValues:
    humans, notes = human_values(judged.labels, judged.scales)
    known = {human.dimension: human for human in humans}
    if not known:
        raise UserError(notes[0] if notes else "there are no human labels on reviews", remedy=NO_LABELS)
    if wanted is None and len(known) > 1:
        raise UserError(f"people judged {', '.join(known)}", remedy="choose one with --dimension")
    chosen = known.get(wanted or next(iter(known)))
    if chosen is None:
        raise UserError(f"nobody judged {wanted!r}", remedy=f"there are: {', '.join(known)}")
    return chosen


def _account(
    judged: JudgedRun,
    metrics: Sequence[Metric],
    human: HumanValues,
    settings: ValiditySettings,
    progress: Progress | None,
) -> Account:
    run, cases = judged.run, judged.run.cases()
    return fit_account(
        ReviewTable.of(cases, run.outcomes(), judged.people),
        human,
        {short_spec(metric): (metric, run.scores(signature(metric))) for metric in metrics},
        {case.id: reference_key(case) for case in cases},
        settings,
        dataset=run.manifest.dataset,
        progress=progress,
    )
