"""`validate` of judges and graders: each an instrument whose errors are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from reviewgauge.analysis.judge_check.correction import correct_grades, correct_pairs
from reviewgauge.analysis.judge_check.instrument import Ask, Asker, GradeInstrument, Instrument, PairInstrument
from reviewgauge.analysis.judge_check.questions import (
    Item,
    QuestionSet,
    families,
    grade_questions,
    pair_questions,
    single,
    verdict_questions,
)
from reviewgauge.analysis.judge_check.report import JudgeOptions, check_judge
from reviewgauge.analysis.judged import JudgedReviews
from reviewgauge.api.resolve import dataset_label, find_dataset
from reviewgauge.api.validation.data import JudgedData, holds_questions, is_run, read_judged
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.parsing import first_problem, lines
from reviewgauge.core.protocols import Judge, Metric, Progress
from reviewgauge.core.reports.judge_check import Corrected, JudgeCost, JudgeReport, StoredQuestion
from reviewgauge.core.specs import load, names, parse_spec
from reviewgauge.datasets.martian import Martian, judges
from reviewgauge.engine.run.model_options import ModelOptions, spending
from reviewgauge.models.request.model_spec import is_model, parse_model

KINDS = {"pairs": "a judge of pairs", "grades": "a grader"}


def judge_of(word: str | Judge | Metric) -> Judge | None:
    """The judge that a word names, None where it is a metric's; a bare model is `same_concern` with that model."""
    if not isinstance(word, str):
        return word if isinstance(word, Judge) else None
    if is_model(word):
        parse_model(word)
        return load(Judge, f"same_concern(model={word!r})")
    name = parse_spec(word).name
    if name in names(Judge.kind):
        return load(Judge, word)
    if "." not in name:
        return None
    try:
        return load(Judge, word)
    except UserError as error:
        if " is not a Judge" not in str(error) and "no public Judge" not in str(error):
            raise
        return None


def check_judges(
    data: JudgedData,
    words: Sequence[Judge | Metric],
    options: JudgeOptions,
    *,
    dimension: str,
    models: ModelOptions,
    progress: Progress | None,
) -> tuple[JudgeReport, ...]:
    """Measure judges of pairs or graders, each on the questions that `data` has for it."""
    if len(words) > 1 and options.save_questions is not None:
        raise UserError("a stored set has the answers of one judge", remedy="name one judge with --save-questions")
    instruments = [PairInstrument(word) if isinstance(word, Judge) else GradeInstrument(word) for word in words]
    return tuple(_check(one, data, options, dimension, models, progress) for one in instruments)


def _check(
    instrument: Instrument,
    data: JudgedData,
    options: JudgeOptions,
    dimension: str,
    models: ModelOptions,
    progress: Progress | None,
) -> JudgeReport:
    reference = _reference(data, instrument, options.authors, dimension)
    asker = Asker(instrument, models.in_flight, progress)
    with models.client() as client:
        corrected = _corrected(reference, asker) if options.correct else ()
        report, stored = check_judge(reference.questions, asker, options, before=reference.before, corrected=corrected)
        bill = spending(client).sentence
    report = report.model_copy(update={"warnings": (*report.warnings, *([bill] if bill else []))})
    if models.dry_run:
        return _dry(report)
    if options.save_questions is not None:
        write_whole(Path(options.save_questions), b"".join(item.to_line() for item in stored))
    return report


def _dry(report: JudgeReport) -> JudgeReport:
    """The report of a dry run: how much would be asked, without figures, as the answers were the fake model's."""
    kept = ("judge", "signature", "kind", "on", "models", "pins", "left_out", "resamples", "seed")
    return JudgeReport(
        **{name: getattr(report, name) for name in kept},
        agreement=(),
        spent=JudgeCost(questions=0, decisions=0),
        warnings=(f"{report.spent.questions:,} questions to ask", *report.warnings),
    )


def _corrected(reference: _Reference, asker: Asker) -> Sequence[Corrected]:
    if reference.judged is None:
        raise UserError("--correct needs a run, or a data set, with labels by people", remedy="validate RUN --correct")
    by_kind = correct_pairs if asker.instrument.kind == "pairs" else correct_grades
    return by_kind(reference.judged, asker)


# --- what a judge is compared with ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reference:
    """The questions, the reviews behind them, which a correction needs, and the lines of a stored set."""

    questions: QuestionSet
    judged: JudgedReviews | None = None
    before: Sequence[StoredQuestion] = ()


def _reference(data: JudgedData, instrument: Instrument, authors: Mapping[str, str], dimension: str) -> _Reference:
    """The questions for this kind of judge. Raises UserError where the data has none."""
    if holds_questions(data.word):
        if data.source or data.stages or data.labels:
            raise UserError("a file of questions has its labels", remedy="leave --from, --stage and --labels out")
        return _stored(Path(str(data.word)), instrument, authors)
    if not is_run(data.word) and data.labels is None:
        dataset = find_dataset(data.word, data.source)
        if isinstance(dataset, Martian):
            if instrument.kind != "pairs":
                raise UserError(
                    f"{instrument.spec} is a grader, and martian has verdicts on pairs", remedy="name a judge of pairs"
                )
            questions = verdict_questions(
                dataset_label(dataset),
                list(dataset.cases()),
                judges(dataset.folder),
                lambda rater: dataset.recorded(extractor=rater),
                instrument,
            )
            return _Reference(replace(questions, authors=families([], authors)))
    judged = replace(read_judged(data), dimension=dimension)
    questions = pair_questions(judged) if instrument.kind == "pairs" else grade_questions(judged)
    notes = (*questions.warnings, *judged.notes)
    return _Reference(replace(questions, authors=families(judged.reviews, authors), warnings=notes), judged)


def _stored(file: Path, instrument: Instrument, authors: Mapping[str, str]) -> _Reference:
    """The questions of a stored set. Raises BadInput, UserError."""
    found: list[StoredQuestion] = []
    try:
        with file.open("rb") as stream:
            for number, line in lines(stream, file.name):
                try:
                    found.append(StoredQuestion.model_validate_json(line))
                except ValidationError as error:
                    where, problem = first_problem(error)
                    raise BadInput(file.name, problem, record=number, field=where) from None
                _check_rows(found[-1], file.name, number)
    except OSError as error:
        raise UserError(f"cannot read {file.name}: {error.strerror}") from None
    kinds = {one.kind for one in found}
    if kinds != {instrument.kind}:
        what = "pairs and grades" if len(kinds) > 1 else KINDS[next(iter(kinds))]
        raise UserError(f"{file.name} is for {what}, and {instrument.spec} is {KINDS[instrument.kind]}")
    items = tuple(Item(Ask(one.case, one.review, one.rows), one.rater, one.truth, one.cluster) for one in found)
    truths = [value for one in found for value in one.truth if value is not None]
    questions = QuestionSet(
        instrument.kind,
        file.name,
        items,
        _singles(items),
        authors=families([one.review for one in found], authors),
        lowest=min(truths, default=0.0),
    )
    return _Reference(questions, before=found)


def _check_rows(one: StoredQuestion, source: str, number: int) -> None:
    rows = one.rows
    expected = 1 if one.kind == "grades" else len(one.case.references) if rows is None else len(rows)
    if len(one.truth) != expected or (one.said and len(one.said) != expected):
        raise BadInput(source, f"has {len(one.truth)} truths for {expected} rows", record=number, field="truth")
    comments, known = len(one.review.comments), len(one.case.references)
    if rows is not None and any(not (0 <= c < comments and 0 <= r < known) for c, r in rows):
        raise BadInput(source, "names a comment or reference that is not there", record=number, field="rows")


def _singles(items: Sequence[Item]) -> tuple[Item, ...]:
    """The single questions in a set: its pairs or reviews; of whole reviews those of one comment and finding."""
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
