"""`validate` of judges and graders: each an instrument whose errors are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reviewgauge.analysis.judge_check.correction import correct
from reviewgauge.analysis.judge_check.instrument import Asker, Instrument
from reviewgauge.analysis.judge_check.questions import (
    QuestionSet,
    families,
    grade_questions,
    pair_questions,
    verdict_questions,
)
from reviewgauge.analysis.judge_check.report import JudgeOptions, check_judge
from reviewgauge.analysis.judged import JudgedReviews
from reviewgauge.api.resolve import dataset_label, find_dataset
from reviewgauge.api.validation.data import JudgedData, read_judged
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Judge, Metric, Progress
from reviewgauge.core.reports.judge_check import JudgeCost, JudgeReport
from reviewgauge.core.specs import load, names, parse_spec
from reviewgauge.datasets.martian import Martian, judges
from reviewgauge.engine.run.model_options import ModelOptions, spending
from reviewgauge.models.request.model_spec import is_model, parse_model


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
    dimensions: Sequence[str],
    models: ModelOptions,
    progress: Progress | None,
) -> tuple[JudgeReport, ...]:
    """Measure judges of pairs or graders, each on the questions that `data` has for it."""
    found = []
    for instrument in [Instrument(word) for word in words]:
        questions, judged = _questions(data, instrument, dimensions, options.correct)
        known = families(judged.reviews if judged else (), options.authors)
        asker = Asker(instrument, models.in_flight, progress)
        with models.client() as client:
            corrected = correct(judged, asker, dimensions) if options.correct and judged else ()
            report = check_judge(replace(questions, authors=known), asker, options, corrected)
            bill = spending(client).sentence
        report = report.model_copy(update={"warnings": (*report.warnings, *([bill] if bill else []))})
        found.append(_dry(report) if models.dry_run else report)
    return tuple(found)


def _dry(report: JudgeReport) -> JudgeReport:
    """The report of a dry run: how much would be asked, without figures, as the answers were the fake model's."""
    kept = ("judge", "signature", "kind", "on", "models", "pins", "left_out", "resamples", "seed")
    return JudgeReport(
        **{name: getattr(report, name) for name in kept},
        agreement=(),
        spent=JudgeCost(questions=0, decisions=0),
        warnings=(f"{report.spent.questions:,} questions to ask", *report.warnings),
    )


def _questions(
    data: JudgedData, instrument: Instrument, dimensions: Sequence[str], correct: bool
) -> tuple[QuestionSet, JudgedReviews | None]:
    """(the questions for this kind of judge, the reviews behind people's). Raises UserError where there are none."""
    if not data.is_run and data.labels is None:
        dataset = find_dataset(data.word, data.source)
        if isinstance(dataset, Martian):
            if instrument.kind != "pairs":
                raise UserError(
                    f"{instrument.spec} is a grader, and martian has verdicts on pairs", remedy="name a judge of pairs"
                )
            if correct:
                raise UserError("--correct needs a run, or data, with labels by people", remedy="name a run")
            questions = verdict_questions(
                dataset_label(dataset),
                list(dataset.cases()),
                judges(dataset.folder),
                lambda rater: dataset.recorded(extractor=rater),
                instrument,
            )
            return questions, None
    judged = read_judged(data)
    questions = pair_questions(judged) if instrument.kind == "pairs" else grade_questions(judged, dimensions)
    return replace(questions, warnings=(*questions.warnings, *judged.notes)), judged
