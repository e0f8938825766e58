"""`reviewgauge validate`: metrics compared with human labels."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.judge_check.agreement import Resamples
from reviewgauge.analysis.judge_check.report import JudgeOptions
from reviewgauge.analysis.raters import AgreementSettings
from reviewgauge.analysis.validity.baselines import baselines
from reviewgauge.analysis.validity.human_values import HumanValues, human_values
from reviewgauge.analysis.validity.report import Evidence, ValiditySettings
from reviewgauge.analysis.validity.review_table import ReviewTable, RowFilter
from reviewgauge.analysis.validity.scored import Scored
from reviewgauge.api.points_study import judges_points, points_check
from reviewgauge.api.resolve import find_metrics
from reviewgauge.api.validation.data import NO_LABELS, JudgedData, JudgedRun, measured_run, read_judged
from reviewgauge.api.validation.fit import fit_metrics
from reviewgauge.api.validation.judges import check_judges, judge_of
from reviewgauge.api.validation.sweep import SweepOptions, sweep_thresholds
from reviewgauge.core.base import Fact, Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import read_within, write_whole
from reviewgauge.core.protocols import Dataset, Judge, Metric, Progress, Stage
from reviewgauge.core.reports.agreement import AgreementReport
from reviewgauge.core.reports.judge_check import JudgeReport
from reviewgauge.core.reports.threshold import ThresholdReport
from reviewgauge.core.reports.validity import FitReport, ValidityReport
from reviewgauge.core.specs import signature
from reviewgauge.datasets.files.published import published_figures
from reviewgauge.engine.run.executors import Interruption, abort_on_interrupt
from reviewgauge.engine.run.model_options import ModelOptions, Spending
from reviewgauge.engine.score import MeasureResult, ScoreTotals
from reviewgauge.models.cache.vector_cache import cache_home

REPORT, RESULT = "report.html", "validity.json"
_CODE = ("analysis", "core", "views")
_LIBRARIES = ("numpy", "scipy")


class ValidateResult(Record):
    """What was found: a `report` of metrics, or one of each of the `judges`, a `fit`, a `sweep`, or `agreement`.

    `files` lie in `folder`, and may be `unchanged` since the last time. `report` and `fit` are None where measuring was
    stopped early, and with `--dry-run`; then no file is written. `agreement` is that of `points` with people's sheets.
    """

    schema_version: int = 1
    run: str = ""
    folder: str = ""
    files: tuple[str, ...] = ()
    unchanged: bool = False
    totals: tuple[ScoreTotals, ...] = ()
    report: ValidityReport | None = None
    judges: tuple[JudgeReport, ...] = ()
    fit: FitReport | None = None
    sweep: ThresholdReport | None = None
    agreement: AgreementReport | None = None
    spending: Spending = Spending()
    notes: tuple[str, ...] = ()
    seconds: float = Field(default=0.0, ge=0)


Then = Callable[[Path, JudgedRun], ValidateResult]


def validate(
    dataset: str | Dataset,
    *metrics: str | Metric | Judge,
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
    table of judgements that counts instead of those of the data, `of_round` the round to read instead of the first,
    `last` the one that each review ended with. `slices` are facts to break correlations down by, beside the system and
    the language. `where` (`{"system": "Auger"}` or `["system=Auger"]`) makes the report on the rows with these facts,
    in a folder inside `out`. Without `report` none is written. The totals and `stop` say what stopped early, and the
    same call goes on.

    `fit` is the file for the metrics as one grade, which `combined(file=...)` reads. `sweep` fits the threshold of each
    `crscore` metric by the reviews of `system`. A judge of pairs is checked as an instrument, and with `judging` a
    metric is, too; `dataset` may then be a file of stored questions, and a report is written where `out` says.
    """
    began = time.monotonic()
    check_settings(resamples)
    if folds < 2:
        raise UserError(f"{folds} folds are too few", remedy="2 or more; 10 is the default")
    if not metrics:
        raise UserError("no metric given", remedy="reviewgauge list metrics")
    if sum((fit is not None, sweep, judging is not None)) > 1:
        raise UserError("a fit, a sweep and a check of judges are things apart", remedy="name one of them")
    models, stop = models or ModelOptions(), stop or Interruption()
    data, show = JudgedData(dataset, source, labels, stages), abort_on_interrupt(stop, progress)
    judges, wanted = _told_apart(metrics)
    if judges and (wanted or fit is not None or sweep):
        raise UserError("judges of pairs are validated apart from metrics", remedy="give them a command of their own")
    if judges or judging is not None:
        options = replace(judging or JudgeOptions(), resamples=Resamples(resamples, seed))
        reports = check_judges(
            data, judges or wanted, options, dimension=_single(dimensions), models=models, progress=show
        )
        made = ValidateResult(judges=reports, **_write_pages(out, {} if models.dry_run else _judge_pages(reports)))
    elif judges_points(wanted, labels):
        settings = AgreementSettings(resamples=resamples, seed=seed)
        made = ValidateResult(agreement=points_check(wanted[0], data, models, settings, show))
    elif sweep:
        rule = SweepOptions(system, _single(dimensions), resamples, seed)
        swept = sweep_thresholds(read_judged(data), wanted, rule, show)
        made = ValidateResult(sweep=swept, **_write_pages(out, {REPORT: partial(_threshold_page, swept)}))
    else:
        settled = ValiditySettings(resamples, seed, folds)
        asked = _Wanted(dimensions, slices, of_round, RowFilter.of(where))
        then: Then = partial(_compared, wanted, asked, settled, report, show)
        if fit is not None:
            settled = replace(settled, slices=("system",))
            then = partial(_fitted, wanted, fit, _single(dimensions), settled, show)
        measuring = measured_run(data, out, wanted, models, retry_failed=retry_failed, stop=stop, progress=progress)
        made = _measured(measuring, then, stop)
    return made.model_copy(update={"seconds": round(time.monotonic() - began, 3)})


def _told_apart(words: Sequence[str | Metric | Judge]) -> tuple[list[Judge], list[Metric]]:
    """(the judges of pairs, the metrics) that these words name."""
    judges = [(word, judge_of(word)) for word in words]
    others = [word for word, judge in judges if judge is None and not isinstance(word, Judge)]
    return [judge for _, judge in judges if judge is not None], find_metrics(others) if others else []


def _measured(
    measuring: AbstractContextManager[tuple[Path, JudgedRun | None, MeasureResult]], then: Then, stop: Interruption
) -> ValidateResult:
    """What `then` makes of the measured run; nothing where measuring was stopped, or rehearsed."""
    with measuring as (folder, judged, measured):
        if judged is None or stop.is_set():  # figures on a part of the reviews would be other ones
            at, notes = (judged.run.path, judged.notes) if judged else (folder, ())
            made = ValidateResult(run=str(at), folder=str(at), notes=notes)
        else:
            made = then(folder, judged)
    return made.model_copy(update={"totals": measured.totals, "spending": measured.spending})


def _judge_pages(reports: Sequence[JudgeReport]) -> dict[str, Callable[[], str]]:
    from reviewgauge.views.judge_check import judge_document
    from reviewgauge.views.report.report import document_page

    names = [REPORT, *(f"report-{number}.html" for number in range(2, len(reports) + 1))]
    documents = map(judge_document, reports)
    return {name: partial(document_page, one) for name, one in zip(names, documents, strict=True)}


def _threshold_page(report: ThresholdReport) -> str:
    from reviewgauge.views.validity.threshold_page import threshold_page

    return threshold_page(report)


def _single(dimensions: Sequence[str]) -> str:
    """The one dimension that was named, empty for none."""
    if len(dimensions) > 1:
        raise UserError("one dimension at a time", remedy=f"--dimension {dimensions[0]}")
    return dimensions[0] if dimensions else ""


def _fitted(
    metrics: Sequence[Metric],
    file: str | Path,
    dimension: str,
    settings: ValiditySettings,
    show: Progress,
    folder: Path,
    judged: JudgedRun,
) -> ValidateResult:
    found = fit_metrics(judged, metrics, file, dimension, settings, show)
    notes = (*judged.notes, *found.notes)
    return ValidateResult(run=str(judged.run.path), folder=str(folder), fit=found, notes=notes)


def _compared(
    metrics: Sequence[Metric],
    wanted: _Wanted,
    settings: ValiditySettings,
    write: bool,
    show: Progress,
    folder: Path,
    judged: JudgedRun,
) -> ValidateResult:
    evidence = _evidence(judged, metrics, wanted, settings)
    if wanted.where is not None:
        folder = _subfolder(folder, wanted.where)
    found, files, known = _report(folder, evidence, write, show)
    return ValidateResult(
        run=str(judged.run.path),
        folder=str(folder),
        files=files,
        unchanged=known,
        report=found,
        notes=judged.notes,
    )


def _write_pages(out: str | Path | None, pages: Mapping[str, Callable[[], str]]) -> dict[str, object]:
    """Write the pages (by file name) into the folder `out`, if there is one: the folder and the files' names."""
    if out is None:
        return {}
    for name, page in pages.items():
        write_whole(Path(out) / name, page().encode("utf-8", "replace"))
    return {"folder": str(out), "files": tuple(pages)}


def _subfolder(folder: Path, part: RowFilter) -> Path:
    if (found := folder / part.folder).is_symlink():
        raise UserError(f"{found} is a link, which could lead anywhere", remedy="remove it")
    return found


def _evidence(judged: JudgedRun, metrics: Sequence[Metric], wanted: _Wanted, settings: ValiditySettings) -> Evidence:
    run = judged.run
    bench = ReviewTable.of(run.cases(), run.outcomes(), judged.people)
    among = None
    if wanted.where is not None:
        bench = wanted.where.narrow(bench)
        among = {bench.keys[at] for at in bench.places}
    humans, notes = human_values(judged.labels, judged.scales, of_round=wanted.of_round, among=among)
    chosen = tuple(wanted.of(humans, notes))
    dimensions = [human.dimension for human in chosen]
    scored = [Scored.of(metric, run.scores(signature(metric)), dimensions) for metric in metrics]
    return Evidence(
        bench,
        chosen,
        (*scored, *baselines(bench)),
        replace(settings, slices=wanted.facts(bench)),
        dataset=run.manifest.dataset,
        benchmark=run.manifest.benchmark,
        warnings=tuple(notes),
        published=published_figures(run.manifest.dataset.partition("(")[0]) if judged.own_labels else (),
    )


class _Wanted(NamedTuple):
    """What the user asked to see."""

    dimensions: Sequence[str]
    slices: Sequence[str]
    of_round: str | None
    where: RowFilter | None

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

    def facts(self, bench: ReviewTable) -> tuple[str, ...]:
        """The facts to slice by: system and language where there are several, and those that were named."""
        known = bench.known_facts
        for name in self.slices:
            if name not in known:
                raise UserError(f"no case has the fact {name!r}", remedy=f"there are: {', '.join(known)}")
        usual = [name for name in ("system", "language") if len(bench.values(name)) > 1]
        return tuple(dict.fromkeys([*usual, *self.slices]))


def _report(
    folder: Path, evidence: Evidence, write: bool, progress: Progress
) -> tuple[ValidityReport, tuple[str, ...], bool]:
    """(the report, the names of its files, whether they are unchanged)."""
    made_of = digest(evidence.inputs)
    if (known := unchanged(folder, made_of)) is not None:
        return ValidityReport.model_validate_json(read_within(folder / RESULT)), known, True
    found = evidence.report(progress)
    return found, _write(folder, found, made_of) if write else (), False


def _write(folder: Path, report: ValidityReport, made_of: str) -> tuple[str, ...]:
    """The page, its tables and the whole report as JSON, each file whole or not at all: their names."""
    from reviewgauge.views.validity.csv_files import csv_tables
    from reviewgauge.views.validity.report import render

    texts = {RESULT: report.model_dump_json(indent=1), **csv_tables(report)}
    texts[REPORT] = render(report)
    for name, text in texts.items():
        write_whole(folder / name, text.encode("utf-8", "replace"))
    write_note(folder, made_of, sorted(texts))
    return tuple(sorted(texts))


# --- whether the files are still what the same inputs would make ----------------------------------------------------


def digest(inputs: Iterable[object]) -> str:
    """A digest of these values by what they print as, of the code that computes and draws, and of its libraries."""
    found = hashlib.sha256()
    for value in inputs:
        found.update(repr(value).encode("utf-8", "backslashreplace"))
    home = Path(__file__).parents[1]
    for file in sorted(file for name in _CODE for file in (home / name).rglob("*") if file.suffix != ".pyc"):
        if file.is_file():
            found.update(file.read_bytes())
    for library in _LIBRARIES:
        try:
            found.update(metadata.version(library).encode())
        except metadata.PackageNotFoundError:
            found.update(b"-")
    return found.hexdigest()


def unchanged(folder: Path, made_of: str) -> tuple[str, ...] | None:
    """The names of the files in `folder` if they are unchanged and made from the same inputs; None otherwise.

    What they were is noted in the user's cache: a folder may be a stranger's, and does not speak for itself.
    """
    note = _note(folder)
    try:
        if note is None:
            return None
        known = json.loads(read_within(note))
        files: dict[str, str] = known["files"]
        if known["made_of"] != made_of or any(_sha(folder / name) != sha for name, sha in files.items()):
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # nothing noted, a broken note, or a file that is gone
    return tuple(files)


def write_note(folder: Path, made_of: str, files: Sequence[str]) -> None:
    """Note in the cache what the files were made from, and their digests."""
    if (note := _note(folder)) is not None:
        known = {"made_of": made_of, "files": {name: _sha(folder / name) for name in files}}
        with suppress(OSError, UserError):  # a cache that cannot be written costs time alone
            write_whole(note, json.dumps(known).encode())


def _note(folder: Path) -> Path | None:
    home = cache_home()
    return home and home / "reports" / f"{hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()}.json"


def _sha(path: Path) -> str:
    return hashlib.sha256(read_within(path)).hexdigest()
