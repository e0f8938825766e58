"""`reviewgauge judge-check`: a judge as an instrument, with its errors measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.judge_check.agreement import Resamples
from reviewgauge.analysis.judge_check.correction import correct_grades, correct_pairs
from reviewgauge.analysis.judge_check.instrument import Ask, Asker, GradeInstrument, Instrument, PairInstrument
from reviewgauge.analysis.judge_check.reference_labels import (
    Item,
    JudgeBench,
    Material,
    families,
    grade_bench,
    label_bench,
    single,
    verdict_bench,
)
from reviewgauge.analysis.judge_check.report import PARTS, Wanted, check_judge
from reviewgauge.api.judged_runs import is_run, keep_latest, scales_and_people
from reviewgauge.api.resolve import dataset_label, find_dataset
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import check_page, write_whole
from reviewgauge.core.parsing import first_problem, lines
from reviewgauge.core.protocols import Dataset, Judge, Metric, Progress
from reviewgauge.core.reports.judge_check import CalibrationItem, Corrected, JudgeCost, JudgeReport
from reviewgauge.core.specs import load, names, parse_spec
from reviewgauge.datasets.files.labels import on_reviews, read_label_file
from reviewgauge.datasets.martian import Martian, judges
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.model_options import ModelOptions, spending
from reviewgauge.models.request.model_spec import is_model, parse_model

KINDS = {"pairs": "a judge of pairs", "grades": "a grader"}


def judge_check(
    judge: str | Judge | Metric,
    *,
    on: str | Dataset | None = None,
    source: str | Path | None = None,
    labels: str | Path | None = None,
    calibration: str | Path | None = None,
    save_calibration: str | Path | None = None,
    correct: bool = False,
    authors: Mapping[str, str] | None = None,
    dimension: str = "",
    limit: int | None = None,
    probes: int = 30,
    repeats: int = 3,
    only: Sequence[str] = (),
    min_kappa: float | None = None,
    lower: bool = False,
    resamples: int = 1_000,
    seed: int = 0,
    out: str | Path | None = None,
    models: ModelOptions | None = None,
    progress: Progress | None = None,
) -> JudgeReport:
    """Measure a judge of pairs or a grader, and say how far it can be trusted.

    `on` is a data set with recorded reviews or a run folder; `labels` a file of people's judgements that count instead
    of those of the data. `calibration` is a stored set instead of `on`; `save_calibration` writes one. `correct` also
    corrects each system's scores, with the reviews that people checked. `authors` says which model a system is
    (`{"tool": "gpt-5"}`). `limit` draws rows for the agreement, `probes` questions to be edited, `only` keeps some
    parts. `min_kappa` is a gate, with `lower` on the lower end of the interval. `out` is an HTML page.
    """
    check_page(out)
    check_settings(resamples)
    if lower and min_kappa is None:
        raise UserError("--lower belongs to a gate", remedy="--min-kappa .7 --lower")
    parts = tuple(dict.fromkeys(only)) or PARTS
    wanted = Wanted(parts, limit, probes, repeats, Resamples(resamples, seed), min_kappa, lower)
    models = models or ModelOptions()
    instrument = find_instrument(judge)
    authors = authors or {}
    if calibration is None:
        reference = reference_labels(on, instrument, source=source, labels=labels, authors=authors, dimension=dimension)
    elif on is None and labels is None:
        reference = read_calibration(Path(calibration), instrument, authors)
    else:
        raise UserError("--calibration cannot be combined with --on or --labels", remedy="leave --on and --labels out")
    asker = Asker(instrument, models.in_flight, progress)
    with models.client() as client:
        corrected = _corrected(reference, asker) if correct else ()
        checked = check_judge(reference.bench, asker, wanted, before=reference.before, corrected=corrected)
        bill = spending(client).sentence
    report = checked.report.model_copy(update={"warnings": (*checked.report.warnings, *([bill] if bill else []))})
    if models.dry_run:
        return _dry_run_report(report)
    if save_calibration is not None:
        write_whole(Path(save_calibration), b"".join(item.to_line() for item in checked.calibration))
    if out is not None:
        from reviewgauge.views.report.report import judge_page

        write_whole(Path(out), judge_page(report).encode("utf-8", "replace"))
    return report


def _dry_run_report(report: JudgeReport) -> JudgeReport:
    """The report of a dry run: how much would be asked, without figures, as the answers were the fake model's."""
    kept = ("judge", "signature", "kind", "on", "models", "pins", "left_out", "resamples", "seed")
    return JudgeReport(
        **{name: getattr(report, name) for name in kept},
        agreement=(),
        spent=JudgeCost(questions=0, decisions=0),
        warnings=(f"{report.spent.questions:,} questions to ask", *report.warnings),
    )


def _corrected(reference: ReferenceSet, asker: Asker) -> Sequence[Corrected]:
    if reference.material is None:
        raise UserError("--correct needs a run, or a data set, with labels by people", remedy="--on RUN --correct")
    by_kind = correct_pairs if asker.instrument.kind == "pairs" else correct_grades
    return by_kind(reference.material, asker)


# --- the judge, and what it is compared with ------------------------------------------------------------------------


def find_instrument(word: str | Judge | Metric) -> Instrument:
    """The judge or grader that a word names; a bare model is the judge `same_concern` with that model."""
    if isinstance(word, Judge):
        return PairInstrument(word)
    if isinstance(word, Metric):
        return GradeInstrument(word)
    if is_model(word):
        parse_model(word)
        return PairInstrument(load(Judge, f"same_concern(model={word!r})"))
    name = parse_spec(word).name
    if name in names(Metric.kind) and name not in names(Judge.kind):
        return GradeInstrument(load(Metric, word))
    try:
        return PairInstrument(load(Judge, word))
    except UserError as error:
        if "." not in name or (" is not a Judge" not in str(error) and "no public Judge" not in str(error)):
            raise
        return GradeInstrument(load(Metric, word))


@dataclass(frozen=True)
class ReferenceSet:
    """The bench, the material behind it, which a correction needs, and the lines of a stored set."""

    bench: JudgeBench
    material: Material | None = None
    before: Sequence[CalibrationItem] = ()


def reference_labels(
    on: str | Dataset | None,
    instrument: Instrument,
    *,
    source: str | Path | None,
    labels: str | Path | None,
    authors: Mapping[str, str],
    dimension: str,
) -> ReferenceSet:
    """The questions for this kind of judge from what `--on` names. Raises UserError where they do not fit."""
    if on is None:
        raise UserError("--on is required: name the reference labels", remedy="martian, graded_reviews or a run folder")
    if not is_run(on):
        dataset = find_dataset(on, source)
        if isinstance(dataset, Martian) and labels is None:
            _fits(instrument, "pairs", "martian has verdicts on pairs")
            bench = verdict_bench(
                dataset_label(dataset),
                list(dataset.cases()),
                judges(dataset.folder),
                lambda rater: dataset.recorded(extractor=rater),
                instrument,
            )
            return ReferenceSet(replace(bench, authors=families([], authors)))
        reviews, recorded = dataset.recorded()
        cases, label, scales = list(dataset.cases()), dataset_label(dataset), dict(dataset.scales())
        found = list(recorded) or [one for case in cases for one in case.labels]
        people: Sequence[str] = tuple(dataset.human_systems)
    else:
        if source is not None:
            raise UserError("--from says where a data set's files are, and this is a run")
        with RunFolder.open(str(on)) as run:
            cases = list(run.cases())
            reviews = [outcome.review for outcome in run.outcomes() if outcome.review is not None]
            found = list(keep_latest(one for case in cases for one in case.labels)[0])
            label, people = Path(str(on)).name, ()
            scales = dict(scales_and_people(run.manifest.dataset)[0])
    if labels is not None:
        read = read_label_file(Path(labels))
        found, scales = list(on_reviews(read, reviews, Path(labels).name)), {}
    material = Material(label, cases, reviews, found, scales, frozenset(people), dimension)
    bench = label_bench(material) if instrument.kind == "pairs" else grade_bench(material)
    return ReferenceSet(replace(bench, authors=families(reviews, authors)), material)


def _fits(instrument: Instrument, kind: str, why: str) -> None:
    if instrument.kind != kind:
        raise UserError(f"{instrument.spec} is {KINDS[instrument.kind]}, and {why}", remedy=f"name {KINDS[kind]}")


# --- stored calibration sets ---------------------------------------------------------------------------------------


def read_calibration(file: Path, instrument: Instrument, authors: Mapping[str, str]) -> ReferenceSet:
    """The questions of a stored set. Raises BadInput, UserError."""
    found: list[CalibrationItem] = []
    try:
        with file.open("rb") as stream:
            for number, line in lines(stream, file.name):
                try:
                    found.append(CalibrationItem.model_validate_json(line))
                except ValidationError as error:
                    where, problem = first_problem(error)
                    raise BadInput(file.name, problem, record=number, field=where) from None
                _check_rows(found[-1], file.name, number)
    except OSError as error:
        raise UserError(f"cannot read {file.name}: {error.strerror}") from None
    if not found:
        raise BadInput(file.name, "holds no question", remedy="judge-check ... --save-calibration FILE writes one")
    kinds = {one.kind for one in found}
    if kinds != {instrument.kind}:
        what = "pairs and grades" if len(kinds) > 1 else KINDS[next(iter(kinds))]
        raise UserError(f"{file.name} is for {what}, and {instrument.spec} is {KINDS[instrument.kind]}")
    items = tuple(Item(Ask(one.case, one.review, one.rows), one.rater, one.truth, one.cluster) for one in found)
    truths = [value for one in found for value in one.truth if value is not None]
    bench = JudgeBench(
        instrument.kind,
        file.name,
        items,
        _singles(items),
        authors=families([one.review for one in found], authors),
        lowest=min(truths, default=0.0),
    )
    return ReferenceSet(bench, before=found)


def _check_rows(one: CalibrationItem, source: str, number: int) -> None:
    rows = one.rows
    expected = 1 if one.kind == "grades" else len(one.case.references) if rows is None else len(rows)
    if len(one.truth) != expected or (one.said and len(one.said) != expected):
        raise BadInput(source, f"has {len(one.truth)} truths for {expected} rows", record=number, field="truth")
    comments, known = len(one.review.comments), len(one.case.references)
    if rows is not None and any(not (0 <= c < comments and 0 <= r < known) for c, r in rows):
        raise BadInput(source, "names a comment or reference that is not there", record=number, field="rows")


def _singles(items: Sequence[Item]) -> tuple[Item, ...]:
    """The single questions in a set: its pairs or reviews; of shared out reviews those of one comment and finding."""
    found = []
    for item in items:
        ask, comments, references = item.ask, item.ask.review.comments, item.ask.case.references
        if ask.rows is None:
            if len(item.truth) == 1 and len(comments) == 1:
                found.append(item)
            continue
        for (c, r), truth in zip(ask.rows, item.truth, strict=True):
            pair = single(ask.case, ask.review, comments[c].id, references[r].id)
            found.append(Item(pair, item.rater, (truth,), item.cluster))
    return tuple(found)
