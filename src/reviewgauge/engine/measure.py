"""What a metric says of (case, review) pairs, one answer each, with its cost: the work of a worker."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import ARM, Case, Review, Task, Usage
from reviewgauge.core.results import Failure, FailureKind
from reviewgauge.engine.run.executors import exhausted, failure_of
from reviewgauge.models.chat.client import track_usage


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
        with track_usage() as tracker:
            before = tracker.usage
            try:
                for value in measure(self.metric, items):
                    now = tracker.usage
                    answers.append(Answered(value, _since(before, now)))
                    before = now
            except UserError as error:
                refused = error
        # Any answer of a batch in which a fake model answered may rest on it.
        return Answers([answer._replace(fake=tracker.fake) for answer in answers], refused)


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
    """The value, or a Failure where a part is not a number: NaN in a sum would spoil every measure."""
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


_OF_TASK: Mapping[Task, str] = {Task.ASSESS: "assess", Task.LOCATE: "pass_at_k", Task.COMMENT: "rouge"}


def usual_metric(tasks: Collection[Task]) -> str:
    """The metric for cases of one task; `hits` for several, and for none."""
    return _OF_TASK.get(next(iter(tasks)), "hits") if len(tasks) == 1 else "hits"


def usual_metrics(cases: Iterable[Case]) -> tuple[str, ...]:
    """The metrics for these cases: the usual one of their task, `twins` where defects were injected, or both."""
    seen = {(case.change.task, ARM in case.facts) for case in cases}
    plain = {task for task, armed in seen if not armed}
    return (
        *(["twins"] if any(armed for _, armed in seen) else []),
        *([usual_metric(plain)] if plain or not seen else []),
    )
