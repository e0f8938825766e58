"""`reviewgauge bundle`: runs, their hashes and their tables in one archive, and the check that recomputes them all."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.compare.leaderboard import check_settings, leaderboard
from reviewgauge.analysis.validity.baselines import BASELINES
from reviewgauge.analysis.validity.human_values import human_values
from reviewgauge.api.judged_runs import open_run
from reviewgauge.api.resolve import names_dataset
from reviewgauge.api.validate import RESULT
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import read_within, write_whole
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.protocols import Dataset, Metric, Progress
from reviewgauge.core.records import Case
from reviewgauge.core.reports.leaderboard import ComparisonTable, Leaderboard
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.core.results import Score
from reviewgauge.core.specs import import_named, load_recorded, short_spec, signature
from reviewgauge.core.version import __version__
from reviewgauge.engine.bundle import rescore
from reviewgauge.engine.bundle.archive import write_archive
from reviewgauge.engine.bundle.compare import Contents
from reviewgauge.engine.bundle.contents import (
    BUNDLE,
    FORMAT,
    MOST_RESAMPLES,
    OWN_LICENCE,
    README,
    TABLES,
    VALIDITY,
    BundleManifest,
    RunEntry,
    TableEntry,
    Texts,
    file_entry,
    may_be_passed_on,
    parameter_files,
    stage,
    versions,
)
from reviewgauge.engine.bundle.rescore import StoredRun
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import ScoredRun, check_named_once
from reviewgauge.repo.git.folders import scratch_folder
from reviewgauge.views import csv_tables as files
from reviewgauge.views.markdown import readme
from reviewgauge.views.terminal import figures
from reviewgauge.views.validity.csv_files import csv_tables

LEADERBOARD, SLICES, COMPARISONS = "leaderboard", "slices", "comparisons"


class BundleResult(Record):
    """The archive that was written. `content` is the hash of what is in it, however it was compressed."""

    schema_version: int = 1
    path: str
    bytes: int
    content: str
    files: int
    runs: tuple[RunEntry, ...]
    tables: tuple[str, ...]


def bundle(
    *runs: str | Path,
    out: str | Path,
    slices: Sequence[str] = (),
    texts: bool | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    plugins: Sequence[str] = (),
    include: Sequence[str | Path] = (),
    progress: Progress | None = None,
) -> BundleResult:
    """Write scored runs and their tables into the archive `out`.

    `texts` None packs the texts of data whose licence lets everybody pass them on, and of the user's own data; True
    packs all, False none. `slices` are facts or facets that the tables are broken down by. `plugins`: code outside the
    package that the runs may use. `include`: files outside of the runs that their metrics were given; a bundle that
    would need another one is refused.
    """
    for spec in plugins:
        import_named(spec)
    check_settings(resamples)
    if resamples > MOST_RESAMPLES:
        raise UserError(f"{resamples:,} resamples are over {MOST_RESAMPLES:,}", remedy="10000 is the default")
    path = Path(out)
    if path.is_dir():
        raise UserError(f"{path} is a folder", remedy="give a file name such as bundle.zip")
    with scratch_folder() as folder:
        entries = _stage(runs, folder, texts)
        specs = dict.fromkeys(spec for entry in entries for spec in entry.metrics)
        parameters = parameter_files(specs, folder, include)
        manifest = _fill(folder, _blank_manifest(parameters, entries, slices, resamples, seed))
        packed: dict[str, Path | bytes] = {name: folder / name for name in manifest.files}
        packed[BUNDLE] = manifest.model_dump_json(indent=1).encode() + b"\n"
        write_archive(path, packed, progress)
    return BundleResult(
        path=str(path),
        bytes=path.stat().st_size,
        content=manifest.content,
        files=len(packed),
        runs=manifest.runs,
        tables=tuple(name for name in manifest.files if name.startswith(f"{TABLES}/")),
    )


def _blank_manifest(
    parameters: Mapping[str, str], entries: Sequence[RunEntry], slices: Sequence[str], resamples: int, seed: int
) -> BundleManifest:
    """The manifest of the runs, without tables and files."""
    return BundleManifest(
        format=FORMAT,
        reviewgauge=__version__,
        python=platform.python_version(),
        libraries=versions(),
        runs=tuple(entries),
        tables=(),
        slices=tuple(slices),
        resamples=resamples,
        seed=seed,
        parameters=parameters,
        files={},
    )


def _fill(folder: Path, manifest: BundleManifest) -> BundleManifest:
    """Write tables and README beside the runs in `folder`; the manifest with the tables and with every file."""
    contents = Contents(folder, manifest, {})
    stored = [rescore.read_run(contents, entry) for entry in manifest.runs]
    metric_of = partial(rescore.metric_of, contents)
    tables = make_tables(stored, TableSettings(manifest.slices, manifest.resamples, manifest.seed, metric_of))
    if slices := [fact for fact in manifest.slices if not any(fact in table.facts for table in tables)]:
        raise UserError(f"nothing to slice by is called {slices[0]!r}", remedy="facts of the cases, or facets")
    manifest = manifest.model_copy(update={"tables": tuple(table.entry for table in tables)})
    for name, text in {**csv_texts(tables), README: readme(manifest)}.items():
        write_whole(folder / name, text.encode("utf-8", "replace"))
    names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    return manifest.model_copy(update={"files": {name: file_entry(folder / name) for name in names}})


def _stage(runs: Sequence[str | Path], folder: Path, texts: bool | None) -> list[RunEntry]:
    check_named_once(runs)
    entries: list[RunEntry] = []
    for run in runs:
        opened = RunFolder.open(run)
        taken = [entry.name for entry in entries]
        name = _run_name(Path(run).resolve().name, taken)
        policy = policy_of(opened.manifest.dataset, texts)
        entry = stage(opened, name, folder, texts=policy.texts, why=policy.why, licence=policy.licence)
        entries.append(stage_validity(opened.path, entry, folder))
    if not any(entry.metrics for entry in entries):
        raise UserError(f"{runs[0]} was not scored yet", remedy=f"reviewgauge score {runs[0]} hits")
    return entries


def _run_name(word: str, taken: Sequence[str]) -> str:
    plain = "".join(c if c.isalnum() or c in "._=-" else "-" for c in word).strip(".-") or "run"
    name, number = plain, 2
    while name.casefold() in {other.casefold() for other in taken}:
        name, number = f"{plain}-{number}", number + 1
    return name


class Policy(NamedTuple):
    """Which texts of a run go into a bundle, why, and the licence of its data."""

    texts: Texts
    why: str
    licence: str


def policy_of(dataset: str, wanted: bool | None) -> Policy:
    """What to do with the texts of a run on `dataset` (as its manifest names it). `wanted` overrules the licence."""
    word = dataset.partition(" | ")[0]
    licence, allowed = OWN_LICENCE, True
    if names_dataset(word):
        try:
            card = load_recorded(Dataset, word).card
            licence, allowed = card.licence, may_be_passed_on(card)
        except UserError:
            licence, allowed = "not known: its card cannot be read here", False
    if wanted is False:
        return Policy("none", "left out as asked (--without-texts)", licence)
    if wanted is True:
        return Policy("all", "" if allowed else "packed as asked (--with-texts)", licence)
    if allowed:
        return Policy("all", "", licence)
    return Policy("own", f"the licence of {word} does not let everybody pass its texts on ({licence})", licence)


LABEL_COLUMNS = {LEADERBOARD: 2, SLICES: 5, COMPARISONS: 3}  # columns that name a row

_LONGEST_NAME = 60


class TableSettings(NamedTuple):
    """How the tables are made; `metric_of` loads a metric by its signature."""

    slices: Sequence[str]
    resamples: int
    seed: int
    metric_of: Callable[[str], Metric]


class MadeTable(NamedTuple):
    """A table as CSV, the facts it is sliced by, and how its LaTeX is made from a CSV text (None: CSV alone)."""

    entry: TableEntry
    text: str
    to_latex: Callable[[str], str] | None
    facts: frozenset[str] = frozenset()

    @property
    def latex_path(self) -> str:
        """The path of the LaTeX in the bundle."""
        return self.entry.path.removesuffix(".csv") + ".tex"


def make_tables(runs: Sequence[StoredRun], settings: TableSettings) -> list[MadeTable]:
    """The tables of all runs: those of one benchmark together, one set a metric.

    Raises UserError for metrics that look at all systems of a run together, where several runs are on one benchmark.
    """
    groups: dict[str, list[StoredRun]] = {}
    for run in runs:
        groups.setdefault(run.entry.benchmark, []).append(run)
    tables: list[MadeTable] = []
    taken: set[str] = set()
    for group in groups.values():
        prefix = _plain(group[0].entry.dataset) + "." if len(groups) > 1 else ""
        for spec in dict.fromkeys(metric for run in group for metric in run.entry.metrics):
            name = _new_name(prefix + _plain(short_spec(load_recorded(Metric, spec))), taken)
            tables += _of_metric([run for run in group if spec in run.scores], spec, name, settings)
    return tables


def _of_metric(group: Sequence[StoredRun], spec: str, name: str, settings: TableSettings) -> list[MadeTable]:
    metric = settings.metric_of(spec)
    if metric.joint and len(group) > 1:
        raise UserError(
            f"{short_spec(metric)} looks at all systems of a run together, and these were measured run by run",
            remedy="bundle these runs one by one",
        )
    entry, cases = group[0].entry, group[0].cases
    scores = _scores(group, spec, signature(metric))
    scored = ScoredRun(metric, cases, scores, dataset=entry.dataset, benchmark=entry.benchmark)
    known = [fact for fact in settings.slices if _is_known(fact, cases, scores)]
    board = leaderboard(scored, slices=known, resamples=settings.resamples, seed=settings.seed)
    label = short_spec(load_recorded(Metric, spec))
    runs = tuple(run.entry.name for run in group)

    def table(kind: str, text: str, to_latex: Callable[[str], str] | None) -> MadeTable:
        return MadeTable(
            TableEntry(path=f"{TABLES}/{name}.{kind}.csv", kind=kind, metric=spec, runs=runs), text, to_latex
        )

    tables = [table(LEADERBOARD, files.leaderboard_csv(board), _leaderboard_latex(board, label, name))]
    if board.slices:
        facts = frozenset(piece.fact for piece in board.slices)
        tables.append(table(SLICES, files.slices_csv(board), None)._replace(facts=facts))
    if sum(row.scored > 0 for row in board.systems) > 1:
        duels = compare(scored, resamples=settings.resamples, seed=settings.seed)
        tables.append(table(COMPARISONS, files.comparisons_csv(duels), _comparisons_latex(duels, label, name)))
    return tables


def _scores(group: Sequence[StoredRun], spec: str, name: str) -> list[Score]:
    """All scores of one metric under the name that it has here; systems of one name are told apart by their run."""
    systems = [{key[0] for key in run.scores[spec]} for run in group]
    found = []
    for at, run in enumerate(group):
        others = set().union(*(own for i, own in enumerate(systems) if i != at))
        for score in run.scores[spec].values():
            system = f"{run.entry.name}:{score.system}" if score.system in others else score.system
            found.append(score.model_copy(update={"metric": name, "system": system}))
    return found


def _is_known(fact: str, cases: Iterable[Case], scores: Iterable[Score]) -> bool:
    """Whether this benchmark and metric can be sliced by a fact; where several are bundled not all can."""
    return any(fact in case.facts for case in cases) or fact == "repo" or any(fact in score.facets for score in scores)


def _leaderboard_latex(board: Leaderboard, label: str, name: str) -> Callable[[str], str]:
    note = f", {board.estimate_note}" if board.estimate_note else ""
    less = " Less is better." if _is_less(board, load_recorded(Metric, board.metric)) else ""
    caption = (
        f"{figures.label(board.headline)} ({label}{note}) on {board.dataset}, with {figures.percent(board.level)} "
        f"percentile intervals from {board.resamples:,} resamples by {board.clustered_by}.{less}"
    )
    return lambda text: files.leaderboard_table(text, caption=caption, label=f"{_plain(name)}-leaderboard")


def _is_less(board: Leaderboard, metric: Metric) -> bool:
    return board.headline in metric.lower_is_better


def _comparisons_latex(table: ComparisonTable, label: str, name: str) -> Callable[[str], str]:
    note = f", {table.estimate_note}" if table.estimate_note else ""
    many = table.corrected
    caption = (
        f"Paired differences ({label}{note}) on {table.dataset}, corrected over {many} "
        f"comparison{'s' * (many != 1)} (Holm). Detectable: the smallest true difference found with 80% power."
    )
    return lambda text: files.comparisons_table(text, caption=caption, label=f"{_plain(name)}-comparisons")


def _plain(text: str) -> str:
    return re.sub(r"[^\w.=-]+", "-", text).strip("-.")[:_LONGEST_NAME] or "table"


def _new_name(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found.casefold() in taken:
        found, number = f"{name}-{number}", number + 1
    taken.add(found.casefold())
    return found


def csv_texts(tables: Iterable[MadeTable]) -> Mapping[str, str]:
    """All files of the tables, by their path."""
    found: dict[str, str] = {}
    for table in tables:
        found[table.entry.path] = table.text
        if table.to_latex is not None:
            found[table.latex_path] = table.to_latex(table.text)
    return found


def stage_validity(run: Path, entry: RunEntry, folder: Path) -> RunEntry:
    """Copy the report that `validate` left in a run folder, and its tables, into `folder`; the entry says so.

    A report of other labels or metrics than the run's is left out, with the reason: it could not be recomputed.
    """
    file = run / RESULT
    if not file.is_file():
        return entry
    report = parse_record(ValidityReport, read_within(file), str(file))
    own = {RESULT, *csv_tables(report)}
    others = {name: why for name, why in entry.left_out.items() if name not in own}
    if why := _not_of(run, entry, report):
        return entry.model_copy(update={"left_out": {**others, RESULT: why}})
    packed = report if entry.texts == "all" else without_texts(report)
    target = folder / VALIDITY / entry.name
    write_whole(target / RESULT, packed.model_dump_json(indent=1).encode())
    for name, text in csv_tables(packed).items():
        write_whole(target / name, text.encode("utf-8", "replace"))
    return entry.model_copy(update={"left_out": others, "validity": True})


def _not_of(run: Path, entry: RunEntry, report: ValidityReport) -> str:
    """Why a report cannot be recomputed from the run; empty when it can."""
    if report.benchmark != entry.benchmark:
        return "is a report on other cases"
    if missing := [one.label for one in report.metrics if one.metric not in (*entry.metrics, *BASELINES)]:
        return f"is a report on {missing[0]}, with which the run was not scored"
    try:
        judged = open_run(str(run), None)
    except UserError as error:
        return str(error)
    with judged.run:
        known = {human.dimension: human.summary for human in human_values(judged.labels, judged.scales)[0]}
    if any(known.get(summary.dimension) != summary for summary in report.labels):
        return "was made with labels that the run does not hold (validate --labels)"
    return ""


def without_texts(report: ValidityReport) -> ValidityReport:
    """The report without the reviews and references that it quotes."""
    blank = {"hypothesis": "", "reference": ""}
    metrics = [
        one.model_copy(
            update={
                side: tuple(row.model_copy(update=blank) for row in getattr(one, side)) for side in ("over", "under")
            }
        )
        for one in report.metrics
    ]
    return report.model_copy(update={"metrics": tuple(metrics)})
