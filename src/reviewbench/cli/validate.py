"""`reviewbench validate`: metrics held against human labels."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
from pydantic import Field

from reviewbench.analysis.judged import Bench, HumanValues, human_values
from reviewbench.analysis.leaderboard import check_settings
from reviewbench.analysis.validity import Evidence, Scored, Settings, length_baseline
from reviewbench.analysis.where import Where
from reviewbench.cli._judged_runs import NO_LABELS, JudgedRun, folder_name, judged_run
from reviewbench.cli._measuring import (
    Measured,
    came_to_nothing,
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
from reviewbench.cli._unchanged import digest, unchanged, write_stamp
from reviewbench.cli._words import find_metrics
from reviewbench.core.base import Fact, Record
from reviewbench.core.errors import MissingExtra, UserError
from reviewbench.core.plugins import signature
from reviewbench.core.protocols import Dataset, Metric, Stage
from reviewbench.core.validity import ValidityReport
from reviewbench.engine.interruption import Interruption
from reviewbench.engine.journal import write_error, write_whole
from reviewbench.engine.score import ScoreTotals

REPORT, RESULT = "report.html", "validity.json"


class ValidateResult(Record):
    """The report, what was measured for it, and the files in `folder`, which may be `unchanged` since the last time.

    `report` is None where measuring was stopped early, and with `--dry-run`; then no file is written.
    """

    schema_version: int = 1
    run: str
    folder: str
    files: tuple[str, ...]
    unchanged: bool = False
    totals: tuple[ScoreTotals, ...]
    report: ValidityReport | None = None
    spending: Spending = Spending()
    notes: tuple[str, ...] = ()
    seconds: float = Field(ge=0)


def validate(
    dataset: str | Dataset,
    *metrics: str | Metric,
    out: str | Path | None = None,
    source: str | Path | None = None,
    labels: str | Path | None = None,
    dimensions: Sequence[str] = (),
    slices: Sequence[str] = (),
    of_round: str | None = None,
    where: Mapping[str, Fact] | Sequence[str] = (),
    stages: Sequence[str | Stage] = (),
    resamples: int = 1_000,
    seed: int = 0,
    folds: int = 10,
    report: bool = True,
    retry_failed: bool = False,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ValidateResult:
    """Hold metrics against what people said of recorded reviews, and write the report and its tables.

    `dataset` is a data set with recorded reviews and labels, which are put into the run folder `out`
    (`validity-<data set>`), or a run folder, whose scores stay in it while the report goes into `out`. `labels` is a
    table of judgements that counts instead of those of the data. `slices` are facts to break correlations down by,
    beside the system and the language. Labels without a round count, or those of the first round; `of_round` names
    another. `where` (`{"system": "Auger"}` or `["system=Auger"]`) makes the whole report on the rows where the facts
    have these values, into a folder of its own inside `out`; scores and run are those of all rows. Without `report`
    no report is written. Metrics that ask models do so as `models` says; what stopped them early stands in the totals
    and in `stop`, and the same call goes on.
    """
    began = time.monotonic()
    check_settings(resamples, 0.95)
    if folds < 2:
        raise UserError(f"{folds} folds are too few", remedy="2 or more; 10 is the default")
    if not metrics:
        raise UserError("no metric given", remedy="reviewbench list metrics")
    part = Where.of(where)
    wanted = find_metrics(metrics)
    models, stop = models or ModelOptions(), stop or Interruption()
    folder = Path(out or f"validity-{folder_name(dataset, stages)}")
    if models.dry_run:
        with run_to_rehearse(dataset, folder, source=source, labels=labels, stages=stages) as run:
            measured = rehearse_run(run, wanted, models, retry_failed=retry_failed, stop=stop, progress=progress)
        return _without_report(folder, measured, (), began)
    judged = judged_run(dataset, folder, source=source, labels=labels, stages=stages, progress=progress)
    with judged.run:
        measured = measure_run(judged.run, wanted, models, retry_failed=retry_failed, stop=stop, progress=progress)
        if stop.is_set():
            return _without_report(judged.run.path, measured, judged.notes, began)
        asked = _Wanted(dimensions, slices, of_round, part)
        evidence = _evidence(judged, wanted, asked, Settings(resamples, seed, folds))
    folder = folder if part is None else folder / part.folder
    made_of = digest(evidence.inputs)
    known = unchanged(folder, made_of)
    missing: tuple[str, ...] = ()
    if known is not None:
        files, found = known, ValidityReport.model_validate_json((folder / RESULT).read_bytes())
    else:
        found = evidence.report(heeding(stop, progress))
        files, missing = _write(folder, found, made_of) if report else ((), ())
    return ValidateResult(
        run=str(judged.run.path),
        folder=str(folder),
        files=files,
        unchanged=known is not None,
        totals=measured.totals,
        report=found,
        spending=measured.spending,
        notes=(*judged.notes, *missing),
        seconds=round(time.monotonic() - began, 3),
    )


def _without_report(run: Path, measured: Measured, notes: tuple[str, ...], began: float) -> ValidateResult:
    """What there is to say where no figure was made: figures on a part of the reviews would be others."""
    return ValidateResult(
        run=str(run),
        folder=str(run),
        files=(),
        totals=measured.totals,
        spending=measured.spending,
        notes=notes,
        seconds=round(time.monotonic() - began, 3),
    )


def _evidence(judged: JudgedRun, metrics: Sequence[Metric], wanted: _Wanted, settings: Settings) -> Evidence:
    run = judged.run
    bench = Bench.of(run.cases(), run.outcomes(), judged.people)
    among = None
    if wanted.where is not None:
        bench = wanted.where.narrow(bench)
        among = {bench.keys[at] for at in bench.places}
    humans, notes = human_values(judged.labels, judged.scales, of_round=wanted.of_round, among=among)
    scored = [Scored.of(metric, run.scores(signature(metric))) for metric in metrics]
    return Evidence(
        bench,
        tuple(wanted.of(humans, notes)),
        (*scored, length_baseline(bench)),
        replace(settings, slices=wanted.facts(bench)),
        dataset=run.manifest.dataset,
        benchmark=run.manifest.benchmark,
        warnings=tuple(notes),
    )


class _Wanted(NamedTuple):
    """What the user asked to see."""

    dimensions: Sequence[str]
    slices: Sequence[str]
    of_round: str | None
    where: Where | None

    def of(self, humans: Sequence[HumanValues], notes: Sequence[str]) -> list[HumanValues]:
        """The dimensions that were named, or all. Raises UserError where there is none."""
        known = [human.dimension for human in humans]
        if not known and self.of_round is not None:
            raise UserError(f"there are no human labels on reviews in the round {self.of_round!r}")
        if not known:
            raise UserError(notes[-1] if notes else "there are no human labels on reviews", remedy=NO_LABELS)
        for name in self.dimensions:
            if name not in known:
                raise UserError(f"nobody judged {name!r}", remedy=f"there are: {', '.join(known)}")
        return [human for human in humans if not self.dimensions or human.dimension in self.dimensions]

    def facts(self, bench: Bench) -> tuple[str, ...]:
        """The facts to slice by: system and language where there are several, and those that were named."""
        known = bench.known_facts
        for name in self.slices:
            if name not in known:
                raise UserError(f"no case has the fact {name!r}", remedy=f"there are: {', '.join(known)}")
        usual = [name for name in ("system", "language") if len(bench.values(name)) > 1]
        return tuple(dict.fromkeys([*usual, *self.slices]))


def _write(folder: Path, report: ValidityReport, made_of: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The page, its tables and the whole report as JSON, each file whole or not at all: their names, and notes."""
    from reviewbench.views.validity_csv import csv_tables
    from reviewbench.views.validity_report import render

    texts = {RESULT: report.model_dump_json(indent=1), **csv_tables(report)}
    notes: tuple[str, ...] = ()
    try:
        texts[REPORT] = render(report)
    except MissingExtra as error:  # the tables are worth having without it
        notes = (f"{REPORT} was not written: {error}",)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(folder, error) from None
    for name, text in texts.items():
        write_whole(folder / name, text.encode("utf-8", "replace"))
    write_stamp(folder, made_of, sorted(texts))
    return tuple(sorted(texts)), notes


@click.command("validate")
@click.argument("dataset")
@click.argument("metrics", nargs=-1, required=True)
@from_option
@click.option(
    "-o", "--out", type=click.Path(file_okay=False), help="The folder for run and report.  [validity-DATASET]"
)
@click.option(
    "--labels", type=click.Path(exists=True), help="Judgements of your own that count instead: docs/labels.md."
)
@click.option("--dimension", "dimensions", multiple=True, help="Only this dimension; may be given again.")
@click.option("--slice", "slices", multiple=True, help="Also break down by this fact; may be given again.")
@click.option(
    "--where",
    multiple=True,
    metavar="FACT=VALUE",
    help="Only the rows where a fact, or the system, has this value; may be given again. The report goes into a folder "
    "of its own.",
)
@click.option("--round", "of_round", help="Only labels of this round (default: those without one, or the first).")
@stage_option
@click.option("--resamples", default=1_000, show_default=True, help="Bootstrap resamples.")
@click.option("--folds", default=10, show_default=True, help="Folds of the calibrations.")
@click.option("--report/--no-report", default=True, help="Whether to write report.html and the tables.")
@seed_option
@retry_option
@model_options
@json_option
def command(
    dataset: str,
    metrics: Sequence[str],
    source: str | None,
    out: str | None,
    labels: str | None,
    dimensions: Sequence[str],
    slices: Sequence[str],
    where: Sequence[str],
    of_round: str | None,
    stages: Sequence[str],
    resamples: int,
    folds: int,
    report: bool,
    seed: int,
    retry_failed: bool,
    models: ModelOptions,
    as_json: bool,
) -> int:
    """Hold METRICS against what people said of the recorded reviews of DATASET.

    DATASET is a data set that came with reviews and human labels, or a run folder. Prints which metric goes best with
    people and how each tells their grades apart, and writes report.html and its tables as CSV.

    Killed or interrupted while it measures, the same command goes on where it stopped. The exit code is 1 when all
    measurements of a metric failed.
    """
    with stoppable() as stop:
        with progress_bar("validating", quiet=as_json) as progress:
            result = validate(
                dataset,
                *metrics,
                out=out,
                source=source,
                labels=labels,
                dimensions=dimensions,
                slices=slices,
                of_round=of_round,
                where=where,
                stages=stages,
                resamples=resamples,
                seed=seed,
                folds=folds,
                report=report,
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
    return 1 if came_to_nothing(result.totals) else 0


def _shown(result: ValidateResult) -> object:
    from rich.console import Group
    from rich.markup import escape

    from reviewbench.views.validity_tables import validity

    tables = [] if result.report is None else [validity(result.report)]
    said = [_closing(result), *([result.spending.sentence] if result.spending.sentence else [])]
    said += next_words(result.totals)
    return Group(*tables, *(escape(line) for line in said))


def _closing(result: ValidateResult) -> str:
    from reviewbench.views.plots import available as drawn

    lines = [measured_words(result.totals, result.seconds, result.spending.estimated, unchanged=result.unchanged)]
    tables = sum(name.endswith(".csv") for name in result.files)
    if REPORT in result.files:
        plots = "and plot" if drawn() else "but no plots (pip install 'reviewbench[plots]')"
        lines.append(f"{Path(result.folder) / REPORT} has every figure {plots}, beside it {tables} CSV tables")
    elif tables:
        lines.append(f"{result.folder} has {tables} CSV tables")
    return "\n".join(lines)
