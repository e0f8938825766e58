"""Reviews with human labels: recorded ones of a data set, or those of a run folder, perhaps with labels of the user."""

from __future__ import annotations

import json
import re
import shutil
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reviewgauge.analysis.judged import JudgedReviews
from reviewgauge.api.resolve import dataset_label, find_dataset, find_stages, given_path, staged_label
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import check_unnamed, reading, writing
from reviewgauge.core.labels import Label, RaterKind, Scale, SubjectKind
from reviewgauge.core.protocols import Dataset, Metric, Progress, Stage
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load_from, names
from reviewgauge.core.stored import Lazy, replayable
from reviewgauge.core.trust import FromFile
from reviewgauge.datasets.files.labels import on_reviews, read_label_file
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.engine.review import import_reviews
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.engine.run.model_options import ModelOptions
from reviewgauge.engine.score import MeasureResult, measure_run
from reviewgauge.models.cache.stores import CALLS
from reviewgauge.repo.git.folders import scratch_folder

NO_LABELS = "--labels FILE.csv with judgements of your own, or graded_reviews or crscore_study"


@dataclass(frozen=True)
class JudgedRun:
    """A run, open for writing, the labels that count, and what is known of them. `name` is fit for a folder."""

    run: RunFolder
    name: str
    labels: Sequence[Label]
    scales: Mapping[str, Scale]
    people: frozenset[str]
    notes: tuple[str, ...] = ()
    own_labels: bool = True  # those that came with the data, not those of a file


@dataclass(frozen=True)
class JudgedData:
    """What the user names: a data set or a run folder, where its files are, labels of their own, and stages."""

    word: str | Dataset
    source: str | Path | None = None
    labels: str | Path | None = None
    stages: Sequence[str | Stage] = ()


def is_run(word: str | Path | Dataset) -> bool:
    """Whether a word names a run folder; a folder that is called like a data set needs a `./`."""
    if isinstance(word, Dataset):
        return False
    return str(word) not in names(Dataset.kind) and (Path(word) / MANIFEST).is_file()


def folder_name(word: str | Path | Dataset, stages: Sequence[str | Stage] = ()) -> str:
    """A name for what is validated that any file system takes."""
    if is_run(word):
        label = Path(word).resolve().name  # type: ignore[arg-type]
    else:
        found = find_dataset(word if isinstance(word, Dataset) else str(word))
        label = staged_label(found, find_stages(stages)).removesuffix(".jsonl")
    return re.sub(r"[^\w.=-]+", "-", label).strip("-.") or "data"


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


def holds_questions(word: object) -> bool:
    """Whether a word names a file of questions that `--save-questions` stored."""
    return isinstance(word, str | Path) and {"truth", "review"} <= first_record(Path(word)).keys()


def read_judged(data: JudgedData) -> JudgedReviews:
    """The reviews and the labels that a word names, only read."""
    if is_run(data.word):
        if data.source or data.stages:
            raise UserError("--from and --stage narrow a data set, not a run", remedy="name the data set instead")
        with RunFolder.open(str(data.word)) as run:
            cases, name = run.cases(), Path(str(data.word)).resolve().name
            reviews: Sequence[Review] = [one.review for one in run.outcomes() if one.review is not None]
            labels, notes = keep_latest(label for case in cases for label in case.labels)
            scales, people = scales_and_people(run.manifest.dataset)
    else:
        dataset = find_dataset(data.word, data.source)
        narrowing = find_stages(data.stages)
        reviews, recorded = dataset.recorded()
        cases, _ = apply_stages(dataset.cases(), narrowing)
        known = {case.id for case in cases}
        reviews, name = [one for one in reviews if one.case in known], staged_label(dataset, narrowing)
        labels, notes = list(_labels_of(cases, recorded)), ()
        scales, people = dataset.scales(), frozenset(dataset.human_systems)
    if data.labels is not None:
        labels, notes = _from_file(Path(data.labels), reviews)
        scales = {}
    return JudgedReviews(name, cases, reviews, labels, scales, people, notes)


def judged_run(data: JudgedData, folder: str | Path, progress: Progress | None = None) -> JudgedRun:
    """The run that a word names, or a run in `folder` made from the recorded reviews of the data set that it names."""
    if not is_run(data.word):
        return make_run(data, folder, progress)
    if data.source or data.stages:
        raise UserError("--from and --stage narrow a data set, not a run", remedy="name the data set instead")
    return open_run(str(data.word), data.labels)


def open_run(path: str | Path, labels: str | Path | None) -> JudgedRun:
    """A run with the labels in a file, or with those that it holds."""
    run = RunFolder.open(path, write=True)
    try:
        notes: tuple[str, ...] = ()
        if labels is None:
            found, notes = keep_latest(label for case in run.cases() for label in case.labels)
            _require_human(found, str(path))
        else:
            reviews = replayable(Review, (one.review for one in run.outcomes() if one.review is not None))
            found, notes = _from_file(Path(labels), reviews)
        scales, people = scales_and_people(run.manifest.dataset)
        if labels is None:
            return JudgedRun(run, folder_name(path), found, scales, people, notes)
        return JudgedRun(run, folder_name(path), found, {}, people, notes, own_labels=False)
    except BaseException:
        run.close()
        raise


def make_run(data: JudgedData, folder: str | Path, progress: Progress | None = None) -> JudgedRun:
    """The recorded reviews of a data set in a run folder, which is made or resumed.

    Raises UserError for a data set that came without recorded reviews or without judgements of people on them.
    """
    dataset = find_dataset(data.word, data.source)
    narrowing = find_stages(data.stages)
    reviews, recorded = dataset.recorded()
    cases, drops = apply_stages(dataset.cases(), narrowing)
    known = {case.id for case in cases}
    if data.labels is None:
        left_out = _describe(note for note in dataset.notes() if note.by == "labels")
        found: Sequence[Label] = replayable(Label, _labels_of(cases, recorded))
        _require_human(found, dataset_label(dataset))
    else:
        found, left_out = _from_file(Path(data.labels), reviews)
    run = RunFolder.create(
        folder,
        dataset=staged_label(dataset, narrowing),
        dataset_path=given_path(data.word, dataset, data.source),
        cases=cases,
    )
    try:
        kept = Lazy.of([at for at, one in enumerate(reviews) if one.case in known], reviews.__getitem__)
        import_reviews(run, kept, source="recorded", pins=dataset.pins(), progress=progress)
        if data.labels is None:
            run.add_labels(found)
    except BaseException:
        run.close()
        raise
    dropped = (f"{len(drops)} cases were dropped by the stages: reviewgauge review names them",) if drops else ()
    name = folder_name(dataset, narrowing)
    scales = dataset.scales() if data.labels is None else {}
    people, notes = frozenset(dataset.human_systems), (*dropped, *left_out)
    return JudgedRun(run, name, found, scales, people, notes, own_labels=data.labels is None)


def _labels_of(cases: Sequence[Case], recorded: Sequence[Label]) -> Iterator[Label]:
    """The labels on these cases: those that the cases hold, then the others of `recorded`."""
    known: set[str] = set()
    there: set[bytes] = set()
    for case in cases:
        known.add(case.id)
        there.update(label.to_line() for label in case.labels)
        yield from case.labels
    yield from (one for one in recorded if one.subject.case in known and one.to_line() not in there)


@contextmanager
def run_for_dry_run(data: JudgedData, folder: Path) -> Iterator[RunFolder]:
    """The run that a word names, or a temporary copy of the one that `folder` would become.

    Raises as `judged_run` does.
    """
    if is_run(data.word):
        with RunFolder.open(str(data.word)) as run:
            yield run
        return
    with scratch_folder() as temporary:
        copy = temporary / "run"
        if (folder / MANIFEST).is_file():
            copy.mkdir()
            for file in folder.glob("*.json*"):
                if file.name != CALLS:
                    with reading(file) as source, writing(copy / file.name) as target:
                        shutil.copyfileobj(source, target)
        try:
            run = make_run(data, copy).run
        except UserError as error:
            raise UserError(error.problem.replace(str(copy), str(folder)), remedy=error.remedy) from None
        with run:
            yield run


@contextmanager
def measured_run(
    data: JudgedData,
    out: str | Path | None,
    metrics: Sequence[Metric],
    models: ModelOptions,
    *,
    retry_failed: bool,
    stop: Interruption,
    progress: Progress | None,
) -> Iterator[tuple[Path, JudgedRun | None, MeasureResult]]:
    """(the folder `out` or `validity-<data set>`, the run with labels, what was measured); no run in a dry run."""
    if holds_questions(data.word):
        raise UserError(f"{data.word} holds questions for judges", remedy="name a judge, or a data set")
    folder = Path(out or f"validity-{folder_name(data.word, data.stages)}")
    if out is None:
        check_unnamed(folder)
    measure = partial(measure_run, metrics=metrics, models=models, retry_failed=retry_failed, stop=stop)
    if models.dry_run:
        with run_for_dry_run(data, folder) as run:
            yield folder, None, measure(run, progress=progress)
        return
    judged = judged_run(data, folder, progress)
    with judged.run:
        yield folder, judged, measure(judged.run, progress=progress)


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
    return kept, (f"{changed} labels of the run were given again later: the later ones count",)


def _require_human(labels: Iterable[Label], what: str) -> None:
    if not any(one.rater_kind is RaterKind.HUMAN and one.subject.kind is SubjectKind.REVIEW for one in labels):
        raise UserError(
            f"{what} holds no judgements of people on reviews, which a metric could be compared with", remedy=NO_LABELS
        )


def scales_and_people(label: str) -> tuple[Mapping[str, Scale], frozenset[str]]:
    """The scales and the human systems of the data set that a run was made on, if it is a known one."""
    word = label.partition(" | ")[0]
    try:
        dataset = load_from(Dataset, word, FromFile("the run"))  # its author's paths are not read
    except UserError:
        return {}, frozenset()
    return dataset.scales(), frozenset(dataset.human_systems)
