"""Reviewer x cases x attempts into a run folder: only what is missing, every break a Failure."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from pydantic import Field, TypeAdapter, ValidationError

from reviewbench.core.base import Id, Record
from reviewbench.core.errors import NeedsCode, UserError
from reviewbench.core.plugins import signature
from reviewbench.core.protocols import Reviewer
from reviewbench.core.records import Case, Change, Review, Usage
from reviewbench.core.results import Drop, Failure, FailureKind, Outcome
from reviewbench.engine.executors import Executor
from reviewbench.engine.journal import Unstorable
from reviewbench.engine.store import RunFolder

Progress = Callable[[int, int, str], None]
SYNC_EVERY = 0.25  # seconds between two fsyncs while results stream in


class ReviewTotals(Record):
    """The closing line of a review. `done` and `failed` are of this call, `skipped` was there before it.

    `failed_before` counts the failures among the skipped, which `retry_failed` would try again. `cost` covers this
    call; its dollars are None as soon as one call's price is not known.
    """

    systems: tuple[str, ...]
    done: int = 0
    failed: Mapping[str, int] = Field(default_factory=dict)
    skipped: int = 0
    failed_before: int = 0
    comments: int = 0
    cost: Usage = Usage()
    seconds: float = 0.0
    drops: tuple[Drop, ...] = ()
    fake: bool = False


class SyncedProgress:
    """Reports progress only on what is on the disk; the disk is asked at most every SYNC_EVERY seconds."""

    def __init__(self, run: RunFolder, total: int, progress: Progress | None) -> None:
        self._run, self._total, self._progress = run, total, progress
        self._done, self._last = 0, time.monotonic()

    def step(self, text: str) -> None:
        """One more was appended."""
        self._done += 1
        if self._done == self._total or time.monotonic() - self._last >= SYNC_EVERY:
            self._run.sync()
            self._last = time.monotonic()
            if self._progress is not None:
                self._progress(self._done, self._total, text)


@dataclass(frozen=True)
class _Job:
    """What a worker does with one (change, attempt). It holds no case."""

    reviewer: Reviewer
    system: str

    def __call__(self, item: tuple[str, Change, int]) -> Review | Failure:
        case, change, attempt = item
        began = time.perf_counter()
        review: object = self.reviewer.review(change)
        if isinstance(review, Failure):
            return review
        if not isinstance(review, Review):
            kind = type(review).__name__
            return Failure(kind=FailureKind.CRASH, message=f"the reviewer returned a {kind}, not a Review")
        usage = review.usage
        if not usage.seconds:
            usage = usage.model_copy(update={"seconds": round(time.perf_counter() - began, 6)})
        return review.model_copy(
            update={"case": case, "system": self.system, "attempt": attempt, "usage": usage},
        )


def review(
    run: RunFolder,
    reviewer: Reviewer,
    *,
    executor: Executor,
    attempts: int = 1,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> ReviewTotals:
    """Let `reviewer` review every case `attempts` times, leaving out what the run holds already.

    Whatever `review(change)` raises is that case's Failure, UserErrors too. UserErrors of `prepare` are raised, as
    are: no diffs at hand for a reviewer that needs them, another reviewer under the same name, a full disk.
    """
    began = time.monotonic()
    system = checked_system(reviewer.system)
    if attempts < 1:
        raise UserError(f"attempts={attempts} is below 1")
    cases = run.cases()
    missing, skipped, failed_before = _missing(run, cases, system, attempts, retry_failed)
    changes = [case.change.model_copy(update={"id": case.id}) for case in cases]
    if reviewer.needs_diff and not any(change.has_diff for change in changes):
        raise NeedsCode(system, run.manifest.dataset)
    drops = tuple(reviewer.prepare(changes)) if missing else ()
    run.add_system(system, signature(reviewer), reviewer.pins())
    by_case = {case.id: change for case, change in zip(cases, changes, strict=True)}
    items = [(case, by_case[case], attempt) for case, attempt in missing]
    tally = _Tally()
    steps = SyncedProgress(run, len(items), progress)
    with closing(executor.map(_Job(reviewer, system), items)) as finished:
        for index, value in finished:
            case, _, attempt = items[index]
            tally.add(_append(run, _outcome(case, system, attempt, value)))
            steps.step(f"{system} {case}")
    run.sync()
    return tally.totals((system,), skipped, failed_before, drops, time.monotonic() - began)


def import_reviews(
    run: RunFolder,
    reviews: Sequence[Review],
    *,
    source: str = "recorded",
    pins: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> ReviewTotals:
    """Take recorded reviews of any number of systems into the run; `source` is the spec that stands for them.

    Reviews of cases that the run does not hold are dropped and counted. Those that it holds already are skipped;
    other ones under the names of systems that it holds are refused, before anything is recorded.
    """
    began = time.monotonic()
    known = {case.id for case in run.cases()}
    there = {(o.case, o.system, o.attempt): o for o in run.outcomes()}
    tally, skipped, drops, new = _Tally(), 0, [], []
    seen: set[tuple[str, str, int]] = set()
    for found in reviews:
        key = (found.case, found.system, found.attempt)
        if key in seen:
            raise UserError(f"{source}: two reviews of case {found.case} by {found.system}, attempt {found.attempt}")
        seen.add(key)
        if found.case not in known:
            drops.append(Drop(item=f"{found.case} {found.system}", by=source, reason="its case is not in this run"))
        elif key in there and there[key].review is not None:
            skipped += 1
        else:
            new.append(found)
    lines: dict[str, list[bytes]] = {}
    for found in reviews:
        lines.setdefault(found.system, []).append(found.to_line())
    systems = tuple(sorted(lines))
    digests = {system: hashlib.sha256(b"".join(sorted(lines[system]))).hexdigest() for system in systems}
    run.add_systems({s: {**(pins or {}), "recorded reviews": digest[:16]} for s, digest in digests.items()}, source)
    steps = SyncedProgress(run, len(new), progress)
    for found in new:
        outcome = Outcome(case=found.case, system=found.system, attempt=found.attempt, review=found)
        run.append_outcome(outcome, sync=False)
        tally.add(outcome)
        steps.step(f"{found.system} {found.case}")
    run.sync()
    return tally.totals(systems, skipped, 0, tuple(drops), time.monotonic() - began)


def checked_system(system: str) -> str:
    """The name, if it can stand in a run. Raises UserError."""
    try:
        return TypeAdapter(Id).validate_python(system)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise UserError(f"the system name {system!r} {problem}", remedy="give the reviewer another name") from None


def _missing(
    run: RunFolder, cases: Sequence[Case], system: str, attempts: int, retry_failed: bool
) -> tuple[list[tuple[str, int]], int, int]:
    """((case, attempt) to do, how many are there, how many of those are failures)."""
    mine = {(o.case, o.attempt): o for o in run.outcomes() if o.system == system}
    todo, skipped, failed = [], 0, 0
    for attempt in range(1, attempts + 1):
        for case in cases:
            outcome = mine.get((case.id, attempt))
            if outcome is None or (retry_failed and outcome.failure is not None):
                todo.append((case.id, attempt))
            else:
                skipped += 1
                failed += outcome.failure is not None
    return todo, skipped, failed


def _outcome(case: str, system: str, attempt: int, value: Review | Failure) -> Outcome:
    if isinstance(value, Failure):
        return Outcome(case=case, system=system, attempt=attempt, failure=value)
    return Outcome(case=case, system=system, attempt=attempt, review=value)


def _append(run: RunFolder, outcome: Outcome) -> Outcome:
    """Record the outcome, or the Failure that says why it cannot be a line of a file."""
    try:
        run.append_outcome(outcome, sync=False)
    except Unstorable as error:
        failure = Failure(kind=FailureKind.UNREADABLE, message=error.problem)
        outcome = outcome.model_copy(update={"review": None, "failure": failure})
        run.append_outcome(outcome, sync=False)
    return outcome


class _Tally:
    """Adds up what was done in one call."""

    def __init__(self) -> None:
        self.done, self.comments, self.fake = 0, 0, False
        self.failed: Counter[str] = Counter()
        self.calls, self.tokens_in, self.tokens_out, self.seconds = 0, 0, 0, 0.0
        self.dollars, self.priced, self.unpriced = 0.0, False, False

    def add(self, outcome: Outcome) -> None:
        if outcome.failure is not None:
            self.failed[outcome.failure.kind.value] += 1
            return
        assert outcome.review is not None
        self.done += 1
        self.comments += len(outcome.review.comments)
        self.fake = self.fake or outcome.review.fake
        usage = outcome.review.usage
        self.calls += usage.calls
        self.tokens_in += usage.tokens_in
        self.tokens_out += usage.tokens_out
        self.seconds += usage.seconds
        if usage.dollars is not None:
            self.dollars, self.priced = self.dollars + usage.dollars, True
        elif usage.calls:
            self.unpriced = True

    def totals(
        self, systems: tuple[str, ...], skipped: int, failed_before: int, drops: tuple[Drop, ...], seconds: float
    ) -> ReviewTotals:
        return ReviewTotals(
            systems=systems,
            done=self.done,
            failed=dict(sorted(self.failed.items())),
            skipped=skipped,
            failed_before=failed_before,
            comments=self.comments,
            cost=Usage(
                calls=self.calls,
                tokens_in=self.tokens_in,
                tokens_out=self.tokens_out,
                dollars=self.dollars if self.priced and not self.unpriced else None,
                seconds=round(self.seconds, 3),
            ),
            seconds=round(seconds, 3),
            drops=drops,
            fake=self.fake,
        )
