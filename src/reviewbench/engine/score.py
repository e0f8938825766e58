"""A run x a metric into scores: one batch, only what is missing, every break a Failure with its bounds."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from pydantic import Field

from reviewbench.core.base import Record
from reviewbench.core.errors import UserError
from reviewbench.core.plugins import signature
from reviewbench.core.protocols import Measured, Metric
from reviewbench.core.records import Case, Review
from reviewbench.core.results import Bounds, Failure, FailureKind, Outcome, Parts, Score
from reviewbench.engine.benchmark import labels_hash
from reviewbench.engine.executors import Executor, Serial, failure_of
from reviewbench.engine.journal import Unstorable
from reviewbench.engine.review import SyncedProgress
from reviewbench.engine.store import RunFolder

Progress = Callable[[int, int, str], None]
REVIEW_FAILED = "the review failed"
_BATCHES_PER_WORKER = 4


class ScoreTotals(Record):
    """The closing line of a score. Of this call: `done` measured, `not_applicable`, `failed` in the metric, and
    `failed_reviews` that there was nothing to measure of. `skipped` was scored before.
    """

    metric: str
    done: int = 0
    skipped: int = 0
    not_applicable: int = 0
    failed: Mapping[str, int] = Field(default_factory=dict)
    failed_reviews: int = 0
    failed_before: int = 0
    seconds: float = 0.0
    fake: bool = False


@dataclass(frozen=True)
class _Refused:
    """A UserError on its way back from a worker: it concerns the whole run, not one item."""

    problem: str
    remedy: str


@dataclass(frozen=True)
class _Job:
    metric: Metric

    def __call__(self, items: Sequence[tuple[Case, Review]]) -> list[Measured | str | Failure] | _Refused:
        try:
            return list(measure(self.metric, items))
        except UserError as error:
            return _Refused(error.problem, error.remedy)


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
    progress: Progress | None = None,
) -> ScoreTotals:
    """Measure every review of the run that this metric (signature and pins) has not measured yet.

    Failures of reviews become failure scores with the metric's bounds, and are measured once the review was retried.
    Raises what the metric says of the whole run (UserError), and a full disk.
    """
    began = time.monotonic()
    cases = {case.id: case for case in run.cases()}
    desk = _Desk(metric, run.manifest.benchmark, cases)
    todo, skipped, failed_before = _missing(run, desk, retry_failed)
    steps = SyncedProgress(run, len(todo), progress)
    tally = _Tally()
    for outcome, value in _answers(metric, cases, todo, executor or Serial()):  # streamed: each is recorded at once
        found = desk.score(outcome, value)
        try:
            run.append_score(found, sync=False)
        except Unstorable as error:
            found = desk.score(outcome, Failure(kind=FailureKind.CRASH, message=error.problem))
            run.append_score(found, sync=False)
        tally.add(found)
        steps.step(f"{outcome.system} {outcome.case}")
    run.sync()
    return tally.totals(desk.metric, skipped, failed_before, time.monotonic() - began)


def _missing(run: RunFolder, desk: _Desk, retry_failed: bool) -> tuple[list[Outcome], int, int]:
    """(what to score, how many scores are there, how many of those are failures of the metric)."""
    outcomes = run.outcomes()
    there = {(s.case, s.system, s.attempt): s for s in run.scores(desk.metric) if dict(s.pins) == desk.pins}
    todo, failed = [], 0
    for outcome in outcomes:
        known = there.get((outcome.case, outcome.system, outcome.attempt))
        of_review = known is not None and known.reason == REVIEW_FAILED
        of_metric = known is not None and known.failure is not None and not of_review
        stale = of_review and (outcome.review is not None or (known is not None and known.failure != outcome.failure))
        stale = stale or (known is not None and not outcome.is_measured_by(known))
        if known is None or stale or (of_metric and retry_failed):
            todo.append(outcome)
        else:
            failed += of_metric
    if desk.joint:
        affected = {outcome.case for outcome in todo}
        missing = {id(outcome) for outcome in todo}
        again = [o for o in outcomes if id(o) not in missing and ((desk.over_all and todo) or o.case in affected)]
        todo = again + todo  # what is missing for last: whatever interrupts this, all of it is done again
    return todo, len(outcomes) - len(todo), failed


def _answers(
    metric: Metric, cases: Mapping[str, Case], todo: Sequence[Outcome], executor: Executor
) -> Iterator[tuple[Outcome, Measured | str | Failure | None]]:
    """(outcome, what the metric says; None: its review failed)."""
    reviewed: list[Outcome] = []
    items: list[tuple[Case, Review]] = []
    for outcome in todo:
        if outcome.review is None:
            yield outcome, None
        else:
            reviewed.append(outcome)
            items.append((cases[outcome.case], outcome.review))
    if executor.workers == 1 or metric.joint:  # a joint metric must see every system at once
        yield from zip(reviewed, measure(metric, items), strict=True)
        return
    size = max(1, math.ceil(len(items) / (executor.workers * _BATCHES_PER_WORKER)))
    batches = [items[at : at + size] for at in range(0, len(items), size)]
    with closing(executor.map(_Job(metric), batches)) as finished:
        for index, values in finished:
            here = reviewed[index * size : (index + 1) * size]
            if isinstance(values, _Refused):
                raise UserError(values.problem, remedy=values.remedy)
            answers = [values] * len(here) if isinstance(values, Failure) else values
            yield from zip(here, answers, strict=True)


def _finite(value: Measured | str | Failure) -> Measured | str | Failure:
    """The value, or a Failure where a part is no number: NaN in a sum would spoil every reading."""
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


class _Desk:
    """Fills in Score records for one metric on one benchmark."""

    def __init__(self, metric: Metric, benchmark: str, cases: Mapping[str, Case]) -> None:
        self._of, self._benchmark, self._cases = metric, benchmark, cases
        self.metric, self.pins = signature(metric), dict(metric.pins())
        self.joint, self.over_all = metric.joint, metric.joint_over_all
        if metric.reads_labels:
            self.pins["labels"] = labels_hash(cases.values())[:16]
        self._bounds: dict[str, Bounds | None] = {}

    def score(self, outcome: Outcome, value: Measured | str | Failure | None) -> Score:
        blank = Score(
            case=outcome.case,
            system=outcome.system,
            attempt=outcome.attempt,
            metric=self.metric,
            benchmark=self._benchmark,
            pins=self.pins,
            of=outcome.digest,
            fake=outcome.review.fake if outcome.review else False,
        )
        if value is None:
            if why := self._of.unmeasurable(self._cases[outcome.case]):
                return blank.model_copy(update={"reason": why})  # no review of it would have counted
            failure, reason = outcome.failure, REVIEW_FAILED
            return self._failed(blank, failure, reason)
        if isinstance(value, Failure):
            return self._failed(blank, value, "the metric failed")
        if isinstance(value, str):
            return blank.model_copy(update={"reason": value or "does not apply"})
        return blank.model_copy(
            update={
                "parts": value.parts,
                "facets": value.facets,
                "matching": value.matching,
                "fake": blank.fake or value.fake,
            }
        )

    def _failed(self, blank: Score, failure: Failure | None, reason: str) -> Score:
        bounds = self._bounds_of(blank.case)
        return blank.model_copy(update={"failure": failure, "reason": reason, "bounds": bounds})

    def _bounds_of(self, case: str) -> Bounds | None:
        if case not in self._bounds:
            try:
                bounds = self._of.bounds(self._cases[case])
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

    def add(self, found: Score) -> None:
        self.fake = self.fake or found.fake
        if found.failure is not None and found.reason == REVIEW_FAILED:
            self.failed_reviews += 1
        elif found.failure is not None:
            self.failed[found.failure.kind.value] += 1
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
            failed_reviews=self.failed_reviews,
            failed_before=failed_before,
            seconds=round(seconds, 3),
            fake=self.fake,
        )
