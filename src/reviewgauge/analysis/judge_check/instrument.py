"""A judge as an instrument: questions in, answers with their cost out, failures apart from answers.

A pair judge (a Judge) says yes or no to a comment and a reference; a grader (a Metric) reads one review. Questions to
models run in threads; a repeated question is answered from memory.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from typing_extensions import override

from reviewgauge.analysis.stats.arrays import MatrixAggregate, Numbers, measures_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Judge, Measured, Metric, Progress
from reviewgauge.core.records import Case, Review, Usage
from reviewgauge.core.reports.judge_check import JudgeCost, Kind
from reviewgauge.core.results import Failed, Failure, FailureKind, Verdict
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.core.specs import short_spec, signature
from reviewgauge.engine.run.executors import Executor, Serial, Threads
from reviewgauge.metrics.matching.policies import assign, golden_scores
from reviewgauge.models.chat.client import track_usage
from reviewgauge.models.request.messages import UsageSum

Cells = Sequence[Sequence[Verdict | None]]
_LEAST = 1e-6  # a yes of probability 0 still counts as a yes in the assignment


@dataclass(frozen=True)
class Ask:
    """One question: a review compared with the references of its case.

    `rows` are the (comment, reference) positions that count. None means one row a reference, after one-to-one
    assignment of the comments; for a grader, one row for the review.
    """

    case: Case
    review: Review
    rows: tuple[tuple[int, int], ...] | None = None

    @property
    def key(self) -> tuple[bytes, bytes, object]:
        """Equal for equal questions."""
        return self.case.to_line(), self.review.to_line(), self.rows


class Decisions(NamedTuple):
    """One answer: a decision (1 yes, 0 no, or the grade) and the value behind it for each row; NaN where missing.

    `silent`: the review has no comment, so nothing was asked.
    """

    decisions: tuple[float, ...]
    values: tuple[float, ...]
    usage: Usage = Usage()
    seconds: float = 0.0
    fake: bool = False
    failure: Failure | None = None
    reason: str = ""
    silent: bool = False


class Instrument(ABC):
    """A judge or grader under test."""

    kind: Kind
    spec: str
    signature: str
    models: tuple[str, ...]
    pins: Mapping[str, str]
    estimate_note: str
    sign: float = 1.0  # -1 for a grader whose lower values are better
    reads_labels: bool = False

    @abstractmethod
    def answer(self, ask: Ask) -> tuple[Sequence[float], Sequence[float], str]:
        """(decisions, values, the reason for missing ones). Raises Failed, and any error of the plug-in."""


class PairInstrument(Instrument):
    """A judge of pairs."""

    def __init__(self, judge: Judge) -> None:
        self.judge, self.kind = judge, "pairs"
        self.spec, self.signature, self.models = short_spec(judge), signature(judge), judge.models
        self.pins, self.estimate_note, self.reads_labels = dict(judge.pins()), judge.estimate, judge.reads_labels

    def table(self, ask: Ask) -> Cells:
        """The verdict on every pair."""
        return self.judge.judge(ask.case, ask.review.comments, ask.case.references, ask.review)

    @override
    def answer(self, ask: Ask) -> tuple[Sequence[float], Sequence[float], str]:
        if not ask.review.comments:
            silent = [0.0] * len(ask.case.references if ask.rows is None else ask.rows)
            return silent, silent, ""
        table = self.table(ask)
        if ask.rows is not None:
            cells = [table[comment][reference] for comment, reference in ask.rows]
            return [_decision(cell) for cell in cells], [math.nan if c is None else c.probability for c in cells], ""
        if self.reads_labels:  # recorded verdicts are assigned already
            columns = [[row[at] for row in table if row[at] is not None] for at in range(len(ask.case.references))]
            decisions = [float(any(_decision(cell) == 1 for cell in column)) for column in columns]
            known = [one if column else math.nan for one, column in zip(decisions, columns, strict=True)]
            return known, known, ""
        found, probability = assign_comments(table, len(ask.case.references))
        hit = {reference for _, reference in found}
        scores = golden_scores(probability, self.judge.penalty)
        return [float(at in hit) for at in range(probability.shape[1])], [float(p) for p in scores], ""


def assign_comments(table: Cells, references: int) -> tuple[list[tuple[int, int]], Numbers]:
    """(the pairs left by one-to-one assignment of the judge's yeses, the probabilities of all pairs)."""
    probability = np.array([[np.nan if c is None else c.probability for c in row] for row in table], dtype=np.float64)
    probability = probability.reshape(len(table), references)
    yes = np.array([[_decision(cell) == 1 for cell in row] for row in table], dtype=bool).reshape(probability.shape)
    return assign(np.where(yes, np.maximum(probability, _LEAST), 0.0)), probability


def _decision(cell: Verdict | None) -> float:
    return math.nan if cell is None or cell.same is None else float(cell.same)


class GradeInstrument(Instrument):
    """A metric that reads one review at a time: its headline measure."""

    def __init__(self, metric: Metric) -> None:
        if metric.joint:
            raise UserError(
                f"{short_spec(metric)} reads several reviews together, so it cannot answer single questions",
                remedy="use reviewgauge validate",
            )
        self.metric, self.kind = metric, "grades"
        self.spec, self.signature, self.models = short_spec(metric), signature(metric), metric.models
        self.pins, self.estimate_note = dict(metric.pins()), metric.estimate_note
        self.sign = -1.0 if metric.headline in metric.lower_is_better else 1.0

    @override
    def answer(self, ask: Ask) -> tuple[Sequence[float], Sequence[float], str]:
        measured = self.metric.parts(ask.case, ask.review)
        if not isinstance(measured, Measured):
            return [math.nan], [math.nan], str(measured)
        measures = measures_of(self.metric, MatrixAggregate.of([measured.parts]))
        value = float(measures[self.metric.headline][0]) if self.metric.headline in measures else math.nan
        reason = "" if math.isfinite(value) else f"{self.metric.headline} is undefined on the review alone"
        return [value], [value], reason


@dataclass
class Asker:
    """Asks an instrument each question once, and adds up the cost. `stopped` is the reason for an early end."""

    instrument: Instrument
    workers: int = 16
    progress: Progress | None = None
    stopped: str = ""
    _known: dict[tuple[object, int], Decisions] = field(default_factory=dict)

    def ask(self, asks: Sequence[Ask], attempt: int = 1, what: str = "") -> list[Decisions | None]:
        """The replies in order; None for questions not asked because the check was stopped."""
        keys = [(ask.key, attempt) for ask in asks]
        wanted = {key: ask for key, ask in zip(keys, asks, strict=True) if key not in self._known}
        if wanted and not self.stopped:
            todo = list(wanted.items())
            for done, (at, found) in enumerate(self._answers([ask for _, ask in todo], attempt), 1):
                self._known[todo[at][0]] = found
                if self.progress is not None:
                    self.progress(done, len(todo), what)
        return [self._known.get(key) for key in keys]

    def _answers(self, asks: Sequence[Ask], attempt: int) -> Iterator[tuple[int, Decisions]]:
        executor: Executor = Threads(self.workers) if self.instrument.models else Serial()
        raised: list[UserError] = []

        def one(ask: Ask) -> Decisions | None:
            try:
                return reply_of(self.instrument, ask, attempt)
            except UserError as error:
                raised.append(error)
                return None

        answers = executor.map(one, asks)
        try:
            for at, found in answers:
                if raised:
                    error = raised[0]
                    if not isinstance(error, Failed):
                        raise error
                    self.stopped = str(error)
                    return
                assert isinstance(found, Decisions), found
                yield at, found
        finally:
            answers.close()

    @property
    def spent(self) -> JudgeCost:
        """The cost of all replies so far."""
        replies = list(self._known.values())
        total = UsageSum()
        for reply in replies:
            total.add(reply.usage)
        usage = total.usage
        answered = [reply for reply in replies if reply.failure is None]
        return JudgeCost(
            questions=len(replies),
            decisions=sum(sum(math.isfinite(one) for one in reply.decisions) for reply in answered if not reply.silent),
            calls=usage.calls,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            dollars=usage.dollars,
            seconds=round(sum(r.usage.seconds if r.usage.calls else r.seconds for r in replies), 6),
            failed=dict(Counter(r.failure.kind.value for r in replies if r.failure is not None)),
        )

    @property
    def fake(self) -> bool:
        """Whether a fake model answered any question."""
        return any(reply.fake for reply in self._known.values())


def reply_of(instrument: Instrument, ask: Ask, attempt: int = 1) -> Decisions:
    """One answer, or the failure in its place. Raises UserError, and Failed if it stops the run."""
    began = time.perf_counter()
    failure: Failure | None = None
    answer: tuple[Sequence[float], Sequence[float], str] = ((), (), "")
    with track_usage(attempt) as tracker:
        try:
            answer = instrument.answer(ask)
        except Failed as error:
            if error.stops:
                raise
            failure = error.failure
        except UserError:
            raise
        except Exception as error:  # a bug of a plug-in becomes a failure record, never an answer
            failure = Failure(kind=FailureKind.CRASH, message=hide_secrets(f"{type(error).__name__}: {error}"))
    seconds, silent = time.perf_counter() - began, not ask.review.comments
    decisions, values, reason = answer
    return Decisions(tuple(decisions), tuple(values), tracker.usage, seconds, tracker.fake, failure, reason, silent)
