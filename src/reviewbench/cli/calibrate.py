"""`reviewbench calibrate`: several metrics made into one grade, fitted to one's own labels."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path

import click
from pydantic import Field

from reviewbench.analysis.calibrated import LEAK, Account, fit_account
from reviewbench.analysis.judged import Bench, HumanValues, human_values
from reviewbench.analysis.leaderboard import check_settings
from reviewbench.analysis.validity import Settings
from reviewbench.cli._judged_runs import NO_LABELS, JudgedRun, folder_name, judged_run
from reviewbench.cli._measuring import (
    Measured,
    heeding,
    measure_run,
    measured_words,
    next_words,
    rehearse_run,
    run_to_rehearse,
)
from reviewbench.cli._model_options import ModelOptions, Spending, model_options
from reviewbench.cli._output import (
    Progress,
    emit,
    from_option,
    json_option,
    note,
    progress_bar,
    seed_option,
    stage_option,
)
from reviewbench.cli._stopping import end, retry_option, stoppable, tell_reasons
from reviewbench.cli._words import find_metrics
from reviewbench.core.base import Record
from reviewbench.core.errors import UserError
from reviewbench.core.plugins import short_spec, signature
from reviewbench.core.protocols import Dataset, Metric, Stage
from reviewbench.core.validity import Figure, MetricValidity
from reviewbench.engine.interruption import Interruption
from reviewbench.engine.journal import write_error, write_whole
from reviewbench.engine.score import ScoreTotals
from reviewbench.metrics._combination import reference_key
from reviewbench.metrics.combined import Combined, asked_by

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
        """Whether shuffled labels could be told, which means that rows of one text lie on both sides of a split."""
        return self.leakage.value is not None and self.leakage.value > LEAK and (self.leakage.low or 0) > 0


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
    Metrics that ask models do so as `models` says; what stopped them early stands in the totals and in `stop`.
    """
    began = time.monotonic()
    check_settings(resamples, 0.95)
    if not metrics:
        raise UserError("no metric given", remedy="reviewbench calibrate graded_reviews overlap rouge chrf")
    if Path(out).is_dir():
        raise UserError(f"{out} is a folder", remedy=f"name a file, such as {FILE}")
    wanted = find_metrics(metrics)
    models, stop = models or ModelOptions(), stop or Interruption()
    folder = Path(run or f"validity-{folder_name(labels, stages)}")
    if models.dry_run:
        with run_to_rehearse(labels, folder, source=source, labels=label_file, stages=stages) as copy:
            measured = rehearse_run(copy, wanted, models, retry_failed=retry_failed, stop=stop, progress=progress)
        return _unfitted(folder, folds, measured, (), began)
    judged = judged_run(labels, folder, source=source, labels=label_file, stages=stages, progress=progress)
    with judged.run:
        measured = measure_run(judged.run, wanted, models, retry_failed=retry_failed, stop=stop, progress=progress)
        if stop.is_set():
            return _unfitted(judged.run.path, folds, measured, judged.notes, began)
        human = _one_dimension(judged, dimension)
        settings = Settings(resamples, seed, folds, slices=("system",))
        account = _account(judged, wanted, human, settings, heeding(stop, progress))
        dataset = judged.run.manifest.dataset
    _write(Path(out), account)
    model = account.model
    weights = sorted(zip(model.features, model.final.weights, strict=True), key=lambda item: -abs(item[1]))
    return CalibrateResult(
        file=str(out),
        spec=short_spec(Combined(str(out), asked_by({short_spec(metric): metric for metric in wanted}))),
        run=str(judged.run.path),
        dataset=dataset,
        dimension=human.dimension,
        rows=model.rows,
        groups=account.rows[0].correlations[0].rows.clusters,
        folds=folds,
        account=account.rows,
        leakage=account.leakage,
        weights=tuple((f"{spec} {reading}", weight) for (spec, reading), weight in weights),
        totals=measured.totals,
        spending=measured.spending,
        left_out=dict(account.left_out),
        notes=(*judged.notes, *_stacked(wanted)),
        seconds=round(time.monotonic() - began, 3),
    )


def _unfitted(run: Path, folds: int, measured: Measured, notes: tuple[str, ...], began: float) -> CalibrateResult:
    """What there is to say where nothing was fitted: a fit to a part of the reviews would be another."""
    return CalibrateResult(
        run=str(run),
        folds=folds,
        totals=measured.totals,
        spending=measured.spending,
        notes=notes,
        seconds=round(time.monotonic() - began, 3),
    )


def _quoted(spec: str) -> str:
    """The spec as a shell takes it, in double quotes where nothing in it would be replaced there."""
    return shlex.quote(spec) if set(spec) & set('"$`\\!') else f'"{spec}"'


def _stacked(metrics: Sequence[Metric]) -> list[str]:
    """What to say of metrics that were fitted to labels themselves: their folds are not the folds made here."""
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
    judged: JudgedRun, metrics: Sequence[Metric], human: HumanValues, settings: Settings, progress: Progress | None
) -> Account:
    run, cases = judged.run, judged.run.cases()
    return fit_account(
        Bench.of(cases, run.outcomes(), judged.people),
        human,
        {short_spec(metric): (metric, run.scores(signature(metric))) for metric in metrics},
        {case.id: reference_key(case) for case in cases},
        settings,
        dataset=run.manifest.dataset,
        progress=progress,
    )


def _write(path: Path, account: Account) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(path, error) from None
    write_whole(path, account.model.model_dump_json().encode() + b"\n")


@click.command("calibrate")
@click.argument("labels")
@click.argument("metrics", nargs=-1, required=True)
@click.option(
    "-o", "--out", default=FILE, show_default=True, type=click.Path(dir_okay=False), help="The file to write."
)
@click.option("--run", type=click.Path(file_okay=False), help="The folder for the measurements.  [validity-DATASET]")
@from_option
@click.option("--labels", "label_file", type=click.Path(exists=True), help="Judgements of your own: docs/labels.md.")
@click.option("--dimension", help="What was judged, where people judged several things.")
@stage_option
@click.option("--folds", default=10, show_default=True, type=click.IntRange(min=2), help="Folds by reference text.")
@click.option("--resamples", default=1_000, show_default=True, help="Bootstrap resamples.")
@seed_option
@retry_option
@model_options
@json_option
def command(
    labels: str,
    metrics: Sequence[str],
    out: str,
    run: str | None,
    source: str | None,
    label_file: str | None,
    dimension: str | None,
    stages: Sequence[str],
    folds: int,
    resamples: int,
    seed: int,
    retry_failed: bool,
    models: ModelOptions,
    as_json: bool,
) -> int:
    """Make METRICS into one grade, fitted to the human LABELS of a data set or a run folder.

    LABELS is graded_reviews, crscore_study, a run folder, or cases of your own with labels. Writes a file for
    combined(file=...) and prints what it gives on references that it has not seen, beside each metric alone. The exit
    code is 1 when a fit to shuffled labels reaches anything: then the labels leak.

    Killed or interrupted while it measures, the same command goes on where it stopped.
    """
    with stoppable() as stop:
        with progress_bar("calibrating", quiet=as_json) as progress:
            result = calibrate(
                labels,
                *metrics,
                out=out,
                run=run,
                source=source,
                label_file=label_file,
                dimension=dimension,
                stages=stages,
                resamples=resamples,
                seed=seed,
                folds=folds,
                retry_failed=retry_failed,
                models=models,
                stop=stop,
                progress=progress,
            )
        for text in result.notes:
            note(f"note: {text}")
        for totals in result.totals:
            tell_reasons(totals.reasons)
        emit(result, as_json, lambda: _shown(result))
        end(stop)
    if result.leaks:
        note("a fit to shuffled labels reaches more than chance: the folds do not keep apart what belongs together")
    return 1 if result.leaks else 0


def _shown(result: CalibrateResult) -> object:
    from rich.console import Group
    from rich.markup import escape

    from reviewbench.views.calibration_tables import calibration

    closing = f"{result.file} was fitted to all {result.rows:,} rows; use it as {_quoted(result.spec)}"
    closing += f"; {result.seconds:.1f} s"
    fitted = [
        calibration(result.account, leakage=result.leakage, weights=result.weights, closing=closing, folds=result.folds)
        for _ in result.account[:1]
    ]
    said = [] if result.account else [measured_words(result.totals, result.seconds, result.spending.estimated)]
    said += [result.spending.sentence] if result.spending.sentence else []
    said += next_words(result.totals)
    return Group(*fitted, *(escape(line) for line in said))
