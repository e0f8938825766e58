"""A run without a run: the plug-ins do their work with the fake model standing in, and nothing is written.

What is counted are the calls that went through the door meanwhile. The fake model says less, or more, than another one:
a judge that is asked about each comment is asked as often as the reviews at hand have comments.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from reviewgauge.core.protocols import Metric, Progress, Reviewer
from reviewgauge.core.records import Case
from reviewgauge.core.results import Outcome
from reviewgauge.engine.review import Job, Stopped, changes_to_review, checked_system, what_to_review
from reviewgauge.engine.run.executors import Executor
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.interruption import Interruption
from reviewgauge.engine.run.selection import Selection
from reviewgauge.engine.score import answers_of, desk_of, what_to_score


def rehearse_review(
    cases: Sequence[Case],
    there: Sequence[Outcome],
    reviewer: Reviewer,
    *,
    executor: Executor,
    dataset: str = "",
    attempts: int = 1,
    retry_failed: bool = False,
    only: Selection | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> int:
    """Review what is missing among `there` behind a door that rehearses; returns how many reviews that were.

    Raises as `review` does.
    """
    stop = stop or Interruption()
    system = checked_system(reviewer.system)
    todo = what_to_review(cases, there, system, attempts=attempts, retry_failed=retry_failed, only=only)
    changes = changes_to_review(reviewer, cases, dataset)
    if todo.items:
        reviewer.prepare(changes)
    if not reviewer.models:
        return len(todo.items)
    by_case = {change.id or "": change for change in changes}
    items = [(case, by_case[case], attempt) for case, attempt in todo.items]
    with closing(executor.map(Job(reviewer, system), items, stop)) as finished:
        for done, (_, value) in enumerate(finished, 1):
            if isinstance(value, Stopped):
                stop.stop(value.error)
            if progress is not None:
                progress(done, len(items), system)
    return len(items)


def rehearse_score(
    run: RunFolder,
    metric: Metric,
    *,
    executor: Executor,
    retry_failed: bool = False,
    only: Selection | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> int:
    """Measure what is missing behind a door that rehearses; returns how many reviews that were."""
    desk = desk_of(run, metric)
    todo = what_to_score(run, desk, retry_failed, only).outcomes
    if metric.models:
        found = answers_of(desk, todo, executor, stop or Interruption())
        for done, (outcome, _) in enumerate(found, 1):
            if progress is not None:
                progress(done, len(todo), f"{outcome.system} {outcome.case}")
    return len(todo)
