"""A run x a metric into scores: one batch, only what is missing, every break a Failure with its bounds."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.plugin import signature
from reviewgauge.core.protocols import Measured, Metric, Progress
from reviewgauge.core.records import Case, Review, Usage
from reviewgauge.core.results import Bounds, Failed, Failure, FailureKind, Outcome, Parts, Score
from reviewgauge.engine.run.benchmark import labels_hash
from reviewgauge.engine.run.executors import Executor, Serial, failure_of
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.interruption import Interruption
from reviewgauge.engine.run.journal import Unstorable
from reviewgauge.engine.run.progress import SyncedProgress, TimeSpent, progress_words
from reviewgauge.engine.run.selection import Selection
from reviewgauge.models.chat.client import counted

REVIEW_FAILED = "the review failed"
_BATCHES_PER_WORKER = 4


class ScoreTotals(Record):
    """The closing line of a score. Of this call: `done` measured, `not_applicable`, `failed` in the metric, and
    `failed_reviews` that there was nothing to measure of. `skipped` was scored before. `reasons` has the words of the
    first failure of each kind.
    """

    metric: str
    done: int = 0
    skipped: int = 0
    not_applicable: int = 0
    failed: Mapping[str, int] = Field(default_factory=dict)
    reasons: Mapping[str, str] = Field(default_factory=dict)
    failed_reviews: int = 0
    failed_before: int = 0
    cost: Usage = Usage()
    seconds: float = 0.0
    fake: bool = False
    stopped: str = ""
    left: int = 0


class _Answered(NamedTuple):
    """What the metric said of one item, and what its model calls cost."""

    value: Measured | str | Failure
    usage: Usage = Usage()
    fake: bool = False


@dataclass(frozen=True)
class _Refused:
    """A UserError on its way back from a worker: it concerns the whole run, not one item.

    `stops`: what was asked for stays undone. Otherwise it is raised.
    """

    problem: str
    remedy: str
    stops: bool = False


class _Answers(NamedTuple):
    """The answers of one batch, as far as it came, and why it came no further."""

    values: Sequence[_Answered]
    refused: _Refused | None = None


@dataclass(frozen=True)
class ScoreJob:
    """What a worker does with one batch. Votes are told apart by their trial, so the attempt of a call is always 1."""

    metric: Metric

    def __call__(self, items: Sequence[tuple[Case, Review]]) -> _Answers:
        """One answer an item, each with what was spent since the one before."""
        answers: list[_Answered] = []
        with counted() as tally:
            before = tally.usage
            try:
                for value in measure(self.metric, items):
                    now = tally.usage
                    answers.append(_Answered(value, _since(before, now)))
                    before = now
            except UserError as error:
                return _Answers(_marked(answers, tally.fake), _Refused(error.problem, error.remedy, _stops(error)))
        return _Answers(_marked(answers, tally.fake))


def _stops(error: UserError) -> bool:
    return isinstance(error, Failed) and error.stops


def _marked(answers: Sequence[_Answered], fake: bool) -> list[_Answered]:
    """In a batch with one fake answer nobody knows which measurement rests on it: each may."""
    return [answer._replace(fake=fake) for answer in answers] if fake else list(answers)


def _since(before: Usage, now: Usage) -> Usage:
    if now.calls == before.calls:
        return Usage()
    return Usage(
        calls=now.calls - before.calls,
        tokens_in=now.tokens_in - before.tokens_in,
        tokens_out=now.tokens_out - before.tokens_out,
        dollars=None if now.dollars is None else round(now.dollars - (before.dollars or 0.0), 10),
        seconds=round(now.seconds - before.seconds, 6),
    )


def measure(metric: Metric, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
    """`metric.parts_many` made safe: exactly one answer per item, and a number in every part.

    A batch that breaks half way leaves a Failure for each item that it had not answered. UserErrors are raised.
    """
    answered = 0
    broken = Failure(kind=FailureKind.CRASH, message="parts_many ended before its items did")
    try:
        for value in metric.parts_many(items):
            answered += 1
            yield _finite(value)
            if answered == len(items):
                return
    except UserError:
        raise
    except Exception as error:  # the boundary where a metric's bug becomes a record, never a score
        broken = failure_of(error)
    for _ in range(len(items) - answered):
        yield broken


def score(
    run: RunFolder,
    metric: Metric,
    *,
    executor: Executor | None = None,
    retry_failed: bool = False,
    only: Selection | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ScoreTotals:
    """Measure every review of the run that this metric (signature and pins) has not measured yet.

    Failures of reviews become failure scores with the metric's bounds, and are measured once the review was retried.
    Raises what the metric says of the whole run (UserError), and a full disk. A Failed that stops the run leaves the
    rest undone, as Ctrl-C does: `stop.error` says why.
    """
    began = time.monotonic()
    stop = stop or Interruption()
    desk = desk_of(run, metric)
    todo = what_to_score(run, desk, retry_failed, only)
    steps = SyncedProgress(run, len(todo.outcomes), progress)
    tally = _Tally()
    for outcome, value in answers_of(desk, todo.outcomes, executor or Serial(), stop):  # streamed, recorded at once
        found = desk.score(outcome, value)
        try:
            run.append_score(found, sync=False)
        except Unstorable as error:
            found = desk.score(outcome, _Answered(Failure(kind=FailureKind.CRASH, message=error.problem), found.usage))
            run.append_score(found, sync=False)
        tally.add(found)
        steps.step(f"{tally.said}{outcome.system} {outcome.case}")
    steps.finish()
    left = len(todo.outcomes) - tally.count
    totals = tally.totals(desk.metric, todo.skipped, todo.failed_before, time.monotonic() - began)
    return totals.model_copy(update={"stopped": stop.why if left else "", "left": left})


def desk_of(run: RunFolder, metric: Metric) -> _Scorer:
    """What fills in the scores of one metric on one run."""
    return _Scorer(metric, run.manifest.benchmark, {case.id: case for case in run.cases()})


class _Todo(NamedTuple):
    """What to score, how many scores are there, how many of those are failures of the metric."""

    outcomes: Sequence[Outcome]
    skipped: int
    failed_before: int


def what_to_score(run: RunFolder, desk: _Scorer, retry_failed: bool, only: Selection | None = None) -> _Todo:
    """What is missing of one metric's scores; with `only`, the part of it that was asked for. Raises UserError."""
    only = only or Selection()
    only.check(case.id for case in run.cases())
    outcomes = run.outcomes()
    there = {(s.case, s.system, s.attempt): s for s in run.scores(desk.metric) if dict(s.pins) == desk.pins}
    todo, failed = [], 0
    for outcome in outcomes:
        known = there.get((outcome.case, outcome.system, outcome.attempt))
        of_review = known is not None and known.reason == REVIEW_FAILED
        of_metric = known is not None and known.failure is not None and not of_review
        stale = of_review and (outcome.review is not None or (known is not None and known.failure != outcome.failure))
        stale = stale or (known is not None and not outcome.is_measured_by(known))
        due = of_metric if only.failed else known is None or stale or (of_metric and retry_failed)
        if due and only.takes(outcome.case):
            todo.append(outcome)
        else:
            failed += of_metric
    if desk.joint:
        affected = {outcome.case for outcome in todo}
        missing = {id(outcome) for outcome in todo}
        again = [o for o in outcomes if id(o) not in missing and ((desk.over_all and todo) or o.case in affected)]
        todo = again + todo  # what is missing for last: whatever interrupts this, all of it is done again
    chosen = {id(outcome) for outcome in todo}
    skipped = sum(id(o) not in chosen and (o.case, o.system, o.attempt) in there for o in outcomes)
    return _Todo(todo, skipped, failed)


def answers_of(
    desk: _Scorer, todo: Sequence[Outcome], executor: Executor, stop: Interruption
) -> Iterator[tuple[Outcome, _Answered | None]]:
    """(outcome, what the metric says; None: its review failed). What `stop` left undone does not occur."""
    reviewed: list[Outcome] = []
    items: list[tuple[Case, Review]] = []
    for outcome in todo:
        if outcome.review is None:
            yield outcome, None
        else:
            reviewed.append(outcome)
            items.append((desk.cases[outcome.case], outcome.review))
    if stop.is_set():
        return
    if executor.workers == 1 and not desk.of.models:
        for outcome, value in zip(reviewed, measure(desk.of, items), strict=True):
            yield outcome, _Answered(value)
            if stop.is_set():
                break
        return
    batches = list(_batches(desk, reviewed, executor.workers))
    work = [[items[at] for at in batch] for batch in batches]
    with closing(executor.map(ScoreJob(desk.of), work, stop)) as finished:
        for index, said in finished:
            here = [reviewed[at] for at in batches[index]]
            if isinstance(said, Failure):  # the worker itself broke
                yield from ((outcome, _Answered(said)) for outcome in here)
                continue
            yield from zip(here, said.values, strict=False)  # fewer, where the batch was refused half way
            if said.refused is not None:
                error = UserError(said.refused.problem, remedy=said.refused.remedy)
                if not said.refused.stops:
                    raise error
                stop.stop(error)


def _batches(desk: _Scorer, outcomes: Sequence[Outcome], workers: int) -> Iterator[Sequence[int]]:
    """Which items (positions in `outcomes`) are measured together.

    What asks a model is measured one by one, so that each is recorded at once. A joint metric must see every system at
    once: those on one case, or all there are.
    """
    everything = range(len(outcomes))
    if desk.over_all or (desk.joint and not desk.of.models):
        if everything:
            yield everything
    elif desk.joint:
        of_case: dict[str, list[int]] = {}
        for at, outcome in enumerate(outcomes):
            of_case.setdefault(outcome.case, []).append(at)
        yield from of_case.values()
    else:
        size = 1 if desk.of.models else max(1, math.ceil(len(outcomes) / (workers * _BATCHES_PER_WORKER)))
        yield from (everything[at : at + size] for at in range(0, len(outcomes), size))


def _finite(value: Measured | str | Failure) -> Measured | str | Failure:
    """The value, or a Failure where a part is not a number: NaN in a sum would spoil every reading."""
    if not isinstance(value, Measured):
        return value
    bad = [name for name, part in value.parts.items() if not math.isfinite(part)]
    bad += [
        f"{facet}={key} {name}"
        for facet, groups in value.facets.items()
        for key, parts in groups.items()
        for name, part in parts.items()
        if not math.isfinite(part)
    ]
    if bad:
        return Failure(kind=FailureKind.CRASH, message=f"the part {bad[0]} is not a number")
    return value


class _Scorer:
    """Fills in Score records for one metric on one benchmark."""

    def __init__(self, metric: Metric, benchmark: str, cases: Mapping[str, Case]) -> None:
        self.of, self._benchmark, self.cases = metric, benchmark, cases
        self.metric, self.pins = signature(metric), dict(metric.pins())
        self.joint, self.over_all = metric.joint, metric.joint_over_all
        if metric.reads_labels:
            self.pins["labels"] = labels_hash(cases.values())[:16]
        self._bounds: dict[str, Bounds | None] = {}

    def score(self, outcome: Outcome, answered: _Answered | None) -> Score:
        """The score of an outcome; None: its review failed."""
        blank = Score(
            case=outcome.case,
            system=outcome.system,
            attempt=outcome.attempt,
            metric=self.metric,
            benchmark=self._benchmark,
            pins=self.pins,
            of=outcome.digest,
            usage=answered.usage if answered else Usage(),
            fake=(outcome.review is not None and outcome.review.fake) or (answered is not None and answered.fake),
        )
        if answered is None:
            if why := self.of.unmeasurable(self.cases[outcome.case]):
                return blank.model_copy(update={"reason": why})  # no review of it would have counted
            failure, reason = outcome.failure, REVIEW_FAILED
            return self._failed(blank, failure, reason)
        value = answered.value
        if isinstance(value, Failure):
            return self._failed(blank, value, "the metric failed")
        if isinstance(value, str):
            return blank.model_copy(update={"reason": value or "does not apply"})
        return blank.model_copy(
            update={
                "parts": value.parts,
                "facets": value.facets,
                "matching": value.matching,
                "votes": value.votes,
                "fake": blank.fake or value.fake,
            }
        )

    def _failed(self, blank: Score, failure: Failure | None, reason: str) -> Score:
        bounds = self._bounds_of(blank.case)
        return blank.model_copy(update={"failure": failure, "reason": reason, "bounds": bounds})

    def _bounds_of(self, case: str) -> Bounds | None:
        if case not in self._bounds:
            try:
                bounds = self.of.bounds(self.cases[case])
            except UserError:
                raise
            except Exception:  # no bounds is what None says; the failure itself is recorded beside it
                bounds = None
            if bounds is not None and not (_all_finite(bounds.worst) and _all_finite(bounds.best)):
                bounds = None
            self._bounds[case] = bounds
        return self._bounds[case]


def _all_finite(parts: Parts) -> bool:
    return all(math.isfinite(part) for part in parts.values())


class _Tally:
    """Adds up what was done in one call."""

    def __init__(self) -> None:
        self.done, self.not_applicable, self.failed_reviews, self.fake = 0, 0, 0, False
        self.failed: Counter[str] = Counter()
        self.reasons: dict[str, str] = {}
        self.count = 0
        self.spent = TimeSpent()

    @property
    def said(self) -> str:
        """What went wrong so far, for the progress bar."""
        return progress_words(self.failed.total())

    def add(self, found: Score) -> None:
        self.count += 1
        self.spent.add(found.usage)
        self.fake = self.fake or found.fake
        if found.failure is not None and found.reason == REVIEW_FAILED:
            self.failed_reviews += 1
        elif found.failure is not None:
            self.failed[found.failure.kind.value] += 1
            self.reasons.setdefault(found.failure.kind.value, found.failure.message)
        elif found.parts is None:
            self.not_applicable += 1
        else:
            self.done += 1

    def totals(self, metric: str, skipped: int, failed_before: int, seconds: float) -> ScoreTotals:
        return ScoreTotals(
            metric=metric,
            done=self.done,
            skipped=skipped,
            not_applicable=self.not_applicable,
            failed=dict(sorted(self.failed.items())),
            reasons=dict(sorted(self.reasons.items())),
            failed_reviews=self.failed_reviews,
            failed_before=failed_before,
            cost=self.spent.usage,
            seconds=round(seconds, 3),
            fake=self.fake,
        )
