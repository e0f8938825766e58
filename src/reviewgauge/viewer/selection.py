"""What is shown of the runs that were chosen, read once and kept until one of their files changes."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.analysis.compare.slices import FEWEST, telling_slices
from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind
from reviewgauge.core.records import Case, findings
from reviewgauge.core.reports.leaderboard import ComparisonTable, Leaderboard
from reviewgauge.core.results import CommentOutcome, Outcome, Score
from reviewgauge.engine.run.scored_run import ScoredRun, open_runs, read_scored_runs, recorded_label
from reviewgauge.viewer.runs import Found, RunCard, stamp_of
from reviewgauge.views import figures
from reviewgauge.views.report.report import ReportData, matched_metric, systems_of
from reviewgauge.views.verdict import Verdict, verdict

KEPT = 4  # selections in memory
Key = tuple[str, str]  # case, system


@dataclass(frozen=True)
class MetricBoard:
    """One metric's ranking and comparisons."""

    run: ScoredRun
    board: Leaderboard
    table: ComparisonTable | None


@dataclass(frozen=True)
class ChangeRow:
    """One change in the list: what each system's comments are counted as, by the system's number."""

    number: int  # from 1, its part of an address
    id: str
    title: str
    repo: str
    facts: Mapping[str, Fact]
    findings: int
    clean: bool
    states: Mapping[int, Counter[str]] = field(default_factory=dict)
    failed: tuple[int, ...] = ()


@dataclass(eq=False)
class Selection:
    """Runs of one benchmark. `problem` is why nothing was measured; the reviews are there all the same."""

    runs: Sequence[Found]
    cases: Sequence[Case]
    outcomes: Sequence[Outcome]
    scores: Sequence[Score]
    settings: tuple[int, int]  # resamples, seed
    boards: Sequence[MetricBoard] = ()
    metric: str = ""
    systems: Sequence[str] = ()
    problem: str = ""

    @property
    def name(self) -> str:
        """What people call it."""
        return " and ".join(run.name for run in self.runs)

    def home_of(self, system: str) -> tuple[Found, str]:
        """The run that holds a system's reviews, and the system's name there. Raises UserError."""
        named = [one.run.systems_in for one in self.boards] or [[{name: name for name in self.systems}]]
        for of_metric in named:
            for run, own in zip(self.runs, of_metric, strict=True):
                for name, shown in own.items():
                    if shown == system:
                        return run, name
        raise UserError(f"there is no system {system!r}")

    def case(self, number: int) -> Case:
        """One change; they count from 1. Raises UserError."""
        if not 1 <= number <= len(self.cases):
            raise UserError("there is no such change")
        return self.cases[number - 1]

    @cached_property
    def people(self) -> Mapping[str, Sequence[Label]]:
        """What people said of comments, by case: with the systems' names here, and of two by one person the later."""
        own = (label for case in self.cases for label in case.labels) if len(self.runs) == 1 else ()
        added = self.boards[0].run.labels if self.boards else ()
        found: dict[str, dict[tuple[object, ...], Label]] = {}
        for label in chain(own, added):
            if label.rater_kind is RaterKind.HUMAN and label.subject.comment is not None:
                key = *label.subject.model_dump().values(), label.rater, label.dimension
                found.setdefault(label.subject.case, {})[key] = label
        return {case: list(labels.values()) for case, labels in found.items()}

    @cached_property
    def verdict(self) -> Verdict | None:
        """The first metric's answer in plain words, but for what is missed."""
        return verdict(self.boards[0].run, self.boards[0].board, self.boards[0].table) if self.boards else None

    @cached_property
    def sliced(self) -> Sequence[Leaderboard]:
        """The boards with all their slices, which take longest; the first has those that the verdict speaks of."""
        resamples, seed = self.settings
        return [
            leaderboard(one.run, slices=telling_slices(one.run), least=FEWEST, resamples=resamples, seed=seed)
            for one in self.boards
        ]

    @cached_property
    def misses(self) -> str:
        """What the leader misses most, in plain words."""
        return verdict(self.boards[0].run, self.sliced[0], self.boards[0].table).misses if self.boards else ""

    @cached_property
    def facts(self) -> Mapping[str, list[str]]:
        """The facts of the cases that say something, each with its values."""
        found: dict[str, set[str]] = {}
        for case in self.cases:
            for fact, value in case.facts.items():
                found.setdefault(fact, set()).add(str(value))
        return {fact: sorted(values) for fact, values in found.items() if 1 < len(values) <= 40}

    @cached_property
    def places(self) -> Mapping[str, tuple[list[int], list[int]]]:
        """Where the outcomes and the scores of each case are."""
        found: dict[str, tuple[list[int], list[int]]] = {}
        for at, outcome in enumerate(self.outcomes):
            found.setdefault(outcome.case, ([], []))[0].append(at)
        for at, score in enumerate(self.scores):
            found.setdefault(score.case, ([], []))[1].append(at)
        return found

    def of_case(self, case: str) -> tuple[list[Outcome], list[Score]]:
        """The outcomes and the scores of one case."""
        outcomes, scores = self.places.get(case, ((), ()))
        return [self.outcomes[at] for at in outcomes], [self.scores[at] for at in scores]

    @cached_property
    def rows(self) -> Sequence[ChangeRow]:
        """Every change, in the order of the benchmark."""
        index = {system: at for at, system in enumerate(self.systems)}
        states: dict[str, dict[int, Counter[str]]] = {}
        failed: dict[str, set[int]] = {}
        for score in self.scores:
            at = index.get(score.system)
            if at is None or score.metric != self.metric:
                continue
            if score.failure is not None:
                failed.setdefault(score.case, set()).add(at)
            if score.matching is not None:
                own = states.setdefault(score.case, {}).setdefault(at, Counter())
                own.update(map(state_of, score.matching.comments))
                own.update("hit" if group.hit else "missed" for group in score.matching.groups)
        return [
            ChangeRow(
                number,
                case.id,
                case.change.title or case.id,
                case.change.repo,
                case.facts,
                len(findings(case.references)),
                case.clean,
                states.get(case.id, {}),
                tuple(sorted(failed.get(case.id, ()))),
            )
            for number, case in enumerate(self.cases, 1)
        ]


def state_of(outcome: CommentOutcome) -> str:
    """The state of a comment as pages name it."""
    return "rejected" if outcome.rejected else str(outcome.state)


def read_selection(runs: Sequence[Found], resamples: int, seed: int) -> Selection:
    """Read and measure runs. Raises UserError where they cannot be read, or are of different benchmarks."""
    paths = [run.path for run in runs]
    try:
        scored = read_scored_runs(paths)
    except UserError as error:
        if len(runs) > 1:
            raise
        return _unscored(runs, str(error))
    boards = []
    for one in scored:
        board = leaderboard(one, resamples=resamples, seed=seed)
        several = sum(row.scored > 0 for row in board.systems) > 1
        boards.append(MetricBoard(one, board, compare(one, resamples=resamples, seed=seed) if several else None))
    first = scored[0]
    metrics = {one.signature: one for one in scored}
    data = ReportData("", "", [one.board for one in boards], cases=first.cases, outcomes=first.outcomes)
    having = [name for name, one in metrics.items() if any(score.matching is not None for score in one.scores)]
    metric = matched_metric(data, having)
    shown = metrics.get(metric, first)
    settings = resamples, seed
    return Selection(runs, first.cases, first.outcomes, shown.scores, settings, boards, metric, systems_of(data))


def _unscored(runs: Sequence[Found], problem: str) -> Selection:
    folder = open_runs([runs[0].path])[0]
    outcomes = folder.outcomes()
    systems = list(dict.fromkeys([*folder.manifest.systems, *(o.system for o in outcomes)]))
    return Selection(runs, folder.cases(), outcomes, (), (0, 0), systems=systems, problem=problem)


def headline_of(card: RunCard) -> RunCard:
    """The card with the answer of its first metric: who leads, and with what."""
    if not card.metrics:
        return card
    try:
        first = read_scored_runs([card.run.path])[0]
    except UserError as error:
        return replace(card, problem=str(error))
    board = leaderboard(first, resamples=100)
    best = next((row for row in board.systems if not row.baseline), None)
    metrics = tuple(map(recorded_label, card.metrics))
    if best is None:
        return replace(card, metrics=metrics)
    found = figures.estimate(best, board.headline)
    value = f"{figures.number(found.value, found.unit)} {figures.label(board.headline)}"
    return replace(card, metrics=metrics, headline=f"{best.system}: {value}")


class Shelf:
    """The selections that were asked for last. Safe for several threads; each is read once at a time."""

    def __init__(self, resamples: int, seed: int) -> None:
        self._settings = resamples, seed
        self._kept: OrderedDict[tuple[str, ...], tuple[object, Selection]] = OrderedDict()
        self._turn = threading.Lock()

    def fresh(self, runs: Sequence[Found]) -> Selection | None:
        """The selection, if it was read and no file changed since."""
        known = self._kept.get(tuple(run.slug for run in runs))
        return known[1] if known is not None and known[0] == [stamp_of(run.path) for run in runs] else None

    def get(self, runs: Sequence[Found]) -> Selection:
        """The selection, read anew where a file changed since. Raises UserError."""
        key = tuple(run.slug for run in runs)
        with self._turn:
            stamp = [stamp_of(run.path) for run in runs]  # before reading: what is written meanwhile counts next time
            known = self._kept.get(key)
            if known is None or known[0] != stamp:
                known = self._kept[key] = stamp, read_selection(runs, *self._settings)
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return known[1]
