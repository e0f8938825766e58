"""What a study will take: it is run once dry, in folders that are thrown away, with the fake model for all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from reviewgauge.api.review import naming_code_of, teach_all
from reviewgauge.api.studies.plan import BenchmarkPlan, Entrant
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress, Reviewer
from reviewgauge.core.reports.study import CellCost, Estimate, Trouble
from reviewgauge.core.specs import short_spec
from reviewgauge.engine.review import changes_to_review, import_reviews, what_to_review
from reviewgauge.engine.review import review as review_all
from reviewgauge.engine.run.executors import Interruption, abort_on_interrupt
from reviewgauge.engine.run.folder import CASES, LABELS, REVIEWS, SCORES, RunFolder
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.engine.run.model_options import ModelOptions, spending
from reviewgauge.engine.run.workers import executor_for
from reviewgauge.engine.score import dry_run_score
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.repo.git.folders import scratch_folder


@dataclass
class DryRun:
    """What was counted so far."""

    client: ChatClient
    attempts: int
    options: ModelOptions
    stop: Interruption
    progress: Progress | None
    reviews: int = 0
    parts: list[CellCost] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)

    def add(self, plan: BenchmarkPlan) -> None:
        """Dry run of one benchmark; where no model is asked, its reviews are counted alone."""
        with _copy(plan) as folder:
            for one in plan.entrants:
                try:
                    with naming_code_of(plan.dataset), self._part(plan, name_of(one)) as part:
                        part["reviews"] = self._review(plan, one, folder)
                except UserError as error:
                    self.troubles.append(Trouble(benchmark=plan.name, what=name_of(one), why=str(error)))
            for metric in plan.metrics:
                if not metric.models:
                    continue
                try:
                    with self._part(plan, short_spec(metric)):
                        executor = executor_for(metric, None, self.options.in_flight, otherwise=1)
                        watched = abort_on_interrupt(self.stop, self.progress)
                        dry_run_score(folder, metric, executor=executor, stop=self.stop, progress=watched)
                except UserError as error:
                    self.troubles.append(Trouble(benchmark=plan.name, what=short_spec(metric), why=str(error)))

    def _review(self, plan: BenchmarkPlan, one: Entrant, folder: RunFolder) -> int:
        """Dry run of what is missing of one reviewer; returns how many reviews that is."""
        judged = any(metric.models for metric in plan.metrics)
        if one.reviewer is None:
            if not judged:
                return 0
            totals = import_reviews(folder, plan.dataset.recorded(**one.parameters)[0])
            return totals.done
        changes_to_review(one.reviewer, plan.cases, plan.label)  # what it cannot be run on is said now
        todo = what_to_review(plan.cases, folder.outcomes(), one.reviewer.system, attempts=self.attempts).items
        if not todo or not (one.models or (judged and not one.reviewer.learns)):
            return len(todo)
        watched = abort_on_interrupt(self.stop, self.progress)
        taught, _ = teach_all([one.reviewer], plan.entry.train or None, plan.cases, watched, dry_run=True)
        executor = executor_for(one.reviewer, None, self.options.in_flight, otherwise=2)
        for reviewer in taught:
            assert isinstance(reviewer, Reviewer)
            review_all(folder, reviewer, executor=executor, attempts=self.attempts, stop=self.stop, progress=watched)
        return len(todo)

    @contextmanager
    def _part(self, plan: BenchmarkPlan, what: str) -> Iterator[dict[str, int]]:
        """Count what is asked meanwhile."""
        before = self.client.budget.totals
        found: dict[str, int] = {}
        yield found
        after = self.client.budget.totals
        self.reviews += found.get("reviews", 0)
        cost = None if after.unpriced else round(after.dollars - before.dollars, 12)
        calls = after.calls - before.calls
        self.parts.append(CellCost(benchmark=plan.name, what=what, calls=calls, dollars=cost, **found))


def estimate(
    plans: Sequence[BenchmarkPlan],
    attempts: int,
    options: ModelOptions,
    stop: Interruption,
    progress: Progress | None,
) -> Estimate:
    """Dry run of the whole study: calls that cells share, and those in the cache, are counted once. Writes nothing."""
    options = replace(options, dry_run=True, budget=None, replay=None)
    with options.client() as client:
        dry_run = DryRun(client, attempts, options, stop, progress)
        for plan in plans:
            dry_run.add(plan)
        spent = spending(client)
    return Estimate(
        reviewers=len({cell.name for plan in plans for cell in plan.cells}),
        benchmarks=len(plans),
        cells=sum(len(plan.cells) for plan in plans),
        reviews=dry_run.reviews,
        calls=spent.calls,
        reused=spent.reused,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        dollars=spent.dollars,
        worst=spent.worst,
        unpriced=spent.unpriced,
        invented=spent.invented,
        parts=tuple(dry_run.parts),
        troubles=tuple(dry_run.troubles),
    )


def name_of(one: Entrant) -> str:
    """The names of its cells."""
    return ", ".join(dict.fromkeys(cell.name for cell in one.cells))


@contextmanager
def _copy(plan: BenchmarkPlan) -> Iterator[RunFolder]:
    """A run folder for a dry run, with what the study has already."""
    with scratch_folder() as home:
        path = home / "run"
        if plan.there:
            path.mkdir()
            for name in (MANIFEST, CASES, REVIEWS, SCORES, LABELS):
                if (plan.run / name).is_file():
                    shutil.copyfile(plan.run / name, path / name)
        with RunFolder.create(path, dataset=plan.label, dataset_path="", cases=plan.cases) as folder:
            yield folder
