"""A run's comments, references or changes sorted into classes by a model, one label each.

A label is written when its votes agree on a class. Failures and undecided items are counted and not written, so the
same command tries them again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import Field

from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Case, Comment, Usage
from reviewgauge.core.results import Failed, Failure
from reviewgauge.engine.run.executors import Executor, Interruption, Threads
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.progress import WorkTally, WorkTotals
from reviewgauge.judges.classes.classes import NO_HUNK, TYPES, Classifier, Decision, Question, change_type
from reviewgauge.judges.pairs.location import hunk_of
from reviewgauge.models.chat.client import track_usage

Of = Literal["comments", "references", "changes"]
FAKE = "fake: "  # how the batch of a label begins that a fake model gave
TOGETHER = 500  # labels that are written together: adding takes reading those there; a killed run has the answers


class Sorted(WorkTotals):
    """What was classified. `agree` of `known`: how many got the class that the data itself states, where it does.

    `left_out` counts by reason what was not asked about, `failed` what broke or stayed undecided, by kind.
    """

    what: str
    of: str
    dimension: str
    rater: str
    setting: str
    left_out: Mapping[str, int] = Field(default_factory=dict)
    classes: Mapping[str, int] = Field(default_factory=dict)
    agree: int = 0
    known: int = 0


class Item(NamedTuple):
    """One thing to sort: what it is, the texts of the prompt's slots, and the class that the data states for it."""

    subject: Subject
    texts: Mapping[str, str]
    stated: str | None


class _Answer(NamedTuple):
    decision: Decision | None
    failure: Failure | None
    usage: Usage
    fake: bool
    stop: UserError | None = None


@dataclass(frozen=True)
class _Job:
    classifier: Classifier

    def __call__(self, item: Item) -> _Answer:
        """The decision on one item, with what it cost."""
        with track_usage(item.subject.attempt) as tracker:
            try:
                decision = self.classifier.decide(item.texts)
            except Failed as error:
                return _Answer(None, error.failure, tracker.usage, tracker.fake, error if error.stops else None)
            except UserError as error:  # a parameter that the model does not take, a missing library: the same for all
                return _Answer(None, None, tracker.usage, tracker.fake, error)
        return _Answer(decision, None, tracker.usage, tracker.fake)


def classify(
    run: RunFolder,
    classifier: Classifier,
    *,
    of: Of = "comments",
    without_code: bool = False,
    write: bool = True,
    executor: Executor | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> Sorted:
    """Label the comments, references or changes of a run that this classifier has not labelled yet.

    `without_code` asks also where the diff hunk of the prompt is missing. `write=False` leaves the run as it is, for a
    dry run. Raises UserError where the question does not fit `of`, and for a full disk.
    """
    stop = stop or Interruption()
    setting = classifier.setting + (", hunks missing" if without_code else "")
    items, left_out = what_to_sort(run, classifier, of, without_code)
    done_before = _labelled(run, classifier, setting)
    todo = [item for item in items if _key(item.subject) not in done_before]
    writer = _LabelWriter(run if write else None, classifier, setting, len(todo), progress)
    try:
        with closing((executor or Threads()).map(_Job(classifier), todo, stop)) as finished:
            for index, answer in finished:
                if isinstance(answer, Failure):
                    writer.miss(answer)
                elif answer.stop is not None:
                    stop.stop(answer.stop)
                    writer.spent.add(answer.usage)
                else:
                    writer.take(todo[index], answer)
    finally:
        writer.write()
    left = len(todo) - writer.count
    return writer.totals(
        Sorted,
        what=classifier.what,
        of=of,
        dimension=classifier.question.dimension,
        rater=classifier.model,
        setting=setting,
        skipped=len(items) - len(todo),
        left_out=dict(sorted(left_out.items())),
        classes=dict(sorted(writer.classes.items())),
        agree=writer.agree,
        known=writer.known,
        stopped=stop.why if left else "",
        left=left,
    )


class _LabelWriter(WorkTally):
    """Counts decisions and writes their labels, some at a time."""

    def __init__(
        self, run: RunFolder | None, classifier: Classifier, setting: str, total: int, progress: Progress | None
    ) -> None:
        super().__init__()
        self._run, self._classifier, self._setting = run, classifier, setting
        self._total, self._progress = total, progress
        self._waiting: list[Label] = []
        self.agree = self.known = 0
        self.classes: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """How many items are done."""
        return self.done + self.failed.total()

    def take(self, item: Item, answer: _Answer) -> None:
        """Take one answer, decided or not."""
        self.spent.add(answer.usage)
        if answer.decision is None:
            assert answer.failure is not None
            self.miss(answer.failure)
            return
        value = answer.decision.value
        self._waiting.append(
            Label(
                subject=item.subject,
                rater=self._classifier.model,
                rater_kind=RaterKind.MODEL,
                dimension=self._classifier.question.dimension,
                value=value,
                confidence=answer.decision.share,
                batch=(FAKE if answer.fake else "") + self._setting,
                reason=answer.decision.reason,
            )
        )
        self.done += 1
        self.fake = self.fake or answer.fake
        self.classes[value] += 1
        if item.stated is not None:
            self.known += 1
            self.agree += item.stated == value
        self._step(item.subject.case)

    def miss(self, failure: Failure) -> None:
        """Count one item without a label."""
        self.fail(failure, "undecided" if failure.message.startswith("undecided") else "")
        self._step("")

    def _step(self, what: str) -> None:
        if len(self._waiting) >= TOGETHER:
            self.write()
        if self._progress is not None:
            self._progress(self.count, self._total, self.trouble + what)

    def write(self) -> None:
        """Write the waiting labels into the run."""
        if self._run is not None:
            if self._waiting:
                self._run.add_labels(self._waiting)
            self._run.sync()
        self._waiting = []


def _labelled(run: RunFolder, classifier: Classifier, setting: str) -> set[str]:
    dimension = classifier.question.dimension
    return {
        _key(label.subject)
        for label in run.labels()
        if label.dimension == dimension and label.rater == classifier.model and label.batch in (setting, FAKE + setting)
    }


def _key(subject: Subject) -> str:
    return subject.model_dump_json()


# --- what there is to sort -----------------------------------------------------------------------------------------


def what_to_sort(run: RunFolder, classifier: Classifier, of: Of, without_code: bool) -> tuple[list[Item], Counter[str]]:
    """The items, and by reason how many cannot be asked about. Raises UserError for a question about something else."""
    question = classifier.question
    if question.of_changes != (of == "changes"):
        right, remedy = ("changes", "changes") if question.of_changes else ("comments and references", "comments")
        raise UserError(f"{classifier.what} is a question about {right}", remedy=f'of="{remedy}"')
    if question.of_changes:
        return _changes(run, question)
    items: list[Item] = []
    left_out: Counter[str] = Counter()
    for case, comment, subject in _comments(run) if of == "comments" else _references(run):
        if not comment.body.strip():
            left_out["it says nothing"] += 1
            continue
        hunk, found = hunk_of(case.change, comment, comment)
        if not found and question.needs_hunk and not without_code:
            left_out[f"no diff hunk: {hunk.strip('(.)')}"] += 1
            continue
        texts = {"diff_hunk": hunk if found else NO_HUNK, "review_comment": comment.body}
        items.append(Item(subject, texts, _stated(comment, question)))
    return items, left_out


def _comments(run: RunFolder) -> Iterator[tuple[Case, Comment, Subject]]:
    cases = {case.id: case for case in run.cases()}
    for outcome in run.outcomes():
        for comment in outcome.review.comments if outcome.review else ():
            subject = Subject(
                kind=SubjectKind.COMMENT,
                case=outcome.case,
                system=outcome.system,
                attempt=outcome.attempt,
                comment=comment.id,
            )
            yield cases[outcome.case], comment, subject


def _references(run: RunFolder) -> Iterator[tuple[Case, Comment, Subject]]:
    """A reference is a comment without a system."""
    for case in run.cases():
        for comment in case.references:
            yield case, comment, Subject(kind=SubjectKind.COMMENT, case=case.id, reference=comment.id)


def _changes(run: RunFolder, question: Question) -> tuple[list[Item], Counter[str]]:
    items: list[Item] = []
    left_out: Counter[str] = Counter()
    for case in run.cases():
        change = case.change
        if not change.title.strip() and not change.description.strip():
            left_out["its title and description are not at hand"] += 1
            continue
        stated = case.facts.get(question.dimension)
        items.append(
            Item(
                Subject(kind=SubjectKind.CHANGE, case=case.id),
                {"pr_title": change.title, "pr_description": change.description},
                stated if isinstance(stated, str) and stated in question.options.values() else None,
            )
        )
    return items, left_out


def _stated(comment: Comment, question: Question) -> str | None:
    """The class that the data states for a comment; None where it states none of the known classes."""
    stated = comment.needs if question.dimension == "needs" else comment.category
    if question.dimension == "swr_type" and (code := change_type(stated)) is not None:
        stated = f"{code} {TYPES[code].name}"
    return stated if stated in question.options.values() else None
