"""A run x metrics into scores: only what is missing, and every break a Failure with its bounds."""

from __future__ import annotations

import math
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.records import Case, Review, Usage
from reviewgauge.core.results import Bounds, Failed, Failure, FailureKind, Outcome, Score
from reviewgauge.core.specs import all_pins, short_spec, signature
from reviewgauge.core.stored import Lazy, Unstorable
from reviewgauge.engine.measure import Answered, ScoreJob, measure
from reviewgauge.engine.run.executors import Executor, Interruption, Serial
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import labels_hash
from reviewgauge.engine.run.model_options import ModelOptions, Spending, spending
from reviewgauge.engine.run.progress import Selection, SyncedProgress, WorkTally, WorkTotals, with_cost
from reviewgauge.engine.run.workers import Workers, executor_for
from reviewgauge.models import fake

REVIEW_FAILED = "the review failed"
_BATCHES_PER_WORKER = 4
_LARGEST_BATCH = 500  # reviews, with their cases: what is in memory at a time


class ScoreTotals(WorkTotals):
    """What measuring one metric did. `failed` are failures of the metric; `failed_reviews` had nothing to measure.

    `would_run`: of a dry run, what the metric runs beside model calls.
    """

    metric: str
    not_applicable: int = 0
    failed_reviews: int = 0
    would_run: str = ""

    @property
    def all_failed(self) -> bool:
        """Whether all that the metric has by now are its own failures."""
        worked = self.done + self.not_applicable + self.skipped - self.failed_before
        return not worked and bool(self.failed or self.failed_before)


class MeasureResult(NamedTuple):
    """What was measured, metric by metric, and what it cost."""

    totals: tuple[ScoreTotals, ...]
    spending: Spending


def measure_run(
    run: RunFolder,
    metrics: Sequence[Metric],
    models: ModelOptions,
    *,
    retry_failed: bool = False,
    only: Selection | None = None,
    workers: Workers = None,
    stop: Interruption,
    progress: Progress | None = None,
) -> MeasureResult:
    """Measure what is missing on a run that is open for writing; `stop` says what ended it early.

    With `models.dry_run` nothing is written: the totals say what is left to measure, and the spending what it may cost.
    """
    score_metric = dry_run_score if models.dry_run else score
    with models.client(run) as client:
        totals = tuple(
            score_metric(
                run,
                metric,
                executor=executor_for(metric, workers, models.in_flight, otherwise=1),
                retry_failed=retry_failed,
                only=only,
                stop=stop,
                progress=progress if models.dry_run else with_cost(progress, client),
            )
            for metric in metrics
        )
        return MeasureResult(totals, spending(client))


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
    Raises what the metric says of the whole run (UserError), and a full disk. Where no review that says something can
    be measured, it is a UserError, and no score is kept. A Failed that stops the run leaves the rest undone, as Ctrl-C
    does: `stop.error` says why.
    """
    tally = _Tally()
    stop = stop or Interruption()
    scorer = Scorer(metric, run.cases_by_id(), run.manifest.benchmark)
    todo = _find_missing(run, scorer, retry_failed, only)
    steps = SyncedProgress(run, len(todo.outcomes), progress)
    answers = _answers(scorer, todo.outcomes, executor or Serial(), stop)
    kept = False
    try:
        for outcome, value in answers:
            found = _recorded(run, scorer, outcome, value)
            tally.add(found, _speaks(outcome))
            steps.step(f"{tally.trouble}{found.system} {found.case}")
        steps.finish()
        if not (todo.proved or stop.is_set()):
            tally.check(short_spec(metric))
        kept = not stop.is_set()
    finally:
        if not (kept or todo.proved or tally.proved):  # of silence alone: its recall misleads
            run.remove_scores({scorer.signature})
    left = len(todo.outcomes) - tally.count
    return tally.totals(
        ScoreTotals,
        metric=scorer.signature,
        skipped=todo.skipped,
        failed_before=todo.failed_before,
        not_applicable=tally.not_applicable,
        failed_reviews=tally.failed_reviews,
        stopped=stop.why if left else "",
        left=left,
    )


def dry_run_score(
    run: RunFolder,
    metric: Metric,
    *,
    executor: Executor,
    retry_failed: bool = False,
    only: Selection | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ScoreTotals:
    """Measure what is missing with a client in a dry run, and write nothing; `left` says how many reviews that were.

    The fake model answers in place of the others, and may say less or more than they would.
    """
    scorer = Scorer(metric, run.cases_by_id(), run.manifest.benchmark)
    todo = _find_missing(run, scorer, retry_failed, only).outcomes
    if metric.models:
        found = _answers(scorer, todo, executor, stop or Interruption())
        for done, (outcome, _) in enumerate(found, 1):
            if progress is not None:
                progress(done, len(todo), f"{outcome.system} {outcome.case}")
    items = ((scorer.cases[one.case], one.review) for one in todo if one.review is not None)  # read where it is asked
    return ScoreTotals(metric=scorer.signature, left=len(todo), would_run=metric.dry_run(items))


class _Todo(NamedTuple):
    """What to score, how many scores are there, how many of those failed, whether one is of a review with content."""

    outcomes: Sequence[Outcome]
    skipped: int
    failed_before: int
    proved: bool


class _Known(NamedTuple):
    """What counts of a score that is there: whether its pins are those of now, which outcome it is of, its result."""

    current: bool
    of: str
    measured: bool
    failed: bool
    failed_review: Failure | None

    @classmethod
    def from_score(cls, score: Score, pins: Mapping[str, str]) -> _Known:
        of_review = score.reason == REVIEW_FAILED
        failed = score.failure is not None and not of_review
        measured, current = score.parts is not None, dict(score.pins) == pins
        return cls(current, score.of, measured, failed, score.failure if of_review else None)

    def is_stale(self, outcome: Outcome) -> bool:
        """Whether the outcome is not the one that was scored, or was scored by what the metric is not any more."""
        if not self.current or (self.failed_review is not None and self.failed_review != outcome.failure):
            return True
        return self.of not in ("", outcome.digest)


def _find_missing(run: RunFolder, scorer: Scorer, retry_failed: bool, only: Selection | None) -> _Todo:
    """What is missing of one metric's scores; with `only`, the part of it that was asked for. Raises UserError."""
    only = only or Selection()
    only.check(scorer.cases)
    outcomes = run.outcomes()
    there = {
        (sys.intern(s.case), sys.intern(s.system), s.attempt): _Known.from_score(s, scorer.pins)
        for s in run.scores(scorer.signature)
    }
    todo: list[int] = []
    cases: list[str] = []
    failed, skipped, proved = 0, 0, False
    for at, outcome in enumerate(outcomes):
        cases.append(outcome.case)
        known = there.get(outcome.key)
        counts = known is not None and known.measured and (known.current or only.failed)
        proved = proved or (counts and _speaks(outcome))
        broke = known is not None and known.failed
        due = broke if only.failed else known is None or known.is_stale(outcome) or (broke and retry_failed)
        if due and only.takes(outcome.case):
            todo.append(at)
        elif known is not None and known.current:
            failed += broke
            skipped += 1
    if scorer.metric.joint:
        affected, missing = {cases[at] for at in todo}, set(todo)
        everything = scorer.metric.joint_over_all and bool(todo)
        again = [at for at, case in enumerate(cases) if at not in missing and (everything or case in affected)]
        skipped -= sum(o.key in there and there[o.key].current for o in map(outcomes.__getitem__, again))
        todo = again + todo  # what is missing for last: whatever interrupts this, all of it is done again
    return _Todo(Lazy.of(todo, outcomes.__getitem__), skipped, failed, proved)


def _speaks(outcome: Outcome) -> bool:
    """Whether the review says anything: what can be measured of silence alone, such as its recall, misleads."""
    review = outcome.review
    return review is not None and bool(review.comments or review.ranked_lines or review.verdict is not None)


def _recorded(run: RunFolder, scorer: Scorer, outcome: Outcome, value: Answered | None) -> Score:
    """The score, which the run holds now; one that no line of a file can hold becomes a failure."""
    found = scorer.score(outcome, value)
    try:
        run.append_score(found, sync=False)
    except Unstorable as error:
        broken = Failure(kind=FailureKind.CRASH, message=error.problem)
        found = scorer.score(outcome, Answered(broken, found.usage))
        run.append_score(found, sync=False)
    return found


def _answers(
    scorer: Scorer, todo: Sequence[Outcome], executor: Executor, stop: Interruption
) -> Iterator[tuple[Outcome, Answered | None]]:
    """(outcome, what the metric says; None: its review failed). What `stop` left undone does not occur."""
    reviewed = array("L")
    for at, outcome in enumerate(todo):
        if outcome.review is None:
            yield outcome, None
        else:
            reviewed.append(at)
    if stop.is_set():
        return
    outcomes = Lazy.of(reviewed, todo.__getitem__)
    batches = list(_batches(scorer.metric, outcomes, executor))
    work = Lazy.of(batches, lambda batch: _pairs(scorer, outcomes, batch))
    if isinstance(executor, Serial) and not scorer.metric.models:
        for batch, items in zip(batches, work, strict=True):
            for at, value in zip(batch, measure(scorer.metric, items), strict=True):
                yield outcomes[at], Answered(value)
                if stop.is_set():
                    return
        return
    with closing(executor.map(ScoreJob(scorer.metric), work, stop)) as finished:
        for index, answers in finished:
            here = Lazy.of(batches[index], outcomes.__getitem__)
            if isinstance(answers, Failure):  # the worker itself broke
                yield from ((outcome, Answered(answers)) for outcome in here)
                continue
            yield from zip(here, answers.values, strict=False)  # fewer, where the batch was refused half way
            error = answers.refused
            if isinstance(error, Failed) and error.stops:
                stop.stop(error)
            elif error is not None:
                raise error


def _pairs(scorer: Scorer, outcomes: Sequence[Outcome], batch: Sequence[int]) -> Sequence[tuple[Case, Review]]:
    """What a metric measures together; a batch of all that there is stays on the disk."""

    def pair(at: int) -> tuple[Case, Review]:
        outcome = outcomes[at]
        assert outcome.review is not None
        return scorer.cases[outcome.case], outcome.review

    found = Lazy.of(batch, pair)
    return found if len(batch) > _LARGEST_BATCH else list(found)


def _batches(metric: Metric, outcomes: Sequence[Outcome], executor: Executor) -> Iterator[Sequence[int]]:
    """Which items (positions in `outcomes`) are measured together.

    What asks a model is measured one by one, so that each is recorded at once. A joint metric must see every system at
    once: those on one case, or all there are.
    """
    everything = range(len(outcomes))
    if metric.joint_over_all or (metric.joint and not metric.models):
        if everything:
            yield everything
    elif metric.joint:
        of_case: dict[str, list[int]] = {}
        for at, outcome in enumerate(outcomes):
            of_case.setdefault(outcome.case, []).append(at)
        yield from of_case.values()
    else:
        parts = executor.workers * _BATCHES_PER_WORKER if executor.workers > 1 else 1
        share = math.ceil(len(outcomes) / parts)
        size = 1 if metric.models else max(executor.least, min(share, _LARGEST_BATCH))
        yield from (everything[at : at + size] for at in range(0, len(outcomes), size))


class Scorer:
    """Fills in Score records for one metric on one benchmark, given its cases by id."""

    def __init__(self, metric: Metric, cases: Mapping[str, Case], benchmark: str) -> None:
        self.metric, self.signature, self.pins = metric, signature(metric), all_pins(metric)
        self.cases, self._benchmark = cases, benchmark
        self._fake = any(value.startswith(fake.NAME) for value in self.pins.values())  # a fake model embeds
        if metric.reads_labels:
            self.pins["labels"] = labels_hash(self.cases.values())[:16]
        self._bounds: dict[str, Bounds | None] = {}

    def score(self, outcome: Outcome, answered: Answered | None) -> Score:
        """The score of an outcome; None: its review failed."""
        blank = Score(
            case=outcome.case,
            system=outcome.system,
            attempt=outcome.attempt,
            metric=self.signature,
            benchmark=self._benchmark,
            pins=self.pins,
            of=outcome.digest,
            usage=answered.usage if answered else Usage(),
            fake=self._fake
            or (outcome.review is not None and outcome.review.fake)
            or (answered is not None and answered.fake),
        )
        if answered is None:
            if why := self.metric.unmeasurable(self.cases[outcome.case]):
                return blank.model_copy(update={"reason": why})  # no review of it would have counted
            return self._failed(blank, outcome.failure, REVIEW_FAILED)
        value = answered.value
        if isinstance(value, Failure):
            return self._failed(blank, value, "the metric failed")
        if isinstance(value, str):
            return blank.model_copy(update={"reason": value or "does not apply"})
        measured = {name: getattr(value, name) for name in ("parts", "facets", "matching", "coverage", "votes")}
        return blank.model_copy(update={**measured, "fake": blank.fake or value.fake})

    def _failed(self, blank: Score, failure: Failure | None, reason: str) -> Score:
        bounds = self._bounds_of(blank.case)
        return blank.model_copy(update={"failure": failure, "reason": reason, "bounds": bounds})

    def _bounds_of(self, case: str) -> Bounds | None:
        if case not in self._bounds:
            try:
                bounds = self.metric.bounds(self.cases[case])
            except UserError:
                raise
            except Exception:  # no bounds is what None says; the failure itself is recorded beside it
                bounds = None
            if bounds is not None and not all(map(math.isfinite, (*bounds.worst.values(), *bounds.best.values()))):
                bounds = None
            self._bounds[case] = bounds
        return self._bounds[case]


class _Tally(WorkTally):
    """Counts the scores of one call."""

    count = not_applicable = failed_reviews = 0
    proved = applies = False

    def __init__(self) -> None:
        super().__init__()
        self.why: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}

    def add(self, score: Score, speaks: bool) -> None:
        """Count one score, of a review that says something or one that does not."""
        self.count += 1
        answered = score.parts is not None or score.failure is not None
        self.applies, self.proved = self.applies or answered, self.proved or (speaks and answered)
        self.why[speaks][score.reason] += 1
        self.spent.add(score.usage)
        self.fake = self.fake or score.fake
        if score.failure is not None and score.reason == REVIEW_FAILED:
            self.failed_reviews += 1
        elif score.failure is not None:
            self.fail(score.failure)
        elif score.parts is None:
            self.not_applicable += 1
        else:
            self.done += 1

    def check(self, metric: str) -> None:
        """Raise UserError where the metric had no answer to any review that says something, or to none at all."""
        telling = self.why[True]
        if self.proved or not self.count or (self.applies and not telling):
            return
        which = f"the {telling.total()} reviews that say something" if telling else f"the {self.count} reviews"
        reason = (telling or self.why[False]).most_common(1)[0][0]
        raise UserError(f"{metric} can measure none of {which}: {reason}", remedy="reviewgauge list metrics")
