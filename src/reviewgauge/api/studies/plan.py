"""The benchmarks of a study with their plug-ins made: specs become objects here, and what is wrong with one is said."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from reviewgauge.analysis.compare.slices import CUTOFF, fact_values
from reviewgauge.analysis.stats.arrays import known_measures
from reviewgauge.analysis.study.material import metric_named
from reviewgauge.api.classify import classify_run, read_labelling
from reviewgauge.api.resolve import find_dataset, find_stages, staged_label
from reviewgauge.api.review import find_reviewer, naming_code_of, teach_all
from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.protocols import Dataset, Metric, Progress, Reviewer, Stage
from reviewgauge.core.records import Case
from reviewgauge.core.reports.study import CellCost, Estimate, Trouble
from reviewgauge.core.specs import load, load_from, names, parse_spec, short_spec, signature
from reviewgauge.core.study import BenchmarkEntry, GridCell, StudyFile, TableEntry, check_known, grid
from reviewgauge.core.trust import FromFile, check_file, check_model
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.engine.measure import usual_metrics
from reviewgauge.engine.review import changes_to_review, import_reviews, what_to_review
from reviewgauge.engine.review import review as review_all
from reviewgauge.engine.run.executors import Interruption, abort_on_interrupt
from reviewgauge.engine.run.folder import CASES, LABELS, REVIEWS, SCORES, RunFolder
from reviewgauge.engine.run.manifest import MANIFEST, benchmark_hash
from reviewgauge.engine.run.model_options import ModelOptions, spending
from reviewgauge.engine.run.workers import executor_for
from reviewgauge.engine.score import dry_run_score
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.repo.git.folders import scratch_folder

RUNS = "runs"
TRUST = "if you trust the file, add --trust"


@dataclass(frozen=True)
class Entrant:
    """One different reviewer of a benchmark, and the cells that are this very one. `reviewer` None: recorded ones."""

    spec: str
    reviewer: Reviewer | None
    cells: tuple[GridCell, ...]

    @property
    def models(self) -> bool:
        """Whether it asks a model."""
        return self.reviewer is not None and bool(self.reviewer.models)

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of recorded reviews."""
        return dict(parse_spec(self.spec).parameters)


@dataclass(frozen=True)
class BenchmarkPlan:
    """One benchmark: its data, who reviews it, and what is measured. `run` is its run folder."""

    entry: BenchmarkEntry
    dataset: Dataset
    stages: tuple[Stage, ...]
    cells: tuple[GridCell, ...]
    entrants: tuple[Entrant, ...]
    run: Path
    wanted: tuple[Metric, ...]

    @property
    def name(self) -> str:
        """Its name in the study."""
        return self.entry.label

    @property
    def label(self) -> str:
        """The data set and what narrowed it."""
        return staged_label(self.dataset, self.stages)

    @cached_property
    def cases(self) -> Sequence[Case]:
        """Its cases. Raises UserError where the data is not at hand, or nothing is left."""
        cases = apply_stages(self.dataset.cases(), self.stages)[0]
        if not cases:
            raise UserError(f"the benchmark {self.name!r} ({self.label}) holds no cases")
        return cases

    @cached_property
    def digest(self) -> str:
        """The hash of its cases."""
        return benchmark_hash(self.cases)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """What is measured; the usual metric of its task where the file names none."""
        return self.wanted or tuple(load(Metric, name) for name in usual_metrics(self.cases))

    @property
    def there(self) -> bool:
        """Whether the study was begun on it."""
        return (self.run / MANIFEST).exists()

    def check_unchanged(self) -> None:
        """Raise UserError where the run was made on other cases."""
        if self.there and (known := RunFolder.open(self.run).manifest).benchmark != self.digest:
            changed = "the data changed since" if known.dataset == self.label else f"it is {self.label} now"
            raise UserError(
                f"the benchmark {self.name!r} is another than that of {self.run} ({known.dataset}, "
                f"{known.benchmark[:12]}; now {self.digest[:12]}): {changed}",
                remedy="put the data back, or use another folder: results on both must not be mixed",
            )


def plan_study(study: StudyFile, out: Path, source: str, origin: FromFile | None) -> list[BenchmarkPlan]:
    """The plans of all benchmarks. `origin` is who wrote the file; None: the user trusts it. Raises UserError."""
    cells = grid(study, source)
    for question in study.labels:
        with _naming(f"{source}, labels"):
            model = read_labelling(question).model
            if origin is not None:
                check_model(model, question, origin)
    plans = []
    for entry in study.benchmark:
        stages = list(entry.stages) + ([f"first(cases={entry.limit})"] if entry.limit else [])
        with _naming(f"{source}, benchmark {entry.label}"):
            for word in stages:
                _gate(Stage, word, origin)
            _gate_path("from", entry.source, origin)
            for key, word in (("data", entry.data), ("train", entry.train)):
                if "(" in word or word in names(Dataset.kind):
                    _gate(Dataset, word, origin)
                else:
                    _gate_path(key, word, origin)
            dataset, narrowing = find_dataset(entry.data, entry.source or None), tuple(find_stages(stages))
        own = cells[entry.label]
        entrants = tuple(_entrants(own, source, origin))
        metrics = tuple(_metrics(study.metrics_of(entry), source, origin))
        run = out / RUNS / entry.label
        plans.append(BenchmarkPlan(entry, dataset, narrowing, tuple(own), entrants, run, metrics))
    return plans


def _entrants(cells: Sequence[GridCell], source: str, origin: FromFile | None) -> Iterator[Entrant]:
    """The different reviewers among the cells, in their order."""
    made: dict[str, tuple[str, Reviewer | None, list[GridCell]]] = {}
    for cell in cells:
        with _naming(f"{source}, reviewer {cell.name}"):
            _gate(Reviewer, cell.spec, origin)
            found = find_reviewer(cell.spec)
        reviewer = found if isinstance(found, Reviewer) else None
        key = cell.spec if reviewer is None else signature(reviewer)
        made.setdefault(key, (cell.spec, reviewer, []))[2].append(cell)
    for spec, reviewer, own in made.values():
        yield Entrant(spec, reviewer, tuple(own))


def _metrics(words: Sequence[str], source: str, origin: FromFile | None) -> Iterator[Metric]:
    seen = set()
    for word in words:
        with _naming(f"{source}, metrics"):
            _gate(Metric, word, origin)
            metric = load(Metric, word)
        if signature(metric) not in seen:
            seen.add(signature(metric))
            yield metric


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """A UserError says where in the file it is about."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{where}: {error.problem}", remedy=error.remedy) from None


def _gate_path(key: str, path: str, origin: FromFile | None) -> None:
    """Raise UserError for data outside of the file's folder and of the current one, unless the user named it."""
    if origin is None or not path or path in origin.said:
        return
    shown = f"{key} = {one_line(repr(path), 80)}"
    try:
        check_file(path, shown, replace(origin, folder=Path.cwd()))
    except UserError:
        check_file(path, shown, origin)


def _gate(
    kind: type[Dataset] | type[Stage] | type[Reviewer] | type[Metric], word: str, origin: FromFile | None
) -> None:
    """Raise UserError for what only the user may decide, such as a program to run."""
    if origin is None or word == "recorded" or word.startswith("recorded("):
        return
    is_spec = "(" in word or word in names(kind.kind)
    if kind is Reviewer and not is_spec and ("/" in word or Path(word).exists()):
        raise origin.refuse(f"the reviewer {word} is a file or a program of this machine")
    load_from(kind, word, origin)


# --- the words of the tables -----------------------------------------------------------------------------------------


def check_tables(study: StudyFile, plans: Sequence[BenchmarkPlan], source: str, origin: FromFile | None) -> None:
    """Raise UserError for a word of a table that can be known to be wrong before anything is run and paid."""
    for at, entry in enumerate(study.table, 1):
        where = f"[[table]] {at} ({entry.label})"
        own = [plan for plan in plans if not entry.benchmarks or plan.name in entry.benchmarks]
        if entry.kind == "validity":
            with _naming(f"{source}, {where}"):
                for word in filter(None, (entry.metric, *entry.metrics)):
                    _gate(Metric, word, origin)
                    load(Metric, word)
        else:
            own = _measured(entry, own, source, where)
            _check_figures(entry, own, source, where)


def _measured(entry: TableEntry, plans: Sequence[BenchmarkPlan], source: str, where: str) -> list[BenchmarkPlan]:
    """The benchmarks that are measured with what the table names: all that it names itself, else at least one."""
    for word in filter(None, (entry.metric, *entry.metrics)):
        fit = [plan for plan in plans if metric_named(plan.metrics, word) is not None]
        if not fit or (entry.benchmarks and len(fit) < len(plans)):
            lacks = next(plan for plan in plans if plan not in fit)
            check_known(source, f"{where}, metric", word, [short_spec(metric) for metric in lacks.metrics])
        plans = fit
    return list(plans)


def _check_figures(entry: TableEntry, plans: Sequence[BenchmarkPlan], source: str, where: str) -> None:
    """Its measures, and what it slices by."""
    for plan in plans:
        metric = metric_named(plan.metrics, entry.metric or next(iter(entry.metrics), ""))
        if metric is None:
            continue
        known = known_measures(metric) if len(entry.metrics) < 2 and not entry.dimension else []
        for measure in entry.measures if known else ():
            check_known(source, f"{where}, measures of {short_spec(metric)}", measure, known)
        ours = type(metric).__module__.startswith("reviewgauge.")  # of others the facets are not known
        if not entry.by or not ours or ":" in entry.by or entry.by == CUTOFF:
            continue
        if fact_values(plan.cases, entry.by) is None:
            facts = {fact for case in plan.cases for fact in case.facts}
            there = sorted({"repo", CUTOFF, *facts, *metric.facets})
            check_known(source, f"{where}, by", entry.by, there)


# --- the estimate: the study is run once dry, in folders that are thrown away -----------------------------------------


@dataclass
class DryRun:
    """What was counted so far."""

    client: ChatClient
    attempts: int
    labels: tuple[str, ...]
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
                with self._part(plan, name_of(one)) as part, naming_code_of(plan.dataset):
                    part["reviews"] = self._review(plan, one, folder)
            for metric in plan.metrics:
                if metric.models or metric.runs_programs:
                    with self._part(plan, short_spec(metric)) as part:
                        executor = executor_for(metric, None, self.options.in_flight, otherwise=1)
                        watched = abort_on_interrupt(self.stop, self.progress)
                        counted = dry_run_score(folder, metric, executor=executor, stop=self.stop, progress=watched)
                        part["would_run"] = counted.would_run
            for question in self.labels:
                with self._part(plan, question):
                    classify_run(folder, question, self.options.in_flight, stop=self.stop, write=False)

    def _review(self, plan: BenchmarkPlan, one: Entrant, folder: RunFolder) -> int:
        """Dry run of what is missing of one reviewer; returns how many reviews that is."""
        judged = any(metric.models or metric.runs_programs for metric in plan.metrics)
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
    def _part(self, plan: BenchmarkPlan, what: str) -> Iterator[dict[str, Any]]:
        """Count what is asked meanwhile, or note why it cannot be done."""
        before = self.client.budget.totals
        found: dict[str, Any] = {}
        try:
            yield found
        except UserError as error:
            self.troubles.append(Trouble(benchmark=plan.name, what=what, why=str(error)))
            return
        after = self.client.budget.totals
        self.reviews += found.get("reviews", 0)
        cost = None if after.unpriced else round(after.dollars - before.dollars, 12)
        calls = after.calls - before.calls
        self.parts.append(CellCost(benchmark=plan.name, what=what, calls=calls, dollars=cost, **found))


def estimate(
    plans: Sequence[BenchmarkPlan],
    study: StudyFile,
    options: ModelOptions,
    stop: Interruption,
    progress: Progress | None,
) -> Estimate:
    """Dry run of the whole study: calls that cells share, and those in the cache, are counted once. Writes nothing."""
    options = replace(options, dry_run=True, budget=None, replay=None)
    with options.client() as client:
        dry_run = DryRun(client, study.attempts, study.labels, options, stop, progress)
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
