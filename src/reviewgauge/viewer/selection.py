"""What is shown of the runs that were chosen, read once and kept until one of their files changes."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.analysis.compare.slices import FEWEST, telling_slices
from reviewgauge.analysis.costs import costs_of
from reviewgauge.core.base import content_id
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, said_of_comment
from reviewgauge.core.records import Case, Severity
from reviewgauge.core.reports.leaderboard import ComparisonTable, Leaderboard
from reviewgauge.core.results import Outcome, Score
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.indexes import OutcomeKey
from reviewgauge.engine.run.kept import kept
from reviewgauge.engine.run.scored_run import (
    ScoredRun,
    open_runs,
    read_scored_runs,
    renamed_labels,
)
from reviewgauge.models.cache.vector_cache import cache_home
from reviewgauge.viewer.rows import ChangeRow, change_rows, rows_of
from reviewgauge.viewer.runs import Found, RunCard, card_of, stamp_of
from reviewgauge.views import figures
from reviewgauge.views.leaderboard import contenders, text_name
from reviewgauge.views.report.report import ReportData, matched_metric, systems_of
from reviewgauge.views.verdict import Verdict, verdict
from reviewgauge.views.verdict_facts import MISSED_BY

KEPT = 4  # selections in memory
Kinds = tuple[Sequence[str], Sequence[str]]  # severities, categories
Key = tuple[str, ...]  # the runs' parts of the address


class Stamp(NamedTuple):
    """What changes when the files of runs do: those that figures are made of, and those that hold labels."""

    files: object
    labels: object

    @property
    def text(self) -> str:
        """Short, for a page, which asks for the one that holds now."""
        return content_id(str(self))


@dataclass(frozen=True)
class MetricBoard:
    """One metric's ranking and comparisons."""

    run: ScoredRun
    board: Leaderboard
    table: ComparisonTable | None


@dataclass(eq=False)
class Selection:
    """Runs of one benchmark. `problem` is why nothing was measured; the reviews are there all the same."""

    runs: Sequence[Found]
    cases: Sequence[Case]
    outcomes: Sequence[Outcome]
    scores: Sequence[Score]
    keys: tuple[Sequence[OutcomeKey], Sequence[OutcomeKey]]  # what each outcome and each score is of
    settings: tuple[int, int]  # resamples, seed
    boards: Sequence[MetricBoard] = ()
    metric: str = ""
    systems: Sequence[str] = ()
    problem: str = ""
    left_out: Sequence[str] = ()  # which metrics are not shown, and why
    shown: ScoredRun | None = None  # whose scores these are
    people: dict[str, list[Label]] = field(default_factory=dict)  # by case, as `read_people` found it
    other_labels: int = 0  # of the runs, and about something else
    pages: dict[object, str] = field(default_factory=dict)  # those that were made of it
    stamp: str = ""  # of the files that it was read from

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

    def read_people(self) -> None:
        """Note anew what people said of comments in these runs."""
        names = list(self.boards[0].run.systems_in) if self.boards else [{}]
        added = [renamed_labels(RunFolder.open(run.path), own) for run, own in zip(self.runs, names, strict=True)]
        self.other_labels = sum(not said_of_comment(label) for label in chain(*added))
        people: dict[str, list[Label]] = {}
        for label in filter(said_of_comment, chain(*added)):
            people.setdefault(label.subject.case, []).append(label)
        self.people, self.pages = people, {}

    def people_of(self, case: Case) -> list[Label]:
        """What people said of the comments on one change: of two things that one person said of one, the later.

        Labels that came with the cases count where they name the systems of this run.
        """
        first = filter(said_of_comment, case.labels if len(self.runs) == 1 else ())
        labels = (*first, *self.people.get(case.id, ()))
        return list({(*one.subject.model_dump().values(), one.rater, one.dimension): one for one in labels}.values())

    @cached_property
    def verdict(self) -> Verdict | None:
        """The first metric's answer in plain words, but for what is missed."""
        return verdict(self.boards[0].run, self.boards[0].board, self.boards[0].table) if self.boards else None

    @cached_property
    def sliced(self) -> Sequence[Leaderboard]:
        """The boards with all their slices, which take longest; the first has those that the verdict speaks of."""
        resamples, seed = self.settings
        return [
            kept(leaderboard, run, slices=kept(telling_slices, run), least=FEWEST, resamples=resamples, seed=seed)
            for run in (one.run for one in self.boards)
        ]

    @cached_property
    def misses(self) -> str:
        """What the leader misses most, in plain words."""
        if not self.boards:
            return ""
        first, (resamples, seed) = self.boards[0], self.settings
        slices = [name for name in kept(telling_slices, first.run) if name in MISSED_BY]
        board = kept(leaderboard, first.run, slices=slices, least=FEWEST, resamples=resamples, seed=seed)
        return verdict(first.run, board, first.table).misses

    @cached_property
    def facts(self) -> Mapping[str, list[str]]:
        """The facts of the cases that say something, each with its values."""
        found: dict[str, set[str]] = {}
        for case in self.cases:
            for fact, value in case.facts.items():
                found.setdefault(fact, set()).add(str(value))
        return {fact: sorted(values, key=_by_number) for fact, values in found.items() if 1 < len(values) <= 40}

    @cached_property
    def kinds(self) -> Kinds:
        """The severities of the findings, the worst first, and their categories."""
        found = {kind for row in self.rows for kind in row.kinds.values()}
        stated = {kind.severity for kind in found}
        return [one for one in Severity if one in stated], sorted({kind.category for kind in found} - {""})

    def part(self, fact: str) -> Sequence[Leaderboard]:
        """The boards on the changes where a fact has a value (`name=value`), measured for themselves."""
        name, _, value = fact.partition("=")
        cases = [case for case in self.cases if str(case.facts.get(name, "")) == value]
        return [
            leaderboard(one.run.on(cases), resamples=self.settings[0], seed=self.settings[1]) for one in self.boards
        ]

    def between(self, first: str, second: str) -> str:
        """Which of two systems is ahead by the first metric, and whether that is sure, in plain words."""
        run, (resamples, seed) = self.boards[0].run.only([first, second]), self.settings
        board = leaderboard(run, resamples=resamples, seed=seed)
        if [one.system for one in board.systems] == [second, first]:  # a difference is told from the leader's side
            first, second = second, first
        table = compare(run, pairs=[(first, second)], resamples=resamples, seed=seed)
        told = verdict(run, board, table)
        return f"{told.lead} {told.recommendation}"

    @cached_property
    def _places(self) -> Sequence[Mapping[str, Mapping[str, Sequence[int]]]]:
        """Where the outcomes and the scores of each case and system are."""
        both: list[dict[str, dict[str, list[int]]]] = [{}, {}]
        for found, keys in zip(both, self.keys, strict=True):
            for at, (case, system, _) in enumerate(keys):
                found.setdefault(case, {}).setdefault(system, []).append(at)
        return both

    def outcomes_of(self, case: str, system: str = "") -> list[Outcome]:
        """The outcomes of one case, by one system or by all."""
        return [self.outcomes[at] for at in self._of(0, case, system)]

    def scores_of(self, case: str, system: str = "") -> list[Score]:
        """The scores of one case, of one system or of all."""
        return [self.scores[at] for at in self._of(1, case, system)]

    def _of(self, which: int, case: str, system: str) -> Iterable[int]:
        found = self._places[which].get(case, {})
        return found.get(system, ()) if system else sorted(chain.from_iterable(found.values()))

    @cached_property
    def rows(self) -> Sequence[ChangeRow]:
        """Every change, in the order of the benchmark."""
        if self.shown is None:
            return list(change_rows(self.cases, (), self.systems))
        return kept(rows_of, self.shown, list(self.systems))


def _by_number(value: str) -> list[tuple[int, str]]:
    """Sorts the numbers in texts as numbers."""
    return [(len(part) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", value)]


def has_matchings(run: ScoredRun) -> bool:
    """Whether its metric matches comments with findings."""
    return any(score.matching is not None for score in run.scores)


def read_selection(runs: Sequence[Found], resamples: int, seed: int) -> Selection:
    """Read and measure runs. Raises UserError where they cannot be read, or are of different benchmarks."""
    paths = [run.path for run in runs]
    left_out: list[UserError] = []
    try:
        scored = read_scored_runs(paths, left_out=left_out)
    except UserError as error:
        if len(runs) > 1:
            raise
        return _unscored(runs, error.problem if left_out else str(error))
    boards = []
    for one in scored:
        board = kept(leaderboard, one, resamples=resamples, seed=seed)
        several = sum(row.scored > 0 for row in board.systems) > 1
        table = kept(compare, one, resamples=resamples, seed=seed) if several else None
        boards.append(MetricBoard(one, board, table))
    first = scored[0]
    metrics = {one.signature: one for one in scored}
    data = ReportData("", "", [one.board for one in boards], cases=first.cases)
    having = [name for name, one in metrics.items() if kept(has_matchings, one)]
    metric = matched_metric(data, having)
    shown = metrics.get(metric, first)
    settings = resamples, seed
    systems = list(dict.fromkeys([*systems_of(data), *first.unscored]))
    keys = first.outcome_keys, shown.score_keys
    chosen = Selection(runs, first.cases, first.outcomes, shown.scores, keys, settings, boards, metric, systems)
    chosen.shown, chosen.left_out = shown, [error.problem for error in left_out]
    chosen.read_people()
    return chosen


def prepare(run: str | Path, resamples: int, seed: int) -> None:
    """Make what the first pages of a run show, where it can be kept, so that nobody waits for it there."""
    with suppress(UserError):
        if cache_home() is not None and all(one.origin for one in read_scored_runs([run], left_out=[])):
            chosen = read_selection([Found("", Path(run), "")], resamples, seed)
            if chosen.shown is not None:
                kept(costs_of, chosen.boards[0].run)
                kept(rows_of, chosen.shown, list(chosen.systems))


def _unscored(runs: Sequence[Found], problem: str) -> Selection:
    folder = open_runs([runs[0].path])[0]
    reviews = folder.stored_outcomes()
    systems = list(dict.fromkeys([*folder.manifest.systems, *(system for _, system, _ in reviews.keys)]))
    keys = reviews.keys, ()
    return Selection(runs, folder.cases(), reviews.outcomes, (), keys, (0, 0), systems=systems, problem=problem)


def card_with_answer(run: Found, read: Callable[[Sequence[Found]], Selection]) -> RunCard:
    """The run's card, with who leads by its first metric, and with what."""
    chosen, problem = None, ""
    try:
        chosen = read([run])  # before the card: somebody may be waiting for the pages
    except UserError as error:
        problem = str(error)
    card = card_of(run)
    if card.state == "broken" or not card.metrics:
        return card
    if chosen is None:
        return replace(card, problem=problem)
    if not chosen.boards:
        return replace(card, problem=chosen.problem)
    board = chosen.boards[0].board
    if not (ranked := contenders(board.systems)):
        return card
    best = ranked[0]
    found = figures.estimate(best, board.headline)
    value = f"{figures.number(found.value, found.unit)} {figures.label(board.headline)}"
    told = chosen.verdict.short if chosen.verdict is not None else ""
    return replace(card, headline=", ".join(filter(None, (f"{text_name(best)}: {value}", told))))


class Shelf:
    """The selections that were asked for last. Safe for several threads; each is read once at a time."""

    def __init__(self, resamples: int, seed: int) -> None:
        self._settings = resamples, seed
        self._kept: OrderedDict[Key, tuple[Stamp, Selection]] = OrderedDict()
        self._turns: defaultdict[Key, threading.Lock] = defaultdict(threading.Lock)

    def fresh(self, runs: Sequence[Found]) -> Selection | None:
        """The selection, if it was read and nothing was written since but what people say of comments."""
        key, stamp = key_and_stamp(runs)
        before, chosen = self._kept.get(key, (None, None))
        if before is None or chosen is None or before.files != stamp.files:
            return None
        if before.labels != stamp.labels:
            others = chosen.other_labels
            chosen.read_people()
            if chosen.other_labels != others:  # classes, say, which figures are sliced by
                return None
            self._keep(key, stamp, chosen)
        return chosen

    def _keep(self, key: Key, stamp: Stamp, chosen: Selection) -> None:
        chosen.stamp = stamp.text
        self._kept[key] = stamp, chosen

    def read(self, runs: Sequence[Found]) -> Selection:
        """The selection, read anew and not kept. Raises UserError."""
        return read_selection(runs, *self._settings)

    def get(self, runs: Sequence[Found]) -> Selection:
        """The selection, read anew where a file changed since. Raises UserError."""
        key, stamp = key_and_stamp(runs)  # before reading: what is written meanwhile counts next time
        with self._turns[key]:
            chosen = self.fresh(runs)
            if chosen is None:
                chosen = self.read(runs)
                self._keep(key, stamp, chosen)
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return chosen


def key_and_stamp(runs: Sequence[Found]) -> tuple[Key, Stamp]:
    """The runs' part of an address, and the stamp of their files."""
    stamps = [stamp_of(run.path) for run in runs]
    files, labels = [stamp[:3] for stamp in stamps], [stamp[3] for stamp in stamps]  # not the lock, which labels take
    return tuple(run.slug for run in runs), Stamp(files, labels)
