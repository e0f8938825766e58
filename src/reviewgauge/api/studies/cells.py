"""Makes the reviews and the scores of a study, benchmark by benchmark; what fails is named, and the rest goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from reviewgauge.api.classify import classify
from reviewgauge.api.review import ReviewResult, review
from reviewgauge.api.studies.plan import BenchmarkPlan, Entrant
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.reports.study import Trouble
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import short_spec
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.engine.run.model_options import ModelOptions, Spending
from reviewgauge.engine.run.workers import Workers
from reviewgauge.engine.score import measure_run

NOTHING_LEFT = 1e-12  # dollars: a budget must be positive, and no call costs as little


class Within(Interruption):
    """Stops when `outer` does, and on errors of its own, which do not stop `outer`."""

    def __init__(self, outer: Interruption) -> None:
        self._outer = outer
        super().__init__()

    @property
    def by_user(self) -> bool:
        """Whether the user stopped `outer`."""
        return self._outer.by_user

    @by_user.setter
    def by_user(self, value: bool) -> None:
        """What the user asks goes to `outer`."""

    def is_set(self) -> bool:
        """Whether to stop."""
        return super().is_set() or self._outer.is_set()


@dataclass
class StudyWork:
    """What the verb was given, and what happened so far. `systems` are the systems of each cell, by benchmark and name.

    `budget_over` is what ended the budget: then nothing more is asked of models, and all else goes on.
    """

    out: Path
    attempts: int
    models: ModelOptions
    workers: Workers
    retry_failed: bool
    stop: Interruption
    progress: Progress | None
    systems: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    troubles: list[Trouble] = field(default_factory=list)
    spent: list[Spending] = field(default_factory=list)
    budget_over: UserError | None = None

    def affordable(self, run: Path) -> ModelOptions:
        """The options for work in `run`: what the other folders of the study cost counts against the budget."""
        if self.models.budget is None:
            return self.models
        others = sum(
            RunFolder.open(path.parent).spent()
            for path in self.out.glob(f"*/*/{MANIFEST}")
            if path.parent.resolve() != run.resolve()
        )
        return replace(self.models, budget=max(self.models.budget - others, NOTHING_LEFT))

    def note(self, benchmark: str, what: str, error: UserError | str) -> None:
        """Record why there is no result."""
        self.troubles.append(Trouble(benchmark=benchmark, what=what, why=str(error)))

    def ended(self, error: UserError) -> bool:
        """Whether it was the budget that ended; then it stays ended."""
        if isinstance(error, Failed) and error.kind is FailureKind.BUDGET:
            self.budget_over = error
        return self.budget_over is not None

    # --- reviews -----------------------------------------------------------------------------------------------

    def review(self, plan: BenchmarkPlan) -> None:
        """Make the reviews of one benchmark that are missing."""
        self._review(plan, plan.entrants)

    def _review(self, plan: BenchmarkPlan, entrants: Sequence[Entrant]) -> None:
        entrants = self._still_possible(plan, entrants)
        if not entrants or self.stop.is_set():
            return
        stop = Within(self.stop)
        entry = plan.entry
        work = partial(
            review,
            entry.data,
            *(one.reviewer or one.spec for one in entrants),
            run=plan.run,
            source=entry.source or None,
            stages=entry.stages,
            limit=entry.limit,
            train=entry.train or None,
            attempts=self.attempts,
            workers=self.workers,
            retry_failed=self.retry_failed,
            models=self.affordable(plan.run),
            stop=stop,
            progress=self.progress,
        )
        try:
            result = work()
        except UserError as error:
            if len(entrants) > 1:  # it does not say whose it is
                for one in entrants:
                    self._review(plan, [one])
                return
            self._fail(plan, entrants[0], error)
            return
        self.spent.append(result.spending)
        stopped = self._take(plan, entrants, result)
        if stop.error is not None and stopped is not None:
            self.ended(stop.error)
            self._fail(plan, entrants[stopped], stop.error)
            self._review(plan, entrants[stopped + 1 :])

    def _still_possible(self, plan: BenchmarkPlan, entrants: Sequence[Entrant]) -> list[Entrant]:
        """Those that ask no model, once the budget is over."""
        if self.budget_over is None:
            return list(entrants)
        for one in entrants:
            if one.models:
                self._fail(plan, one, self.budget_over)
        return [one for one in entrants if not one.models]

    def _take(self, plan: BenchmarkPlan, entrants: Sequence[Entrant], result: ReviewResult) -> int | None:
        """Note the systems of each cell; returns the position of the entrant that was stopped, if one was."""
        for at, (one, totals) in enumerate(zip(entrants, result.totals, strict=True)):
            for cell in one.cells:
                self.systems[plan.name, cell.name] = totals.systems
            if totals.stopped:
                return at
            if totals.all_failed:
                reason = next(iter(totals.reasons.values()), "see reviews.jsonl; --retry-failed tries again")
                self._fail(plan, one, f"every review failed: {reason}")
        return None

    def _fail(self, plan: BenchmarkPlan, entrant: Entrant, error: UserError | str) -> None:
        for cell in entrant.cells:
            self.note(plan.name, cell.name, error)

    # --- scores and labels -------------------------------------------------------------------------------------

    def score(self, plan: BenchmarkPlan, questions: Sequence[str]) -> None:
        """Measure what is missing with every metric of one benchmark; let models sort what it holds, by question."""
        for metric in plan.metrics if plan.there else ():
            with self._apart(plan, short_spec(metric), bool(metric.models)) as stop:
                if stop is not None:
                    self._score(plan, metric, stop)
        for question in questions if plan.there else ():
            with self._apart(plan, question, True) as stop:
                if stop is not None:
                    models = self.affordable(plan.run)
                    done = classify(plan.run, question, models=models, stop=stop, progress=self.progress)
                    self.spent.append(done.spending)

    @contextmanager
    def _apart(self, plan: BenchmarkPlan, what: str, models: bool) -> Iterator[Within | None]:
        """What stops this piece of work, which is noted and does not stop the rest; None where it is not to be done."""
        if self.stop.is_set() or (models and self.budget_over is not None):
            if not self.stop.is_set() and self.budget_over is not None:
                self.note(plan.name, what, self.budget_over)
            yield None
            return
        stop = Within(self.stop)
        try:
            yield stop
        except UserError as error:
            self.note(plan.name, what, error)
        if stop.error is not None:
            self.ended(stop.error)
            self.note(plan.name, what, stop.error)

    def _score(self, plan: BenchmarkPlan, metric: Metric, stop: Within) -> None:
        with RunFolder.open(plan.run, write=True) as folder:
            measured = measure_run(
                folder,
                [metric],
                self.affordable(plan.run),
                retry_failed=self.retry_failed,
                workers=self.workers,
                stop=stop,
                progress=self.progress,
            )
        self.spent.append(measured.spending)
        if stop.error is None and measured.totals[0].all_failed:
            reason = next(iter(measured.totals[0].reasons.values()), "see scores.jsonl; --retry-failed tries again")
            self.note(plan.name, short_spec(metric), f"every measurement failed: {reason}")
