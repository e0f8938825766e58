"""`reviewgauge study`: one file, a grid of benchmarks, reviewers and metrics, and the tables of a paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path

from pydantic import Field

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.study.material import Contender, Material, metric_named
from reviewgauge.analysis.study.tables import study_tables
from reviewgauge.api.studies.cells import StudyWork, Within
from reviewgauge.api.studies.plan import RUNS, TRUST, BenchmarkPlan, check_tables, name_of, plan_study
from reviewgauge.api.studies.plan import estimate as estimate_study
from reviewgauge.api.validate import validate
from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, UserError, one_line
from reviewgauge.core.files import check_plain, read_file, write_error, write_whole
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.reports.study import BenchmarkFacts, Estimate, StudyReport
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.core.results import Outcome
from reviewgauge.core.specs import short_spec, signature
from reviewgauge.core.study import StudyFile, read_study
from reviewgauge.core.trust import FromFile
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.journal import Lock
from reviewgauge.engine.run.model_options import ModelOptions, Spending
from reviewgauge.engine.run.scored_run import ScoredRun, read_scored_runs
from reviewgauge.engine.run.workers import Workers, check_workers
from reviewgauge.models.embeddings.embedder import DEFAULT
from reviewgauge.views.study_files import TABLES, written
from reviewgauge.views.validity.metric_tables import VIEWS

COPY, VALIDITY, LOCK = "study.toml", "validity", "lock"
STUDIES = "studies"
OF_TABLES, OF_VALIDITY = 10_000, 1_000  # resamples where none are asked for
SHORT = 40  # letters of a reason in a cell; the list of what has no result has it whole


class StudyResult(Record):
    """The estimate, the tables with the files in `out` that hold them, and what was paid.

    `report` is None with `--dry-run`, and after Ctrl-C. `stopped` says what ended the study early.
    """

    schema_version: int = 1
    out: str
    estimate: Estimate
    report: StudyReport | None = None
    files: tuple[str, ...] = ()
    calls: int = Field(default=0, ge=0)
    dollars: float | None = 0.0
    stopped: str = ""

    @property
    def ok(self) -> bool:
        """Whether every cell has a result."""
        return self.report is not None and not self.report.troubles


@dataclass(frozen=True)
class Source:
    """The text of a study, the name by which the user called it, and where it comes from."""

    name: str
    raw: bytes
    shipped: bool


def study(
    file: str | Path,
    *,
    out: str | Path,
    on: str = "",
    sources: Mapping[str, str] | None = None,
    resamples: int | None = None,
    seed: int = 0,
    workers: Workers = None,
    retry_failed: bool = False,
    trust: bool = False,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
    announce: Callable[[Estimate], object] | None = None,
) -> StudyResult:
    """Run the study in a TOML file, or one that ships by its name, and write its tables into the folder `out`.

    What `out` holds already is not done again. `on` is a variant of the file, such as `sample`;
    `sources` are the folders of the benchmarks' files, by benchmark (`""`: of all). `announce` is called
    with the estimate before anything is done; with `models.dry_run` that is all. The budget is for the whole study.
    `resamples` are 10,000 where not given, and 1,000 for metrics against people.
    A cell that fails is named in the tables and in `report.troubles`, and the rest goes on. Unless `trust`, the file
    may not name programs, addresses, or files outside of its folder.
    """
    check_settings(OF_TABLES if resamples is None else resamples)
    models, stop = models or ModelOptions(), stop or Interruption()
    check_workers(workers, connect=False)
    source, folder = find_study(file), Path(out)
    described = read_study(source.raw, source.name, on)
    _check_folder(folder)
    described = _with_sources(described, sources or {})
    said = frozenset((sources or {}).values())
    origin = FromFile("", None if source.shipped else Path(file).resolve().parent, said | {DEFAULT}, remedy=TRUST)
    writer = None if trust else origin
    plans = plan_study(described, folder, source.name, writer)
    for plan in plans:
        _check_data(plan, source, on, described)
    check_tables(described, plans, source.name, writer)
    lock = None if models.dry_run else _lock(folder)
    try:
        expected = estimate_study(plans, described, models, stop, progress)
        _check_possible(plans, expected, described, on)
        if announce is not None:
            announce(expected)
        ended = partial(StudyResult, out=str(folder), estimate=expected)
        if models.dry_run or stop.is_set():
            return ended(stopped=stop.why)
        check_workers(workers)
        write_whole(folder / COPY, source.raw)
        work = StudyWork(folder, described.attempts, models, workers, retry_failed, stop, progress)
        return _run(described, plans, work, ended, on, (resamples, seed))
    finally:
        if lock is not None:
            lock.release()


def _run(
    study: StudyFile,
    plans: Sequence[BenchmarkPlan],
    work: StudyWork,
    ended: Callable[..., StudyResult],
    on: str,
    settings: tuple[int | None, int],
) -> StudyResult:
    """Make the reviews, the scores and the tables; after Ctrl-C no tables."""
    for plan in plans:
        work.review(plan)
        work.score(plan, study.labels)
    reports = {} if work.stop.is_set() else _validities(study, plans, work, settings)
    ended = partial(ended, calls=sum(s.calls for s in work.spent), dollars=_dollars(work.spent))
    if work.stop.is_set():
        return ended(stopped=work.stop.why)
    report = _report(study, plans, work, reports, on, (settings[0] or OF_TABLES, settings[1]))
    files = written(report)
    for name, text in files.items():
        write_whole(work.out / name, text.encode("utf-8", "replace"))
    _remove_others(work.out, files)
    if work.budget_over is not None:
        work.stop.stop(work.budget_over)
    return ended(report=report, files=tuple(files), stopped=work.stop.why)


def find_study(file: str | Path) -> Source:
    """The text of a study by its path, or by the name of one that ships. Raises UserError."""
    path = Path(file)
    shipped = resources.files("reviewgauge") / STUDIES
    names = sorted(entry.name.removesuffix(".toml") for entry in shipped.iterdir() if entry.name.endswith(".toml"))
    if str(file) in names:
        return Source(f"{file}.toml", (shipped / f"{file}.toml").read_bytes(), True)
    try:
        return Source(path.name, read_file(path), False)
    except OSError as error:
        remedy = f"a path, or one that ships: {', '.join(names)}"
        raise UserError(f"cannot read {path}: {(error.strerror or 'no such file').lower()}", remedy=remedy) from None


def _check_folder(folder: Path) -> None:
    """Raise UserError where the folder holds something else."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UserError(f"{folder} is a file, not a folder", remedy="name another folder")
    check_plain(folder, TABLES, RUNS, VALIDITY)
    if (folder / COPY).exists():
        return
    if foreign := sorted(entry.name for entry in folder.iterdir() if entry.name not in (LOCK, RUNS, f"{COPY}.tmp")):
        raise UserError(f"{folder} is not the folder of a study: it holds {foreign[0]}", remedy="name a new folder")


def _with_sources(study: StudyFile, sources: Mapping[str, str]) -> StudyFile:
    """The study with the folders that the user names. Raises UserError for a benchmark that it has not."""
    known = [benchmark.label for benchmark in study.benchmark]
    for name in sources:
        if name and name not in known:
            raise UserError(f"there is no benchmark {name!r}", remedy=f"there is: {', '.join(known)}")
    given = [sources.get(one.label, sources.get("", one.source)) for one in study.benchmark]
    changed = [one.model_copy(update={"source": at}) for one, at in zip(study.benchmark, given, strict=True)]
    return study.model_copy(update={"benchmark": tuple(changed)})


def _check_data(plan: BenchmarkPlan, source: Source, on: str, study: StudyFile) -> None:
    """Raise UserError where the data is not at hand, with the variant of the file that needs none, or was changed."""
    try:
        assert plan.cases
    except BadInput:
        raise
    except UserError as error:
        others = [f"--on {name}" for name, other in study.on.items() if name != on and "benchmark" in other]
        remedy = "; ".join(filter(None, [error.remedy, f"or {' or '.join(others)}" if others else ""]))
        raise UserError(f"{source.name}, benchmark {plan.name}: {error.problem}", remedy=remedy) from None
    plan.check_unchanged()


def _check_possible(plans: Sequence[BenchmarkPlan], expected: Estimate, study: StudyFile, on: str) -> None:
    """Raise UserError where no reviewer of a benchmark can be run at all, such as without its code."""
    for plan in plans:
        why = {one.what: one.why for one in expected.troubles if one.benchmark == plan.name}
        if all(name_of(entrant) in why for entrant in plan.entrants):
            others = " or ".join(f"--on {name}" for name in study.on if name != on)
            problem = f"no reviewer can be run on {plan.name}: {why[name_of(plan.entrants[0])]}"
            raise UserError(problem, remedy=f"or {others}" if others else "")


def _lock(folder: Path) -> Lock:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(folder, error) from None
    return Lock(folder / LOCK)


def _dollars(spent: Sequence[Spending]) -> float | None:
    known = [one.dollars for one in spent]
    return None if None in known else round(sum(one for one in known if one is not None), 12)


# --- validity --------------------------------------------------------------------------------------------------------


def _validities(
    study: StudyFile, plans: Sequence[BenchmarkPlan], work: StudyWork, settings: tuple[int | None, int]
) -> dict[str, ValidityReport]:
    """What `validate` says of each benchmark that a table of that kind is about."""
    resamples, seed = settings
    found: dict[str, ValidityReport] = {}
    for plan in plans:
        entries = [t for t in study.table if t.kind == "validity" and plan.name in (t.benchmarks or (plan.name,))]
        if not entries:
            continue
        named = [entry.metrics or ((entry.metric,) if entry.metric else ()) for entry in entries]
        measured = plan.metrics if not all(named) else ()
        words = {word for own in named for word in own if not measured or metric_named(measured, word) is None}
        metrics: list[str | Metric] = [*measured, *sorted(words)]
        stop, where = Within(work.stop), work.out / VALIDITY / plan.name
        try:
            result = validate(
                plan.entry.data,
                *metrics,
                out=where,
                source=plan.entry.source or None,
                stages=plan.stages,
                resamples=resamples or OF_VALIDITY,
                seed=seed,
                models=work.affordable(where),
                retry_failed=work.retry_failed,
                stop=stop,
                progress=work.progress,
            )
        except UserError as error:
            work.note(plan.name, "validity", error)
            continue
        work.spent.append(result.spending)
        if result.report is not None:
            found[plan.name] = result.report
        elif stop.error is not None:
            work.ended(stop.error)
            work.note(plan.name, "validity", stop.error)
    return found


# --- the report ------------------------------------------------------------------------------------------------------


def _report(
    study: StudyFile,
    plans: Sequence[BenchmarkPlan],
    work: StudyWork,
    reports: Mapping[str, ValidityReport],
    on: str,
    settings: tuple[int, int],
) -> StudyReport:
    materials = {plan.name: _material(plan, work, settings) for plan in plans if plan.there}
    tables, failed = study_tables(study.table, materials, reports, "benchmark" in study.on.get(on, {}), VIEWS)
    facts = [
        BenchmarkFacts(
            name=plan.name,
            dataset=plan.label,
            benchmark=plan.digest,
            cases=len(plan.cases),
            systems=len(materials[plan.name].contenders) if plan.name in materials else 0,
            metrics=tuple(map(short_spec, plan.metrics)),
        )
        for plan in plans
    ]
    return StudyReport(
        title=study.title,
        source=study.source,
        on=on,
        attempts=study.attempts,
        benchmarks=tuple(facts),
        tables=tuple(tables),
        troubles=tuple(dict.fromkeys([*work.troubles, *failed])),
        notes=study.notes,
    )


def _material(plan: BenchmarkPlan, work: StudyWork, settings: tuple[int, int]) -> Material:
    folder = RunFolder.open(plan.run)
    outcomes = folder.outcomes()
    measured = folder.scored_metrics()
    runs: dict[Metric, ScoredRun] = {}
    failed: dict[Metric, str] = {}
    for metric in plan.metrics:
        why = next((t.why for t in work.troubles if (t.benchmark, t.what) == (plan.name, short_spec(metric))), "")
        if why or signature(metric) not in measured:
            failed[metric] = why or "nothing was measured"
        else:
            (runs[metric],) = read_scored_runs([plan.run], signature(metric))
    return Material(
        plan.name,
        plan.label,
        plan.digest,
        plan.cases,
        tuple(_contenders(plan, work, outcomes)),
        plan.metrics,
        runs,
        failed,
        outcomes,
        folder.labels(),
        *settings,
        plan.dataset.scales(),
    )


def _contenders(plan: BenchmarkPlan, work: StudyWork, outcomes: Sequence[Outcome]) -> list[Contender]:
    """One for each cell, and for each system of recorded reviews."""
    made = Counter(outcome.system for outcome in outcomes)
    found = []
    for entrant in plan.entrants:
        for cell in entrant.cells:
            why = next((t.why for t in work.troubles if (t.benchmark, t.what) == (plan.name, cell.name)), "")
            systems = work.systems.get((plan.name, cell.name), ())
            expected = len(plan.cases) * work.attempts
            if entrant.reviewer is not None and not why and systems and made[systems[0]] < expected:
                why = f"{made[systems[0]]} of {expected} reviews"
            for system in systems or ("",):
                name = cell.name if entrant.reviewer is not None else system or cell.name
                trouble = why and f"failed: {one_line(why, SHORT)}"
                found.append(Contender(name, system, cell.coordinates, trouble, entrant.reviewer is None))
    order = {cell.name: at for at, cell in enumerate(plan.cells)}  # as in the file, also those that share reviews
    return sorted(found, key=lambda one: order.get(one.name, len(order)))


def _remove_others(folder: Path, files: Mapping[str, str]) -> None:
    """Remove tables of an earlier file, which no longer say what the study says."""
    for path in (folder / TABLES).iterdir() if (folder / TABLES).is_dir() else ():
        if f"{TABLES}/{path.name}" not in files and path.suffix in (".csv", ".md", ".tex"):
            path.unlink()
