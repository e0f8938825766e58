"""A run x metrics into scores: only what is missing, and every break a Failure with its bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric, Progress
from reviewgauge.core.records import Case, Review, Usage
from reviewgauge.core.results import Bounds, Failed, Failure, FailureKind, Outcome, Parts, Score
from reviewgauge.core.specs import signature
from reviewgauge.engine.run.executors import Executor, Interruption, Serial, executor_for, exhausted, failure_of
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.journal import Unstorable
from reviewgauge.engine.run.manifest import labels_hash
from reviewgauge.engine.run.model_options import ModelOptions, Spending, spending
from reviewgauge.engine.run.progress import Selection, SyncedProgress, WorkTally, WorkTotals, with_cost
from reviewgauge.models.chat.client import counted


class Answered(NamedTuple):
    """What the metric returned for one item, and what its model calls cost."""

    value: Measured | str | Failure
    usage: Usage = Usage()
    fake: bool = False


class Answers(NamedTuple):
    """The answers of one batch, as far as it came, and the error that ended it early, which concerns the whole run."""

    values: Sequence[Answered]
    refused: UserError | None = None


@dataclass(frozen=True)
class ScoreJob:
    """Measures one batch in a worker. Votes differ by their trial, so the attempt of a call is always 1."""

    metric: Metric

    def __call__(self, items: Sequence[tuple[Case, Review]]) -> Answers:
        """One answer an item, each with what was spent since the one before."""
        answers: list[Answered] = []
        refused: UserError | None = None
        with counted() as tally:
            before = tally.usage
            try:
                for value in measure(self.metric, items):
                    now = tally.usage
                    answers.append(Answered(value, _since(before, now)))
                    before = now
            except UserError as error:
                refused = error
        # Any answer of a batch in which a fake model answered may rest on it.
        return Answers([answer._replace(fake=tally.fake) for answer in answers], refused)


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
    """What `metric.parts_many` says of each item: exactly one answer per item, and a finite number in every part.

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
        if (stopping := exhausted(error)) is not None:
            raise stopping from None
        broken = failure_of(error)
    for _ in range(len(items) - answered):
        yield broken


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


REVIEW_FAILED = "the review failed"
_BATCHES_PER_WORKER = 4


class ScoreTotals(WorkTotals):
    """What measuring one metric did. `failed` are failures of the metric; `failed_reviews` had nothing to measure."""

    metric: str
    not_applicable: int = 0
    failed_reviews: int = 0

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
    workers: int | None = None,
    stop: Interruption,
    progress: Progress | None = None,
) -> MeasureResult:
    """Measure what is missing on a run that is open for writing; `stop` says what ended it early.

    With `models.dry_run` nothing is written: the totals say what is left to measure, and the spending what it may cost.
    """
    score_metric = rehearse_score if models.dry_run else score
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
    Raises what the metric says of the whole run (UserError), and a full disk. A Failed that stops the run leaves the
    rest undone, as Ctrl-C does: `stop.error` says why.
    """
    tally = _Tally()
    stop = stop or Interruption()
    scorer = _Scorer(run, metric)
    todo = _find_missing(run, scorer, retry_failed, only)
    steps = SyncedProgress(run, len(todo.outcomes), progress)
    for outcome, value in _answers(scorer, todo.outcomes, executor or Serial(), stop):
        found = scorer.score(outcome, value)
        try:
            run.append_score(found, sync=False)
        except Unstorable as error:
            found = scorer.score(outcome, Answered(Failure(kind=FailureKind.CRASH, message=error.problem), found.usage))
            run.append_score(found, sync=False)
        tally.add(found)
        steps.step(f"{tally.trouble}{outcome.system} {outcome.case}")
    steps.finish()
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


def rehearse_score(
    run: RunFolder,
    metric: Metric,
    *,
    executor: Executor,
    retry_failed: bool = False,
    only: Selection | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ScoreTotals:
    """Measure what is missing with a client that rehearses, and write nothing; `left` says how many reviews that were.

    The fake model answers in place of the others, and may say less or more than they would.
    """
    scorer = _Scorer(run, metric)
    todo = _find_missing(run, scorer, retry_failed, only).outcomes
    if metric.models:
        found = _answers(scorer, todo, executor, stop or Interruption())
        for done, (outcome, _) in enumerate(found, 1):
            if progress is not None:
                progress(done, len(todo), f"{outcome.system} {outcome.case}")
    return ScoreTotals(metric=scorer.signature, left=len(todo))


class _Todo(NamedTuple):
    """What to score, how many scores are there, how many of those are failures of the metric."""

    outcomes: Sequence[Outcome]
    skipped: int
    failed_before: int


def _find_missing(run: RunFolder, scorer: _Scorer, retry_failed: bool, only: Selection | None) -> _Todo:
    """What is missing of one metric's scores; with `only`, the part of it that was asked for. Raises UserError."""
    only = only or Selection()
    only.check(case.id for case in run.cases())
    outcomes = run.outcomes()
    there = {(s.case, s.system, s.attempt): s for s in run.scores(scorer.signature) if dict(s.pins) == scorer.pins}
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
    if scorer.metric.joint:
        affected = {outcome.case for outcome in todo}
        missing = {id(outcome) for outcome in todo}
        again = [
            o
            for o in outcomes
            if id(o) not in missing and ((scorer.metric.joint_over_all and todo) or o.case in affected)
        ]
        todo = again + todo  # what is missing for last: whatever interrupts this, all of it is done again
    chosen = {id(outcome) for outcome in todo}
    skipped = sum(id(o) not in chosen and (o.case, o.system, o.attempt) in there for o in outcomes)
    return _Todo(todo, skipped, failed)


def _answers(
    scorer: _Scorer, todo: Sequence[Outcome], executor: Executor, stop: Interruption
) -> Iterator[tuple[Outcome, Answered | None]]:
    """(outcome, what the metric says; None: its review failed). What `stop` left undone does not occur."""
    reviewed: list[Outcome] = []
    items: list[tuple[Case, Review]] = []
    for outcome in todo:
        if outcome.review is None:
            yield outcome, None
        else:
            reviewed.append(outcome)
            items.append((scorer.cases[outcome.case], outcome.review))
    if stop.is_set():
        return
    if executor.workers == 1 and not scorer.metric.models:
        for outcome, value in zip(reviewed, measure(scorer.metric, items), strict=True):
            yield outcome, Answered(value)
            if stop.is_set():
                break
        return
    batches = list(_batches(scorer, reviewed, executor.workers))
    work = [[items[at] for at in batch] for batch in batches]
    with closing(executor.map(ScoreJob(scorer.metric), work, stop)) as finished:
        for index, answers in finished:
            here = [reviewed[at] for at in batches[index]]
            if isinstance(answers, Failure):  # the worker itself broke
                yield from ((outcome, Answered(answers)) for outcome in here)
                continue
            yield from zip(here, answers.values, strict=False)  # fewer, where the batch was refused half way
            error = answers.refused
            if isinstance(error, Failed) and error.stops:
                stop.stop(error)
            elif error is not None:
                raise error


def _batches(scorer: _Scorer, outcomes: Sequence[Outcome], workers: int) -> Iterator[Sequence[int]]:
    """Which items (positions in `outcomes`) are measured together.

    What asks a model is measured one by one, so that each is recorded at once. A joint metric must see every system at
    once: those on one case, or all there are.
    """
    everything = range(len(outcomes))
    if scorer.metric.joint_over_all or (scorer.metric.joint and not scorer.metric.models):
        if everything:
            yield everything
    elif scorer.metric.joint:
        of_case: dict[str, list[int]] = {}
        for at, outcome in enumerate(outcomes):
            of_case.setdefault(outcome.case, []).append(at)
        yield from of_case.values()
    else:
        size = 1 if scorer.metric.models else max(1, math.ceil(len(outcomes) / (workers * _BATCHES_PER_WORKER)))
        yield from (everything[at : at + size] for at in range(0, len(outcomes), size))


class _Scorer:
    """Fills in Score records for one metric on one run."""

    def __init__(self, run: RunFolder, metric: Metric) -> None:
        self.metric, self.signature, self.pins = metric, signature(metric), dict(metric.pins())
        self.cases = {case.id: case for case in run.cases()}
        self._benchmark = run.manifest.benchmark
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
            fake=(outcome.review is not None and outcome.review.fake) or (answered is not None and answered.fake),
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
        measured = {name: getattr(value, name) for name in ("parts", "facets", "matching", "votes")}
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
            if bounds is not None and not (_all_finite(bounds.worst) and _all_finite(bounds.best)):
                bounds = None
            self._bounds[case] = bounds
        return self._bounds[case]


def _all_finite(parts: Parts) -> bool:
    return all(math.isfinite(part) for part in parts.values())


class _Tally(WorkTally):
    """Counts the scores of one call."""

    count = not_applicable = failed_reviews = 0

    def add(self, score: Score) -> None:
        self.count += 1
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
