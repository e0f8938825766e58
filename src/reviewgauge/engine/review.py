"""Reviewer x cases x attempts into a run folder: only what is missing, every break a Failure."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from reviewgauge.core.base import Id, unsafe
from reviewgauge.core.errors import MissingExtra, NeedsCode, UserError
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.protocols import Progress, Reviewer
from reviewgauge.core.records import Case, Change, Review
from reviewgauge.core.results import Drop, Failed, Failure, FailureKind, Outcome
from reviewgauge.core.specs import all_pins, signature
from reviewgauge.core.stored import Lazy, Unstorable
from reviewgauge.engine.run.executors import Executor, Interruption, exhausted, failure_of
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.progress import Selection, SyncedProgress, WorkTally, WorkTotals
from reviewgauge.models.chat.client import track_usage


class ReviewTotals(WorkTotals):
    """What a review did: of one reviewer, or of all recorded systems together. `drops` could not be used.

    `older` reviews are kept from when the reviewer rested on something else: another file of a plug-in, for one.
    """

    systems: tuple[str, ...]
    comments: int = 0
    older: int = 0
    drops: tuple[Drop, ...] = ()

    @property
    def all_failed(self) -> bool:
        """Whether all that the run holds of the reviewer by now are failures."""
        reviewed = self.done + self.skipped - self.failed_before
        return not reviewed and not self.left and bool(self.failed or self.failed_before)


@dataclass(frozen=True)
class _Stopped:
    """In place of an outcome: every further item would meet this error too, so the run ends."""

    error: UserError


@dataclass(frozen=True)
class _Job:
    """Reviews one (case id, change, attempt) in a worker, which never sees the case.

    The attempt is part of the key of every model call, so that attempts are different calls.
    """

    reviewer: Reviewer
    system: str

    def __call__(self, item: tuple[str, Change, int]) -> Outcome | _Stopped:
        """The outcome, what it cost included."""
        case, change, attempt = item
        began = time.perf_counter()
        answer: object
        with track_usage(attempt) as tracker:
            try:
                answer = self.reviewer.review(change)
            except MissingExtra as error:
                return _Stopped(error)
            except Failed as error:
                if error.stops:
                    return _Stopped(error)
                answer = error.failure
            except Exception as error:  # the boundary where a plug-in's bug becomes a record
                if (stopping := exhausted(error)) is not None:
                    return _Stopped(stopping)
                answer = failure_of(error)
        if not isinstance(answer, Review | Failure):
            kind = type(answer).__name__
            answer = Failure(kind=FailureKind.CRASH, message=f"the reviewer returned a {kind}, not a Review")
        spent = tracker.usage
        if isinstance(answer, Failure):
            return Outcome(case=case, system=self.system, attempt=attempt, failure=answer, usage=spent)
        usage = answer.usage if answer.usage.calls else spent
        if not usage.seconds and not self.reviewer.models:  # waiting for a model is counted by the calls themselves
            usage = usage.model_copy(update={"seconds": round(time.perf_counter() - began, 6)})
        named = {"case": case, "system": self.system, "attempt": attempt}
        review = answer.model_copy(update={**named, "usage": usage, "fake": answer.fake or tracker.fake})
        return Outcome(case=case, system=self.system, attempt=attempt, review=review)


def review(
    run: RunFolder,
    reviewer: Reviewer,
    *,
    executor: Executor,
    attempts: int = 1,
    retry_failed: bool = False,
    only: Selection | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ReviewTotals:
    """Let `reviewer` review every case `attempts` times, leaving out what the run holds already.

    Whatever `review(change)` raises is that case's Failure, UserErrors too, but for a Failed that stops the run: then
    what is in flight is finished, the rest is `left`, and `stop.error` says why. UserErrors of `prepare` are raised, as
    are: no diffs at hand for a reviewer that needs them, another reviewer under the same name, a full disk.
    """
    tally = _Tally()
    stop = stop or Interruption()
    system = checked_system(reviewer.system)
    cases = run.cases()
    todo = what_to_review(cases, run.outcomes(), system, attempts=attempts, retry_failed=retry_failed, only=only)
    changes = changes_to_review(reviewer, cases, run.manifest.dataset)
    drops = tuple(reviewer.prepare(changes)) if todo.items else ()
    older = run.add_systems({system: all_pins(reviewer)}, signature(reviewer), mixed=bool(only and only.failed))
    items = _items(todo, changes)
    steps = SyncedProgress(run, len(items), progress)
    with closing(executor.map(_Job(reviewer, system), items, stop)) as finished:
        for index, value in finished:
            if isinstance(value, _Stopped):
                stop.stop(value.error)
                continue
            _, case, attempt = todo.items[index]
            outcome = value if isinstance(value, Outcome) else _broken(case, system, attempt, value)
            tally.add(_append(run, outcome))
            steps.step(f"{tally.trouble}{system} {case}")
    steps.finish()
    left = len(items) - tally.count
    return tally.totals(
        ReviewTotals,
        systems=(system,),
        skipped=todo.skipped,
        failed_before=todo.failed_before,
        comments=tally.comments,
        drops=drops,
        older=older.get(system, 0),
        stopped=stop.why if left else "",
        left=left,
    )


def dry_run_review(
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    reviewer: Reviewer,
    *,
    executor: Executor,
    dataset: str = "",
    attempts: int = 1,
    retry_failed: bool = False,
    only: Selection | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ReviewTotals:
    """Review what is missing among `outcomes` with a client in a dry run, and write nothing.

    `left` says how many reviews that were, `drops` what they could not use. Raises as `review` does.
    """
    stop = stop or Interruption()
    system = checked_system(reviewer.system)
    todo = what_to_review(cases, outcomes, system, attempts=attempts, retry_failed=retry_failed, only=only)
    changes = changes_to_review(reviewer, cases, dataset)
    drops = tuple(reviewer.prepare(changes)) if todo.items else ()
    if reviewer.models:
        items = _items(todo, changes)
        with closing(executor.map(_Job(reviewer, system), items, stop)) as finished:
            for done, (_, value) in enumerate(finished, 1):
                if isinstance(value, _Stopped):
                    stop.stop(value.error)
                if progress is not None:
                    progress(done, len(items), system)
    return ReviewTotals(systems=(system,), left=len(todo.items), drops=drops)


def _items(todo: Todo, changes: Sequence[Change]) -> Sequence[tuple[str, Change, int]]:
    """The work of `_Job`, each change read when its turn comes."""

    return Lazy.of(todo.items, lambda due: (due.case, changes[due.at], due.attempt))


def changes_to_review(reviewer: Reviewer, cases: Sequence[Case], dataset: str) -> Sequence[Change]:
    """The changes as a reviewer gets them. Raises NeedsCode where it needs diffs and none has one, and as its check."""
    changes = Lazy.of(cases, lambda case: case.change.model_copy(update={"id": case.id}))
    if reviewer.needs_diff and not any(change.has_diff for change in changes):
        raise NeedsCode(checked_system(reviewer.system), dataset)
    if changes:
        reviewer.check(changes)
    return changes


def import_reviews(
    run: RunFolder,
    reviews: Sequence[Review],
    *,
    source: str = "recorded",
    pins: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> ReviewTotals:
    """Import recorded reviews of any number of systems into the run; `source` is their spec.

    Reviews of cases that the run does not hold are dropped and counted. Those that it holds already are skipped;
    other ones under the names of systems that it holds are refused, before anything is recorded.
    """
    known = run.cases_by_id()
    there = {o.key: o.review is not None for o in run.outcomes()}
    tally, skipped, drops = _Tally(), 0, []
    new: list[int] = []
    seen: set[tuple[str, str, int]] = set()
    for at, found in enumerate(reviews):
        key = (found.case, found.system, found.attempt)
        if key in seen:
            raise UserError(f"{source}: two reviews of case {found.case} by {found.system}, attempt {found.attempt}")
        seen.add(key)
        if found.case not in known:
            drops.append(Drop(item=f"{found.case} {found.system}", by=source, reason="its case is not in this run"))
        elif there.get(key):
            skipped += 1
        else:
            new.append(at)
    systems = tuple(sorted({system for _, system, _ in seen}))
    digests = {system: _digest(one for one in reviews if one.system == system) for system in systems}
    run.add_systems({s: {**(pins or {}), "recorded reviews": digest[:16]} for s, digest in digests.items()}, source)
    steps = SyncedProgress(run, len(new), progress)
    for found in map(reviews.__getitem__, new):
        outcome = Outcome(case=found.case, system=found.system, attempt=found.attempt, review=found)
        run.append_outcome(outcome, sync=False)
        tally.add(outcome)
        steps.step(f"{found.system} {found.case}")
    run.sync()
    return tally.totals(ReviewTotals, systems=systems, skipped=skipped, comments=tally.comments, drops=tuple(drops))


def _digest(reviews: Iterable[Review]) -> str:
    """A hash of the reviews, whatever their order."""
    found = hashlib.sha256()
    for line in sorted(review.to_line() for review in reviews):
        found.update(line)
    return found.hexdigest()


def checked_system(system: str) -> str:
    """The name, if it is valid in a run. Raises UserError."""
    try:
        return TypeAdapter(Id).validate_python(system)
    except ValidationError as error:
        problem = unsafe(system) or first_problem(error)[1]
        raise UserError(f"the system name {system!r} {problem}", remedy="give the reviewer another name") from None


class Due(NamedTuple):
    """A review to make: the position of the case, its id, and the attempt."""

    at: int
    case: str
    attempt: int


class Todo(NamedTuple):
    """What to do; how many other reviews are there, and how many of those are failures."""

    items: Sequence[Due]
    skipped: int
    failed_before: int


def what_to_review(
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    system: str,
    *,
    attempts: int = 1,
    retry_failed: bool = False,
    only: Selection | None = None,
) -> Todo:
    """What is missing of one system's reviews; with `only`, the part of it that was asked for. Raises UserError."""
    if attempts < 1:
        raise UserError(f"attempts={attempts} is below 1")
    only = only or Selection()
    names = [case.id for case in cases]
    only.check(names)
    broken = {(o.case, o.attempt): o.failure is not None for o in outcomes if o.system == system}
    places = {name: at for at, name in enumerate(names)}
    further = [(places[case], attempt) for case, attempt in broken if only.failed and attempt > attempts]
    todo, skipped, failed = [], 0, 0
    for at, attempt in chain(((at, n) for n in range(1, attempts + 1) for at in range(len(names))), further):
        broke = broken.get((names[at], attempt))
        due = broke is True if only.failed else broke is None or (broke and retry_failed)
        if due and only.takes(names[at]):
            todo.append(Due(at, names[at], attempt))
        elif broke is not None:
            skipped += 1
            failed += broke
    return Todo(todo, skipped, failed)


def _broken(case: str, system: str, attempt: int, failure: Failure) -> Outcome:
    """The outcome of an item whose worker itself broke."""
    return Outcome(case=case, system=system, attempt=attempt, failure=failure)


def _append(run: RunFolder, outcome: Outcome) -> Outcome:
    """Record the outcome, or the Failure that says why it cannot be a line of a file."""
    try:
        run.append_outcome(outcome, sync=False)
    except Unstorable as error:
        failure = Failure(kind=FailureKind.UNREADABLE, message=error.problem)
        spent = outcome.review.usage if outcome.review is not None else outcome.usage
        outcome = outcome.model_copy(update={"review": None, "failure": failure, "usage": spent})
        run.append_outcome(outcome, sync=False)
    return outcome


class _Tally(WorkTally):
    """Counts the outcomes of one call."""

    comments = 0

    @property
    def count(self) -> int:
        return self.done + self.failed.total()

    def add(self, outcome: Outcome) -> None:
        if outcome.review is None:
            assert outcome.failure is not None
            self.fail(outcome.failure)
            self.spent.add(outcome.usage)
            return
        self.done += 1
        self.comments += len(outcome.review.comments)
        self.fake = self.fake or outcome.review.fake
        self.spent.add(outcome.review.usage)
