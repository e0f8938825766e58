"""Several attempts at one review.

They are numbered like the attempts of a run, so that what a run has in the cache is not asked for again.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from reviewgauge.core.errors import MissingExtra, UserError, one_line
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, Review, Usage
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.chat.client import current_tracker, track_usage

_AT_ONCE = 16  # threads; how many calls may be in flight is the client's to say
_LONGEST_TRACE = 20_000  # characters of one attempt's trace


class Attempted(NamedTuple):
    """One attempt, named in traces by `name`: its review, or how it failed."""

    name: str
    answer: Review | Failed


class _Done(NamedTuple):
    attempted: Attempted
    usage: Usage
    fake: bool


def attempt_all(change: Change, reviewers: Sequence[Reviewer], n: int) -> list[Attempted]:
    """`n` attempts of each reviewer, at the same time where it asks a model. Their cost goes to the caller's tally.

    Raises Failed where the next change would fail, too, and whatever is a bug of a reviewer.
    """
    outer = current_tracker()
    before = (outer.attempt - 1) * n if outer else 0
    work = [partial(_attempt, change, reviewer, before + at, at, n) for reviewer in reviewers for at in range(1, n + 1)]
    if any(reviewer.models for reviewer in reviewers):
        pool = ThreadPoolExecutor(min(len(work), _AT_ONCE))
        try:
            done = [one.result() for one in [pool.submit(job) for job in work]]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # where one stops the run, the others are not waited for
    else:
        done = [job() for job in work]
    for one in done:
        if outer is not None and one.usage.calls:
            outer.add(one.usage, fake=one.fake)
    return [one.attempted for one in done]


def _attempt(change: Change, reviewer: Reviewer, attempt: int, at: int, n: int) -> _Done:
    answer: Review | Failed
    with track_usage(attempt) as tracker:
        try:
            answer = reviewer.review(change)
        except Failed as error:
            if error.stops:
                raise
            answer = error
        except MissingExtra:
            raise
        except UserError as error:
            answer = Failed(FailureKind.CRASH, error.problem, remedy=error.remedy)
    own = tracker.usage
    if isinstance(answer, Review):
        own = answer.usage if answer.usage.calls else own
        answer = answer.model_copy(update={"fake": answer.fake or tracker.fake})
    name = f"attempt {at} of {reviewer.system}" if n > 1 else reviewer.system
    return _Done(Attempted(name, answer), own, tracker.fake or (isinstance(answer, Review) and answer.fake))


def answered(attempts: Sequence[Attempted]) -> list[Review]:
    """The reviews. Raises Failed, as the first that failed did, where fewer than half of the attempts have one."""
    reviews = [one.answer for one in attempts if isinstance(one.answer, Review)]
    broken = [(one.name, one.answer) for one in attempts if isinstance(one.answer, Failed)]
    if 2 * len(reviews) < len(attempts):
        name, first = broken[0]
        problem = f"{len(broken)} of {len(attempts)} attempts failed, first {name}: {first.problem}"
        raise Failed(first.kind, problem, remedy=first.remedy, raw=first.raw)
    return reviews


def remarks(attempts: Sequence[Attempted]) -> list[str]:
    """For the trace: the attempts without an answer, and what the others noted, each note once."""
    notes = [
        f"{one.name} failed and is left out: {one_line(one.answer.problem)}"
        for one in attempts
        if isinstance(one.answer, Failed)
    ]
    traces: dict[str, list[str]] = {}
    for one in attempts:
        if isinstance(one.answer, Review) and one.answer.trace:
            traces.setdefault(one.answer.trace[:_LONGEST_TRACE], []).append(one.name)
    for trace, names in traces.items():
        notes.append(f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''} noted:\n{trace}")
    return notes
