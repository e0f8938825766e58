"""`reviewgauge validate`: metrics, judges and thresholds compared with human labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import Field

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.judge_check.report import JudgeOptions
from reviewgauge.analysis.judge_check.tested import compare_with_tests, metric_that_tested
from reviewgauge.analysis.stats.bootstrap import Resamples
from reviewgauge.analysis.threshold import fit_threshold, gather
from reviewgauge.analysis.validity.combination import fit_combination
from reviewgauge.analysis.validity.human_values import HumanValues, JudgedReviews, human_values
from reviewgauge.analysis.validity.report import Evidence, ValiditySettings
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.analysis.validity.scored import Scored, baselines
from reviewgauge.api.resolve import find_metrics
from reviewgauge.api.validation_data import (
    JudgedData,
    RunOfReviews,
    check_judges,
    judge_of,
    open_run,
    read_judged,
    run_of_reviews,
)
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.protocols import Dataset, Judge, Metric, Progress, Stage
from reviewgauge.core.reports.judge_check import JudgeReport
from reviewgauge.core.reports.threshold import ThresholdReport
from reviewgauge.core.reports.validity import FitReport, ValidityReport
from reviewgauge.core.specs import short_spec, signature
from reviewgauge.datasets.files.cards import published_figures
from reviewgauge.engine.run.executors import Interruption, abort_on_interrupt
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import benchmark_hash
from reviewgauge.engine.run.model_options import ModelOptions, Spending
from reviewgauge.engine.score import MeasureResult, ScoreTotals, measure_run
from reviewgauge.metrics.combined import Combined, asked_by, reference_key
from reviewgauge.metrics.crscore import REL, Crscore
from reviewgauge.metrics.hits import Hits

REPORT, RESULT = "report.html", "validity.json"


class ValidateResult(Record):
    """What was found: a `report` of metrics, or one of each of the `judges`, a `fit`, or a `sweep`.

    `files` lie in `folder`. `report` and `fit` are None where measuring was stopped early, and with `--dry-run`; then
    no file is written.
    """

    schema_version: int = 1
    run: str = ""
    folder: str = ""
    files: tuple[str, ...] = ()
    totals: tuple[ScoreTotals, ...] = ()
    report: ValidityReport | None = None
    judges: tuple[JudgeReport, ...] = ()
    fit: FitReport | None = None
    sweep: ThresholdReport | None = None
    spending: Spending = Spending()
    notes: tuple[str, ...] = ()
    seconds: float = Field(default=0.0, ge=0)

    def _repr_html_(self) -> str | None:
        from reviewgauge.views.tables import tables_html
        from reviewgauge.views.validity.document import validity_summary

        return None if self.report is None else tables_html(validity_summary(self.report).tables.values())


def validate(
    dataset: str | Dataset,
    *metrics: str | Metric | Judge,
    out: str | Path | None = None,
    source: str | Path | None = None,
    labels: str | Path | None = None,
    dimensions: Sequence[str] = (),
    slices: Sequence[str] = (),
    of_round: str | None = None,
    stages: Sequence[str | Stage] = (),
    resamples: int = 1_000,
    seed: int = 0,
    folds: int = 10,
    report: bool = True,
    fit: str | Path | None = None,
    sweep: bool = False,
    system: str = "",
    judging: JudgeOptions | None = None,
    retry_failed: bool = False,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ValidateResult:
    """Compare metrics or judges with human judgements of recorded reviews, and write a report and its tables.

    `dataset` is a data set with recorded reviews and labels, which are put into the run folder `out`
    (`validity-<data set>`), or a run folder, whose scores stay in it while the report goes into `out`. `labels` is a
    table of judgements that counts instead of those of the data, or the metric that ran the tests of a run, whose
    findings and comments are then what judges and `hits` are compared with. `of_round` is the round to read instead of
    the first, `last` the one that each review ended with. `slices` are facts to break correlations down by, beside the
    system and the language. Without `report` none is written. The totals and `stop` say what stopped early, and the
    same call goes on.

    `fit` is the file for the metrics as one grade, which `combined(file=...)` reads. `sweep` fits the threshold of each
    `crscore` metric by the reviews of `system`. A judge of pairs is checked as an instrument, and with `judging` a
    metric is, too.
    """
    began = time.monotonic()
    judges, wanted = _told_apart(metrics)
    data = JudgedData(dataset, source, labels, stages)
    if data.tested:
        judges, wanted = [], [*wanted, *map(Hits, map(short_spec, judges))]
        if fit is not None or sweep or dimensions or slices:
            raise UserError("labels by tests are of findings, not of reviews", remedy="give the metrics alone")
    check_settings(resamples)
    _check_together(judges, wanted, dimensions, folds, (fit is not None, sweep, judging is not None))
    models, stop = models or ModelOptions(), stop or Interruption()
    show = abort_on_interrupt(stop, progress)
    measure = partial(
        measure_run, metrics=wanted, models=models, retry_failed=retry_failed, stop=stop, progress=progress
    )
    if data.tested:
        options = replace(judging or JudgeOptions(), resamples=Resamples(resamples, seed))
        made = _against_tests(data, wanted, options, out, measure, stop, write=not models.dry_run)
    elif judges or judging is not None:
        options = replace(judging or JudgeOptions(), resamples=Resamples(resamples, seed))
        reports = check_judges(data, judges or wanted, options, dimensions=dimensions, models=models, progress=show)
        made = ValidateResult(judges=reports, **_write_judges(out, () if models.dry_run else reports))
    elif sweep:
        swept = _swept(read_judged(data), wanted, system, dimensions, Resamples(resamples, seed), show)
        made = ValidateResult(sweep=swept, **_write_sweep(out, swept))
    else:
        settings = ValiditySettings(resamples, seed, folds, ("system",) if fit is not None else tuple(slices))
        with run_of_reviews(data, out, dry_run=models.dry_run, progress=progress) as there:
            measured = measure(there.run)
            folder, notes = str(there.folder), there.judged.notes
            made = ValidateResult(run=folder if models.dry_run else str(there.run.path), folder=folder, notes=notes)
            if models.dry_run or stop.is_set():
                found: dict[str, object] = {}  # figures on a part of the reviews would be other ones
            elif fit is not None:
                found = _fitted(there, wanted, fit, dimensions, settings, show)
            else:
                found = _compared(there, wanted, dimensions, of_round, settings, report, show)
            made = made.model_copy(update=found)
        made = made.model_copy(update={"totals": measured.totals, "spending": measured.spending})
    return made.model_copy(update={"seconds": round(time.monotonic() - began, 3)})


def _against_tests(
    data: JudgedData,
    metrics: Sequence[Metric],
    options: JudgeOptions,
    out: str | Path | None,
    measure: Callable[[RunFolder], MeasureResult],
    stop: Interruption,
    *,
    write: bool,
) -> ValidateResult:
    """Metrics that match comments with findings, against what the tests of the run showed."""
    with open_run(data, write=write) as run:
        tested = metric_that_tested(run, data.tested)
        measured = measure(run)
        whole = write and not stop.is_set()
        reports = tuple(compare_with_tests(run, one, tested, options) for one in metrics) if whole else ()
    made = ValidateResult(run=str(run.path), judges=reports, **_write_judges(out, reports))
    return made.model_copy(update={"totals": measured.totals, "spending": measured.spending})


def _check_together(
    judges: Sequence[Judge], metrics: Sequence[Metric], dimensions: Sequence[str], folds: int, also: tuple[bool, ...]
) -> None:
    """Raise UserError for what does not go together. `also`: whether a fit, a sweep, a check of judges is asked for."""
    if folds < 2:
        raise UserError(f"{folds} folds are too few", remedy="2 or more; 10 is the default")
    if not judges and not metrics:
        raise UserError("no metric given", remedy="reviewgauge list metrics")
    if sum(also) > 1:
        raise UserError("a fit, a sweep and a check of judges are things apart", remedy="name one of them")
    if len(dimensions) > 1 and any(also):
        raise UserError("one dimension at a time", remedy=f"--dimension {dimensions[0]}")
    if judges and (metrics or any(also[:2])):
        raise UserError("judges of pairs are validated apart from metrics", remedy="give them a command of their own")


def _told_apart(words: Sequence[str | Metric | Judge]) -> tuple[list[Judge], list[Metric]]:
    """(the judges of pairs, the metrics) that these words name."""
    judges = [(word, judge_of(word)) for word in words]
    others = [word for word, judge in judges if judge is None and not isinstance(word, Judge)]
    return [judge for _, judge in judges if judge is not None], find_metrics(others) if others else []


# --- metrics --------------------------------------------------------------------------------------------------------


def _compared(
    there: RunOfReviews,
    metrics: Sequence[Metric],
    dimensions: Sequence[str],
    of_round: str | None,
    settings: ValiditySettings,
    write: bool,
    progress: Progress,
) -> dict[str, object]:
    run, judged = there.run, there.judged
    bench = ReviewTable.of(run.cases(), run.outcomes(), judged.people)
    humans, notes = judged.humans(dimensions, of_round)
    shown = [human.dimension for human in humans]
    for name in settings.slices:
        if name not in bench.known_facts:
            raise UserError(f"no case has the fact {name!r}", remedy=f"there are: {', '.join(bench.known_facts)}")
    usual = [name for name in ("system", "language") if len({*bench.fact(name)} - {None}) > 1]
    published = published_figures(run.manifest.dataset.partition("(")[0]) if judged.own_labels else ()
    evidence = Evidence(
        bench,
        tuple(humans),
        (*(Scored.of(one, run.scores(signature(one)), shown) for one in metrics), *baselines(bench)),
        replace(settings, slices=tuple(dict.fromkeys([*usual, *settings.slices]))),
        dataset=run.manifest.dataset,
        benchmark=run.manifest.benchmark,
        warnings=notes,
        published=tuple(one for one in published if one.dimension in shown),
    )
    found = evidence.report(progress)
    return {"report": found, "files": _write_report(there.folder, found) if write else ()}


def _fitted(
    there: RunOfReviews,
    metrics: Sequence[Metric],
    file: str | Path,
    dimensions: Sequence[str],
    settings: ValiditySettings,
    progress: Progress,
) -> dict[str, object]:
    """Several metrics made into one grade, in the file that `combined` reads."""
    if Path(file).is_dir():
        raise UserError(f"{file} is a folder", remedy="name a file, such as combined.json")
    run, judged = there.run, there.judged
    humans, _ = judged.humans(dimensions)
    if len(humans) > 1:
        known = ", ".join(human.dimension for human in humans)
        raise UserError(f"people judged {known}", remedy="choose one with --dimension")
    named = {short_spec(metric): metric for metric in metrics}
    cases = run.cases()
    model, report = fit_combination(
        ReviewTable.of(cases, run.outcomes(), judged.people),
        humans[0],
        {spec: (metric, run.scores(signature(metric))) for spec, metric in named.items()},
        {case.id: reference_key(case) for case in cases},
        settings,
        dataset=run.manifest.dataset,
        progress=progress,
    )
    write_whole(Path(file), model.model_dump_json().encode() + b"\n")
    stacked = tuple(
        f"{spec} was {metric.estimate_note}: on the same labels its folds are others than those made here, so that "
        "what is fitted over it has seen labels of each fold"
        for spec, metric in named.items()
        if isinstance(metric, Combined)
    )
    spec = short_spec(Combined(str(file), asked_by(named)))
    found = report.model_copy(update={"file": str(file), "spec": spec, "notes": stacked})
    return {"fit": found, "notes": (*judged.notes, *stacked)}


# --- thresholds -----------------------------------------------------------------------------------------------------


def _swept(
    judged: JudgedReviews,
    metrics: Sequence[Metric],
    system: str,
    dimensions: Sequence[str],
    draws: Resamples,
    progress: Progress,
) -> ThresholdReport:
    """The threshold of each `crscore` metric's model by CRScore's rule, and what each threshold gives."""
    wanted = [_without_threshold(metric) for metric in metrics]
    if len({metric.claims for metric in wanted}) > 1:
        raise UserError("the metrics take different claims", remedy="sweep those with claims='references' apart")
    human, notes = _to_correlate(judged, dimensions, bool(system))
    bench = ReviewTable.of(judged.cases, judged.outcomes, judged.people)
    material = gather(judged.cases, bench, judged.labels, human, metric=wanted[0], system=system)
    fits = []
    for at, metric in enumerate(wanted):
        progress(at, len(wanted), metric.model)
        fits.append(fit_threshold(metric, material, draws))
    return ThresholdReport(
        dataset=judged.name,
        benchmark=benchmark_hash(judged.cases),
        claims=wanted[0].claims,
        system=material.system,
        chosen=material.chosen,
        dimension=human.dimension if human is not None else "",
        pairs=sum(len(own) for own in material.links.values()),
        addressed=sum(sum(own.values()) for own in material.links.values()),
        linked=len(material.links),
        fits=tuple(fits),
        resamples=draws.resamples,
        seed=draws.seed,
        warnings=(*material.warnings, *notes, *judged.notes),
    )


def _without_threshold(metric: Metric) -> Crscore:
    if not isinstance(metric, Crscore):
        raise UserError(f"{short_spec(metric)} has no threshold", remedy="sweep crscore(model='all-MiniLM-L6-v2')")
    return replace(metric, soft=False, threshold=None, threshold_of="", variant="")


def _to_correlate(
    judged: JudgedReviews, dimensions: Sequence[str], optional: bool
) -> tuple[HumanValues | None, tuple[str, ...]]:
    """People's values of `rel`, or of the only dimension; none where nobody judged, or where it is `optional`."""
    if dimensions:
        return judged.humans(dimensions)[0][0], ()
    known = {found.dimension: found for found in human_values(judged.labels, judged.scales)[0]}
    if REL in known:
        return known[REL], ()
    if len(known) == 1:
        (only,) = known
        return known[only], (f"people judged {only}, which may not be how relevant a review is",)
    there = f"there are: {', '.join(known)}" if known else "nobody judged these reviews"
    if known and not optional:
        raise UserError("people judged in several dimensions", remedy=f"name one with --dimension; {there}")
    return None, (f"no correlations: {there}",)


# --- files ----------------------------------------------------------------------------------------------------------


def _write(folder: str | Path, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Write each file whole or not at all: their names."""
    for name, text in texts.items():
        write_whole(Path(folder) / name, text.encode("utf-8", "replace"))
    return tuple(sorted(texts))


def _write_report(folder: Path, report: ValidityReport) -> tuple[str, ...]:
    from reviewgauge.views.csv import table_csv
    from reviewgauge.views.pages import document_page
    from reviewgauge.views.record_tables import record_tables
    from reviewgauge.views.validity.document import validity_document

    texts = {
        RESULT: report.model_dump_json(indent=1),
        **{f"{one.name}.csv": table_csv(one) for one in record_tables(report)},
        REPORT: document_page(validity_document(report)),
    }
    return _write(folder, texts)


def _write_judges(out: str | Path | None, reports: Sequence[JudgeReport]) -> dict[str, object]:
    """A page for each judge in the folder `out`, if there is one: the folder and the files' names."""
    from reviewgauge.views.judge_check import judge_document
    from reviewgauge.views.pages import document_page

    names = [REPORT, *(f"report-{number}.html" for number in range(2, len(reports) + 1))]
    pages = [document_page(judge_document(one)) for one in reports] if out is not None else []
    return {} if out is None else {"folder": str(out), "files": _write(out, dict(zip(names, pages, strict=False)))}


def _write_sweep(out: str | Path | None, report: ThresholdReport) -> dict[str, object]:
    from reviewgauge.views.pages import document_page
    from reviewgauge.views.validity.thresholds import threshold_document

    return (
        {}
        if out is None
        else {"folder": str(out), "files": _write(out, {REPORT: document_page(threshold_document(report))})}
    )
