"""The validity report of a run folder in a bundle: packed with its tables, recomputed when the bundle is checked."""

from __future__ import annotations

from pathlib import Path

from reviewgauge.analysis.validity.human_values import human_values
from reviewgauge.analysis.validity.report import LENGTH
from reviewgauge.api.judged_runs import open_run
from reviewgauge.api.validate import RESULT, STAMP, validate
from reviewgauge.core.errors import UserError
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.protocols import Progress
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.engine.bundle.compare import Contents, compare_tables, count_figures, first_difference
from reviewgauge.engine.bundle.contents import VALIDITY, RunEntry
from reviewgauge.engine.run.journal import write_whole
from reviewgauge.views.validity.csv_files import csv_tables

_LABELS = 4  # columns that name a row


def stage_validity(run: Path, entry: RunEntry, folder: Path) -> RunEntry:
    """Copy the report that `validate` left in a run folder, and its tables, into `folder`; the entry says so.

    A report of other labels or metrics than the run's is left out, with the reason: it could not be recomputed.
    """
    file = run / RESULT
    if not file.is_file():
        return entry
    report = parse_record(ValidityReport, file.read_bytes(), str(file))
    own = {RESULT, STAMP, *csv_tables(report)}
    others = {name: why for name, why in entry.left_out.items() if name not in own}
    if why := _not_of(run, entry, report):
        return entry.model_copy(update={"left_out": {**others, RESULT: why}})
    packed = report if entry.texts == "all" else without_texts(report)
    target = folder / VALIDITY / entry.name
    target.mkdir(parents=True)
    write_whole(target / RESULT, packed.model_dump_json(indent=1).encode())
    for name, text in csv_tables(packed).items():
        write_whole(target / name, text.encode("utf-8", "replace"))
    return entry.model_copy(update={"left_out": others, "validity": True})


def _not_of(run: Path, entry: RunEntry, report: ValidityReport) -> str:
    """Why a report cannot be recomputed from the run; empty when it can."""
    if report.benchmark != entry.benchmark:
        return "is a report on other cases"
    if missing := [one.label for one in report.metrics if one.metric not in (*entry.metrics, LENGTH)]:
        return f"is a report on {missing[0]}, with which the run was not scored"
    try:
        judged = open_run(str(run), None)
    except UserError as error:
        return str(error)
    with judged.run:
        known = {human.dimension: human.summary for human in human_values(judged.labels, judged.scales)[0]}
    if any(known.get(summary.dimension) != summary for summary in report.labels):
        return "was made with labels that the run does not hold (validate --labels)"
    return ""


def without_texts(report: ValidityReport) -> ValidityReport:
    """The report without the reviews and references that it quotes."""
    blank = {"hypothesis": "", "reference": ""}
    metrics = [
        one.model_copy(
            update={
                side: tuple(row.model_copy(update=blank) for row in getattr(one, side)) for side in ("over", "under")
            }
        )
        for one in report.metrics
    ]
    return report.model_copy(update={"metrics": tuple(metrics)})


def stored_report(contents: Contents, entry: RunEntry) -> ValidityReport:
    """The report as the bundle holds it, with its tables compared. Raises Differs."""
    place = f"{VALIDITY}/{entry.name}"
    found = contents.read_one(ValidityReport, f"{place}/{RESULT}")
    for name, text in csv_tables(found).items():
        compare_tables(contents, f"{place}/{name}", text, _LABELS)
    return found


def validity_files(contents: Contents, entry: RunEntry) -> list[str]:
    """The files of a report in a bundle."""
    place = f"{VALIDITY}/{entry.name}"
    found = contents.read_one(ValidityReport, f"{place}/{RESULT}")
    return [f"{place}/{name}" for name in (RESULT, *csv_tables(found))]


def make_again(contents: Contents, entry: RunEntry, run: Path, work: Path, progress: Progress | None) -> int:
    """Recompute the report of `run` (a whole run folder, measured); returns how many figures agree. Raises Differs."""
    name = f"{VALIDITY}/{entry.name}/{RESULT}"
    stored = stored_report(contents, entry)
    known = {*entry.metrics, LENGTH}  # those that were measured again; another one may be anything
    if more := [one.metric for one in stored.metrics if one.metric not in known]:
        raise contents.differs(name, more[0], "no metric of the run", row="metrics", column="metric")
    again = validate(
        str(run),
        *(metric for metric in dict.fromkeys(one.metric for one in stored.metrics) if metric != LENGTH),
        out=work,
        dimensions=[summary.dimension for summary in stored.labels],
        slices=list(dict.fromkeys(row.fact for one in stored.metrics for row in one.slices)),
        resamples=stored.resamples,
        seed=stored.seed,
        folds=stored.folds,
        progress=progress,
    ).report
    assert again is not None  # nobody could stop it
    found = again if entry.texts == "all" else without_texts(again)
    for at, (old, new) in enumerate(zip(stored.metrics, found.metrics, strict=False)):
        if difference := first_difference(
            old.model_dump(mode="json", exclude={"pins"}),
            new.model_dump(mode="json", exclude={"pins"}),
            10.0**-contents.digits,
        ):
            column, one, other = difference
            raise contents.differs(name, one, other, row=f"metrics[{at}] {old.label}, {old.dimension}", column=column)
    rest = {"metrics"}
    if difference := first_difference(
        stored.model_dump(mode="json", exclude=rest), found.model_dump(mode="json", exclude=rest)
    ):
        column, one, other = difference
        raise contents.differs(name, one, other, column=column)
    return sum(count_figures(text) for text in csv_tables(stored).values())
