"""The tables of a bundle: leaderboards and comparisons of its runs, as CSV and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.errors import UserError
from reviewgauge.core.plugin import short_spec, signature
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case
from reviewgauge.core.reports.leaderboard import ComparisonTable, Leaderboard
from reviewgauge.core.results import Score
from reviewgauge.core.specs import load_recorded
from reviewgauge.engine.bundle.contents import TABLES, TableEntry
from reviewgauge.engine.bundle.rescore import StoredRun
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.views.files import tables as files
from reviewgauge.views.terminal import figures

LEADERBOARD, SLICES, COMPARISONS = "leaderboard", "slices", "comparisons"
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
    many = len(table.comparisons)
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
