"""`reviewgauge review`: benchmark x reviewers, or recorded reviews, into a run folder.

Hands training cases to a reviewer that learns, without those that it is to review or whose answers it would know.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from reviewgauge.api.resolve import dataset_label, find_dataset, find_stages, given_path, staged_label
from reviewgauge.core.base import Record
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.files import read_file
from reviewgauge.core.protocols import Dataset, Progress, Reviewer, Stage
from reviewgauge.core.records import Case, Task
from reviewgauge.core.results import Drop, Outcome
from reviewgauge.core.same_change import answer_marks, identity_marks
from reviewgauge.core.specs import load, names, parse_spec, plugin_name, short_spec
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.engine.measure import usual_metrics
from reviewgauge.engine.review import ReviewTotals, changes_to_review, dry_run_review, import_reviews
from reviewgauge.engine.review import review as run_reviewer
from reviewgauge.engine.run.executors import Executor, Interruption, abort_on_interrupt
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST, benchmark_hash
from reviewgauge.engine.run.model_options import ModelOptions, Spending, spending
from reviewgauge.engine.run.progress import Selection, parse_only, with_cost
from reviewgauge.engine.run.workers import Workers, executor_for
from reviewgauge.formats.parsing.comments import NoPlace, detect

RECORDED = "recorded"
_PROGRAMS = {"", ".bash", ".cmd", ".exe", ".js", ".pl", ".py", ".rb", ".sh"}


_ITSELF = "is under review itself: not learnt from"
_ANSWERED = "has a comment of a case under review, word for word: not learnt from"
_LOOKED_UP = "also under review: no change is reviewed with what is known about itself"


def teach(
    reviewer: Reviewer, training: Iterable[Case], cases: Sequence[Case], progress: Progress | None = None
) -> tuple[Reviewer, list[Drop]]:
    """The reviewer that has learnt from `training`, and what was left out since it is among `cases`.

    A reviewer that leaves the change under review out by itself gets that too. Raises UserError where nothing is
    left to learn from.
    """
    guard = _Guard(cases)
    itself: list[str] = []
    answered: list[str] = []

    def allowed() -> Iterator[Case]:
        seen = used = 0
        for case in training:
            seen += 1
            same = guard.same(case)
            if same:
                itself.append(case.id)
            if same and not reviewer.leaves_one_out:
                continue
            if guard.knows_answers(case, same):
                answered.append(case.id)
                continue
            used += 1
            yield case
        if seen and not used:
            raise UserError(
                f"all {seen} training cases are under review themselves, or have the answers",
                remedy="review a part of them (--stage 'systematic(every=10)'): the others are learnt from",
            )

    learnt = reviewer.fit(allowed(), progress)
    drops = [Drop(item=case, by="training", reason=_ANSWERED) for case in answered]
    if not reviewer.leaves_one_out:
        return learnt, [Drop(item=case, by="training", reason=_ITSELF) for case in itself] + drops
    count = f"{len(itself)} training case{'s' * (len(itself) != 1)}"
    return learnt, [Drop(item=count, by="training", reason=_LOOKED_UP)] * bool(itself) + drops


class _Guard:
    """What the cases under review are known by. Each question takes the time that its own case is long."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._by_mark: dict[str, int] = {}
        self._by_answer: defaultdict[str, set[int]] = defaultdict(set)
        for number, case in enumerate(cases):
            for mark in identity_marks(case.id, case.change):
                self._by_mark.setdefault(mark, number)
            for mark in answer_marks(case):
                self._by_answer[mark].add(number)

    def same(self, case: Case) -> set[int]:
        """Cases under review that are about the change of `case`: one for each mark that they share."""
        marks = identity_marks(case.id, case.change)
        return {self._by_mark[mark] for mark in marks if mark in self._by_mark}

    def knows_answers(self, case: Case, same: set[int]) -> bool:
        """Whether it has an answer that is not that of `same`, which a reviewer leaves out where it matters."""
        found = (self._by_answer.get(mark) for mark in answer_marks(case))
        return any(owners is not None and owners.isdisjoint(same) for owners in found)


class ReviewResult(Record):
    """What a review did: one entry of totals per reviewer, or one for all recorded systems together.

    `spending` is what went to models; with `--dry-run` it is the estimate, and nothing was reviewed. `task`: the one of
    all cases; None where they differ. `metrics`: those that `score` takes unless told.
    """

    schema_version: int = 1
    run: str
    dataset: str
    benchmark: str
    cases: int
    task: Task | None = None
    metrics: tuple[str, ...] = ("hits",)
    totals: tuple[ReviewTotals, ...]
    notes: tuple[Drop, ...] = ()
    dropped: tuple[Drop, ...] = ()
    spending: Spending = Spending()


def review(
    dataset: str | Dataset,
    *reviewers: str | Reviewer,
    run: str | Path,
    source: str | Path | None = None,
    stages: Sequence[str | Stage] = (),
    limit: int | None = None,
    train: str | Dataset | None = None,
    attempts: int = 1,
    workers: Workers = None,
    retry_failed: bool = False,
    only: Sequence[str] = (),
    seed: int = 0,
    names: Mapping[str, str] | None = None,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ReviewResult:
    """Let reviewers review every case of a data set, resuming what `run` holds already.

    Where a reviewer is expected, a file or folder of reviews (`findings.sarif`) or a program (`./our-bot.sh`) will do.

    The reviewer `recorded` imports the reviews that came with the data set, all systems at once. `source` is the
    folder that holds the data set's files. `stages` narrow its cases first, and every drop is counted; `limit` is short
    for the stage `first(cases=limit)` at their end. Reviewers that learn do so from `train`, never from a case under
    review. `only` does a part: `failed`, `case=ID`. `names` are what reviewers without a name are called: a spec or a
    pattern (`'prompt(*)'`), and the name. The totals and `stop` say what stopped a run early.
    """
    if not reviewers:
        raise UserError("no reviewer given", remedy="reviewgauge list reviewers")
    models, stop = models or ModelOptions(), stop or Interruption()
    part = parse_only(only)
    settings = {"attempts": attempts, "retry_failed": retry_failed, "only": part, "stop": stop}
    found = find_dataset(dataset, source)
    chosen = [word if isinstance(word, Reviewer) else find_reviewer(word, names) for word in reviewers]
    narrowing = find_stages(stages if limit is None else [*stages, f"first(cases={limit})"])
    cases, drops = apply_stages(found.cases(), narrowing)
    part.check(case.id for case in cases)
    label = staged_label(found, narrowing)
    _check(chosen, cases, found)
    chosen, left_out = teach_all(chosen, train, cases, abort_on_interrupt(stop, progress), dry_run=models.dry_run)
    drops += left_out
    work = _Work(found, chosen, models, workers, settings, progress)
    with naming_code_of(found):
        if models.dry_run:
            totals, spent = work.dry_run(cases, _outcomes(run, cases, label), label)
            benchmark = benchmark_hash(cases)
        else:
            where = given_path(dataset, found, source)
            with RunFolder.create(run, dataset=label, dataset_path=where, cases=cases, seed=seed) as folder:
                totals, spent = work.run(folder)
                label, benchmark = folder.manifest.dataset, folder.manifest.benchmark
    tasks = {case.change.task for case in cases}
    return ReviewResult(
        run=str(run),
        dataset=label,
        benchmark=benchmark,
        cases=len(cases),
        task=tasks.pop() if len(tasks) == 1 else None,
        metrics=usual_metrics(cases),
        totals=tuple(totals),
        notes=tuple(found.notes()),
        dropped=tuple(drops),
        spending=spent,
    )


@dataclass(frozen=True)
class _Work:
    """Who reviews, with which models and settings; parameters of `recorded` in the place of a reviewer import."""

    dataset: Dataset
    reviewers: Sequence[Reviewer | dict[str, object]]
    models: ModelOptions
    workers: Workers
    settings: dict[str, Any]
    progress: Progress | None

    def dry_run(
        self, cases: Sequence[Case], outcomes: Sequence[Outcome], label: str
    ) -> tuple[list[ReviewTotals], Spending]:
        with self.models.client() as client:
            asked = [reviewer for reviewer in self.reviewers if isinstance(reviewer, Reviewer)]
            ask = partial(dry_run_review, cases, outcomes, dataset=label, progress=self.progress)
            totals = [ask(reviewer, executor=self._executor(reviewer), **self.settings) for reviewer in asked]
            return totals, spending(client)

    def run(self, folder: RunFolder) -> tuple[list[ReviewTotals], Spending]:
        with self.models.client(folder) as client:
            work = partial(run_reviewer, folder, progress=with_cost(self.progress, client))
            totals = [
                work(reviewer, executor=self._executor(reviewer), **self.settings)
                if isinstance(reviewer, Reviewer)
                else _import(folder, self.dataset, reviewer, self.settings["only"], self.progress)
                for reviewer in self.reviewers
            ]
            return totals, spending(client)

    def _executor(self, reviewer: Reviewer) -> Executor:
        return executor_for(reviewer, workers=self.workers, in_flight=self.models.in_flight, otherwise=2)


@contextmanager
def naming_code_of(found: Dataset) -> Iterator[None]:
    """A NeedsCode names the data set, and how its code is had: the reviewer that raises it knows neither."""
    try:
        yield
    except NeedsCode as error:
        remedy = ", or ".join(filter(None, (found.code_remedy(), error.otherwise)))
        raise NeedsCode(error.what, dataset_label(found), remedy) from None


def _check(chosen: Sequence[Reviewer | dict[str, object]], cases: Sequence[Case], found: Dataset) -> None:
    """Raise UserError before anything is done: NeedsCode since with the code it will be another benchmark."""
    for reviewer in chosen:
        if cases and isinstance(reviewer, Reviewer):
            with naming_code_of(found):
                changes_to_review(reviewer, cases, dataset_label(found))


def teach_all(
    chosen: Sequence[Reviewer | dict[str, object]],
    train: str | Dataset | None,
    cases: Sequence[Case],
    progress: Progress,
    *,
    dry_run: bool,
) -> tuple[list[Reviewer | dict[str, object]], list[Drop]]:
    """Let those learn that do, and say what they were not handed."""
    if train is not None and not any(isinstance(reviewer, Reviewer) and reviewer.learns for reviewer in chosen):
        raise UserError("none of these reviewers learns from cases", remedy="leave --train out")
    if dry_run:  # one that learns and asks no model would learn for nothing
        chosen = [one for one in chosen if isinstance(one, Reviewer) and (one.models or not one.learns)]
    taught: list[Reviewer | dict[str, object]] = []
    drops: list[Drop] = []
    for reviewer in chosen:
        if train is not None and isinstance(reviewer, Reviewer) and reviewer.learns:
            learnt, left_out = teach(reviewer, _training(train), cases, progress)
            taught.append(learnt)
            drops += [drop for drop in left_out if drop not in drops]
        else:
            taught.append(reviewer)
    return taught, drops


def _training(train: str | Dataset) -> Iterator[Case]:
    """The cases to learn from. What tells where their files are stands in their own spec, not in `--from`."""
    found = find_dataset(train)
    try:
        yield from found.cases()
    except UserError as error:
        remedy = error.remedy.replace("with --from", f"""with --train '{plugin_name(found)}(path="FOLDER")'""")
        raise UserError(error.problem, remedy=remedy) if remedy != error.remedy else error from None


def _outcomes(run: str | Path, cases: Sequence[Case], label: str) -> Sequence[Outcome]:
    """What a run holds already, for a dry run, which writes nothing."""
    if not (Path(run) / MANIFEST).exists():
        return ()
    folder = RunFolder.open(run)
    if folder.manifest.benchmark != benchmark_hash(cases):
        raise UserError(f"{run} holds a run on {folder.manifest.dataset}, not on {label}", remedy="use another folder")
    return folder.outcomes()


def _import(
    folder: RunFolder, dataset: Dataset, parameters: dict[str, object], only: Selection, progress: Progress | None
) -> ReviewTotals:
    """Take in the reviews that came with the data set, and their labels."""
    reviews, labels = dataset.recorded(**parameters)
    if only.cases:
        reviews = [review for review in reviews if only.takes(review.case)]
    given = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    spec = f"{RECORDED}({given})" if given else RECORDED
    totals = import_reviews(folder, reviews, source=spec, pins=dataset.pins(), progress=progress)
    known = folder.cases_by_id()
    # After the reviews: refused ones must not leave their verdicts behind.
    folder.add_labels(label for label in labels if label.subject.case in known)
    return totals


def find_reviewer(word: str, called: Mapping[str, str] | None = None) -> Reviewer | dict[str, object]:
    """The reviewer that a spec or a path names; of `recorded`, its parameters. Raises UserError.

    One without a name gets that of the first pattern of `called` that its spec fits.
    """
    found = _from_path(word)
    if found is None:
        spec = parse_spec(word)
        if spec.name == RECORDED:
            return dict(spec.parameters)
        found = load(Reviewer, _with_files(word))
    words = [_plain(word), _plain(short_spec(found)), _plain(found.default_name)]
    for pattern, name in () if found.name or not called else called.items():
        if any(fnmatchcase(one, _plain(pattern).replace("[", "[[]")) for one in words):
            return replace(found, name=name)
    return found


def _plain(spec: str) -> str:
    """A spec without what does not matter in it: spaces, and which quotes."""
    return spec.replace('"', "'").replace(" ", "")


def _with_files(word: str) -> str:
    """The spec, with files and programs in the place of the reviewers inside of it (an ensemble's) written out."""
    spec = parse_spec(word)
    given = spec.parameters.get("reviewer")
    if not isinstance(given, str | tuple):
        return word
    known = {}
    for one in (given,) if isinstance(given, str) else given:
        if isinstance(one, str) and one:
            found = _from_path(one)
            known[one] = short_spec(found) if found else _with_files(one)
    inside = tuple(known.get(one, one) for one in given) if isinstance(given, tuple) else known.get(given, given)
    written = ", ".join(f"{name}={value!r}" for name, value in {**spec.parameters, "reviewer": inside}.items())
    return f"{spec.name}({written})"


def _from_path(word: str) -> Reviewer | None:
    """A program that is named with a `/`, as for a shell, is run; any other file or folder holds reviews.

    None for a spec. Raises UserError for a path that does not exist.
    """
    if "(" in word or word in (RECORDED, *names(Reviewer.kind)):
        return None
    path = Path(word)
    if not path.exists():
        if "/" in word:
            raise UserError(f"there is no file or folder {word}", remedy="reviewgauge list reviewers")
        return None
    if path.is_file() and os.access(path, os.X_OK) and path.suffix.lower() in _PROGRAMS:
        if "/" not in word:
            raise UserError(f"{word} is a program, not a file of reviews", remedy=f"./{word} runs it")
        return load(Reviewer, f"command(run=({str(path.absolute())!r},))")
    if path.is_file() and not _holds_reviews(path):
        raise UserError(
            f"{word} is not in a format of reviews, and may not be run",
            remedy=f"chmod +x {word} makes a program of it, "
            f'and \'replay(path="{word}", format="markdown")\' reads it as free text',
        )
    return load(Reviewer, f"replay(path={word!r})")


def _holds_reviews(path: Path) -> bool:
    """Whether it is in a format of reviews, free text that names a place in code included, and is no script."""
    try:
        data = read_file(path)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}", remedy="check the path") from None
    try:
        detect(data, path.name)
    except NoPlace:
        return False
    return not data.startswith(b"#!")
