"""A judge as an instrument: questions in, answers with their cost out, failures apart from answers.

A pair judge (a Judge) says yes or no to a comment and a reference; a grader (a Metric) reads one review. Questions to
models run in threads; a repeated question is answered from memory.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import MatrixAggregate, Numbers, measures_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Judge, Measured, Metric, Progress
from reviewgauge.core.records import Case, Review, Usage
from reviewgauge.core.reports.judge_check import JudgeCost, Kind
from reviewgauge.core.results import Failed, Failure, Verdict
from reviewgauge.core.specs import all_pins, short_spec, signature
from reviewgauge.engine.run.executors import Executor, Serial, Threads, failure_of
from reviewgauge.metrics.matching.policies import assign, golden_scores
from reviewgauge.models.chat.client import track_usage
from reviewgauge.models.request.messages import UsageSum

_LEAST = 1e-6  # a yes of probability 0 still counts as a yes in the assignment
Answer = tuple[Sequence[float], Sequence[float], str]
"""(decisions, values, the reason for missing ones)."""


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


class Instrument:
    """A judge of pairs or a grader under test. `sign` is -1 for a grader whose lower values are better."""

    def __init__(self, plugin: Judge | Metric) -> None:
        """Raises UserError for a metric that reads several reviews together."""
        self.plugin = plugin
        self.spec, self.signature, self.models = short_spec(plugin), signature(plugin), plugin.models
        self.pins, self.reads_labels = all_pins(plugin), plugin.reads_labels
        self.kind: Kind = "pairs"
        self.sign = 1.0
        if isinstance(plugin, Judge):
            self.estimate_note = plugin.estimate
            return
        if plugin.joint:
            problem = f"{self.spec} reads several reviews together, so it cannot answer single questions"
            raise UserError(problem, remedy="use reviewgauge validate")
        self.kind, self.estimate_note, self.reads_labels = "grades", plugin.estimate_note, False
        self.sign = -1.0 if plugin.headline in plugin.lower_is_better else 1.0

    def answer(self, ask: Ask) -> Answer:
        """The decisions on a question. Raises Failed, and any error of the plug-in."""
        return _verdicts(self.plugin, ask) if isinstance(self.plugin, Judge) else _grade(self.plugin, ask)


def _verdicts(judge: Judge, ask: Ask) -> Answer:
    if not ask.review.comments:
        silent = [0.0] * len(ask.case.references if ask.rows is None else ask.rows)
        return silent, silent, ""
    table = judge.judge(ask.case, ask.review.comments, ask.case.references, ask.review)
    if ask.rows is not None:
        cells = [table[comment][reference] for comment, reference in ask.rows]
        return [_decision(cell) for cell in cells], [math.nan if c is None else c.probability for c in cells], ""
    decisions = np.array([[_decision(cell) for cell in row] for row in table], dtype=np.float64)
    if judge.reads_labels:  # recorded verdicts are assigned already
        there = np.array([[cell is not None for cell in row] for row in table])
        known = np.where(there.any(axis=0), (decisions == 1).any(axis=0), np.nan).tolist()
        return known, known, ""
    probability = np.array([[math.nan if c is None else c.probability for c in row] for row in table])
    hit = {reference for _, reference in assign_yeses(decisions, probability)}
    scores = golden_scores(probability, judge.penalty)
    return [float(at in hit) for at in range(probability.shape[1])], [float(p) for p in scores], ""


def assign_yeses(decisions: Numbers, probability: Numbers) -> list[tuple[int, int]]:
    """The pairs left by one-to-one assignment of the yeses (comments x references)."""
    return assign(np.where(decisions == 1, np.maximum(probability, _LEAST), 0.0))


def _decision(cell: Verdict | None) -> float:
    return math.nan if cell is None or cell.same is None else float(cell.same)


def _grade(metric: Metric, ask: Ask) -> Answer:
    measured = metric.parts(ask.case, ask.review)
    if not isinstance(measured, Measured):
        return [math.nan], [math.nan], str(measured)
    measures = measures_of(metric, MatrixAggregate.of([measured.parts]))
    value = float(measures[metric.headline][0]) if metric.headline in measures else math.nan
    return [value], [value], "" if math.isfinite(value) else f"{metric.headline} is undefined on the review alone"


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

        def one(ask: Ask) -> Decisions | UserError:
            try:
                return reply_of(self.instrument, ask, attempt)
            except UserError as error:
                return error

        answers = executor.map(one, asks)
        try:
            for at, found in answers:
                if isinstance(found, Failed):
                    self.stopped = str(found)
                    return
                if isinstance(found, UserError):
                    raise found
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
        answered = [reply for reply in replies if reply.failure is None and not reply.silent]
        return JudgeCost(
            questions=len(replies),
            decisions=sum(math.isfinite(one) for reply in answered for one in reply.decisions),
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
    answer: Answer = ((), (), "")
    with track_usage(attempt) as tracker:
        try:
            answer = instrument.answer(ask)
        except UserError as error:
            if not isinstance(error, Failed) or error.stops:
                raise
            failure = error.failure
        except Exception as error:  # a bug of a plug-in becomes a failure record, never an answer
            failure = failure_of(error)
    seconds, silent = time.perf_counter() - began, not ask.review.comments
    decisions, values, reason = answer
    return Decisions(tuple(decisions), tuple(values), tracker.usage, seconds, tracker.fake, failure, reason, silent)
