"""Reviews with human labels: recorded ones of a data set, or those of a run folder, perhaps with labels of the user."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

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
from reviewgauge.analysis.validity.human_values import NO_LABELS, JudgedReviews
from reviewgauge.api.resolve import dataset_label, find_dataset, find_stages, given_path, staged_label
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import check_unnamed
from reviewgauge.core.labels import Label, RaterKind, Scale, SubjectKind
from reviewgauge.core.protocols import Dataset, Judge, Metric, Progress, Stage
from reviewgauge.core.records import Review
from reviewgauge.core.reports.judge_check import JudgeCost, JudgeReport
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load, load_from, names, parse_spec
from reviewgauge.core.stored import Lazy, replayable
from reviewgauge.core.trust import FromFile
from reviewgauge.datasets.files.labels import on_reviews, read_label_file
from reviewgauge.datasets.martian import Martian, judges
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.engine.review import import_reviews
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.engine.run.model_options import ModelOptions, spending
from reviewgauge.models.request.model_spec import is_model, parse_model
from reviewgauge.repo.git.folders import scratch_folder


@dataclass(frozen=True)
class JudgedData:
    """What the user names: a data set or a run folder, where its files are, labels of their own, and stages."""

    word: str | Dataset
    source: str | Path | None = None
    labels: str | Path | None = None
    stages: Sequence[str | Stage] = ()

    @property
    def is_run(self) -> bool:
        """Whether the word names a run folder."""
        return is_run(self.word)

    @property
    def tested(self) -> str:
        """The metric of the run whose tests are the labels, by its name; empty where labels are a file's, or none."""
        if self.labels is None or Path(self.labels).exists():
            return ""
        if not self.is_run:
            raise UserError(
                f"{self.labels} does not exist", remedy="name a file, or a metric that a run ran tests with"
            )
        return str(self.labels)

    @property
    def folder(self) -> Path:
        """`validity-NAME`, where nothing else is asked for."""
        if self.is_run:
            label = Path(str(self.word)).resolve().name
        else:
            label = staged_label(find_dataset(self.word), find_stages(self.stages)).removesuffix(".jsonl")
        plain = re.sub(r"[^\w.=-]+", "-", label).strip("-.")
        return Path(f"validity-{plain or 'data'}")


class RunOfReviews(NamedTuple):
    """An open run of the judged reviews, and the folder for what is written of them."""

    folder: Path
    run: RunFolder
    judged: JudgedReviews


def is_run(word: str | Path | Dataset) -> bool:
    """Whether a word names a run folder; a folder that is called like a data set needs a `./`."""
    if isinstance(word, Dataset):
        return False
    return str(word) not in names(Dataset.kind) and (Path(word) / MANIFEST).is_file()


def first_record(file: Path) -> dict[str, object]:
    """The first line of a JSON lines file; empty where it is none, or no object."""
    if file.suffix not in (".jsonl", ".ndjson") or not file.is_file():
        return {}
    with file.open("rb") as stream:
        try:
            first = json.loads(stream.readline(1_000_000))
        except (ValueError, RecursionError):
            return {}
    return first if isinstance(first, dict) else {}


def read_judged(data: JudgedData) -> JudgedReviews:
    """The reviews and the labels that a word names, only read."""
    if not data.is_run:
        return _of_dataset(data, find_dataset(data.word, data.source))
    with open_run(data) as run:
        return _of_run(run, data)


@contextmanager
def run_of_reviews(
    data: JudgedData, out: str | Path | None, *, dry_run: bool = False, progress: Progress | None = None
) -> Iterator[RunOfReviews]:
    """The run that a word names, or one made or resumed of the recorded reviews of a data set, open for writing.

    It lies in `out`, or in `validity-NAME`. A dry run writes nothing. Raises UserError for data without recorded
    reviews or without judgements of people on them.
    """
    folder = Path(out or data.folder)
    if out is None:
        check_unnamed(folder)
    if data.is_run:
        with open_run(data, write=not dry_run) as run:
            judged = _of_run(run, data)
            _require_human(judged, str(data.word))
            yield RunOfReviews(folder, run, judged)
        return
    dataset = find_dataset(data.word, data.source)
    judged = _of_dataset(data, dataset)
    _require_human(judged, dataset_label(dataset))
    if dry_run and (folder / MANIFEST).is_file():
        with RunFolder.open(folder) as run:
            yield RunOfReviews(folder, run, judged)
        return
    with scratch_folder() as scratch:
        run = RunFolder.create(
            scratch / "run" if dry_run else folder,
            dataset=judged.name,
            dataset_path=given_path(data.word, dataset, data.source),
            cases=judged.cases,
        )
        with run:
            import_reviews(run, judged.reviews, source="recorded", pins=dataset.pins(), progress=progress)
            if judged.own_labels:
                run.add_labels(judged.labels)
            yield RunOfReviews(folder, run, judged)


def open_run(data: JudgedData, *, write: bool = False) -> RunFolder:
    """The run that a word names. Raises UserError for what narrows a data set."""
    if data.source or data.stages:
        raise UserError("--from and --stage narrow a data set, not a run", remedy="name the data set instead")
    return RunFolder.open(str(data.word), write=write)


def _of_run(run: RunFolder, data: JudgedData) -> JudgedReviews:
    cases, name = run.cases(), Path(str(data.word)).resolve().name
    reviews = replayable(Review, (one.review for one in run.outcomes() if one.review is not None))
    scales, people = scales_and_people(run.manifest.dataset)
    if data.labels is not None:
        labels, notes = _from_file(Path(data.labels), reviews)
        return JudgedReviews(name, cases, reviews, labels, {}, people, notes, own_labels=False)
    labels, notes = keep_latest(label for case in cases for label in case.labels)
    return JudgedReviews(name, cases, reviews, labels, scales, people, notes)


def _of_dataset(data: JudgedData, dataset: Dataset) -> JudgedReviews:
    narrowing, people = find_stages(data.stages), frozenset(dataset.human_systems)
    every, recorded = dataset.recorded()
    cases, drops = apply_stages(dataset.cases(), narrowing)
    known, name = {case.id for case in cases}, staged_label(dataset, narrowing)
    reviews = Lazy.of([at for at, one in enumerate(every) if one.case in known], every.__getitem__)
    dropped = (f"{len(drops)} cases were dropped by the stages: reviewgauge review names them",) if drops else ()
    if data.labels is not None:
        labels, notes = _from_file(Path(data.labels), every)
        return JudgedReviews(name, cases, reviews, labels, {}, people, (*dropped, *notes), own_labels=False)
    there = {label.to_line() for case in cases for label in case.labels}
    own = (label for case in cases for label in case.labels)
    others = (one for one in recorded if one.subject.case in known and one.to_line() not in there)
    labels = replayable(Label, (label for some in (own, others) for label in some))
    notes = _describe(note for note in dataset.notes() if note.by == "labels")
    return JudgedReviews(name, cases, reviews, labels, dataset.scales(), people, (*dropped, *notes))


def _from_file(file: Path, reviews: Sequence[Review]) -> tuple[Sequence[Label], tuple[str, ...]]:
    """The labels of a file on these reviews, and notes on what was left out."""
    read = read_label_file(file)
    return on_reviews(read, reviews, file.name), _describe(read.notes)


def _describe(notes: Iterable[Drop]) -> tuple[str, ...]:
    return tuple(f"{note.item}: {note.reason}" for note in notes)


def keep_latest(labels: Iterable[Label]) -> tuple[Sequence[Label], tuple[str, ...]]:
    """The labels; of two by one rater on one thing in one round, the later one."""
    every = replayable(Label, labels)
    found: dict[tuple[object, ...], int] = {}
    changed = 0
    for at, label in enumerate(every):
        subject = tuple(label.subject.model_dump().values())
        key = (subject, label.rater, label.dimension, label.round, label.batch)
        changed += key in found and every[found[key]].value != label.value
        found[key] = at
    kept = Lazy.of(array("L", found.values()), every.__getitem__)
    if not changed:
        return kept, ()
    return kept, (f"labels of the run that were given again later: {changed}; the later ones count",)


def _require_human(judged: JudgedReviews, what: str) -> None:
    human, review = RaterKind.HUMAN, SubjectKind.REVIEW
    if judged.own_labels and not any(one.rater_kind is human and one.subject.kind is review for one in judged.labels):
        pairs = any(one.rater_kind is human and one.subject.kind is SubjectKind.PAIR for one in judged.labels)
        judge = f"a judge can be checked with those on pairs: reviewgauge validate {what} lexical; or " * pairs
        raise UserError(
            f"{what} holds no judgements of people on reviews, which a metric could be compared with",
            remedy=judge + NO_LABELS,
        )


def scales_and_people(label: str) -> tuple[Mapping[str, Scale], frozenset[str]]:
    """The scales and the human systems of the data set that a run was made on, if it is a known one."""
    word = label.partition(" | ")[0]
    try:
        dataset = load_from(Dataset, word, FromFile("the run"))  # its author's paths are not read
    except UserError:
        return {}, frozenset()
    return dataset.scales(), frozenset(dataset.human_systems)


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
