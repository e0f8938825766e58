"""What the tables of one benchmark are made from: its contenders, their scores, and the boards made of those."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property

import numpy as np

from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.analysis.stats.arrays import ratio
from reviewgauge.analysis.stats.bootstrap import (
    Clusters,
    Resampler,
    cluster_cases,
    percentile_interval,
    resampled_sums,
)
from reviewgauge.analysis.stats.slim import Slimmer
from reviewgauge.analysis.validity.human_values import human_values
from reviewgauge.core.document import Plot, Table, Value, name_columns
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Scale
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case
from reviewgauge.core.reports.leaderboard import Leaderboard, SystemSummary
from reviewgauge.core.results import Outcome
from reviewgauge.core.specs import plugin_name, short_spec
from reviewgauge.core.study import TableEntry
from reviewgauge.engine.run.scored_run import ScoredRun

DASH = Value(text="–")
MEAN = "Mean"  # stands in a name in the place of the value of the axis that the mean is over
Grades = Mapping[str, Mapping[str, Sequence[float]]]  # by system, by case


@dataclass(frozen=True)
class Contender:
    """One row: the reviewer's name in the study, its system in the run, and why it has no figures, if so.

    `recorded`: its reviews came with the data, and what they cost is not known. `members`: the systems that it is the
    mean of, if it is one.
    """

    name: str
    system: str
    coordinates: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""
    recorded: bool = False
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Material:
    """One benchmark of a study. `runs` has the scores of each metric that was measured, `failed` why one was not."""

    name: str
    dataset: str
    digest: str
    cases: Sequence[Case]
    contenders: Sequence[Contender]
    metrics: Sequence[Metric]
    runs: Mapping[Metric, ScoredRun]
    failed: Mapping[Metric, str]
    outcomes: Sequence[Outcome]
    labels: Sequence[Label]
    resamples: int
    seed: int
    scales: Mapping[str, Scale] = field(default_factory=dict)
    _boards: dict[tuple[object, ...], Leaderboard] = field(default_factory=dict)

    def chosen(self, entry: TableEntry) -> list[Contender]:
        """The contenders that a table is about. Raises UserError where there is none."""
        wanted = entry.reviewers
        there = [*self.contenders, *self.means(entry.mean)]
        found = [c for c in there if not wanted or any(fnmatchcase(c.name, one) for one in wanted)]
        if not found:
            known = ", ".join(c.name for c in there)
            raise UserError(f"no reviewer is called {', '.join(wanted)}", remedy=f"there is: {known}")
        return found

    def means(self, axis: str) -> list[Contender]:
        """The means of those that differ in an axis alone; one that failed leaves its mean without figures."""
        groups: dict[str, list[Contender]] = defaultdict(list)
        for one in self.contenders:
            if axis in one.coordinates:
                word = rf"(?<!\w){re.escape(one.coordinates[axis])}(?!\w)"
                groups[re.sub(word, MEAN, one.name)].append(one)
        return [
            Contender(
                name,
                name,
                trouble=next((f"{one.name}: {one.trouble}" for one in own if one.trouble), ""),
                members=tuple(one.system for one in own),
            )
            for name, own in groups.items()
        ]

    def people(self, dimension: str) -> tuple[Grades, Scale]:
        """What people said of the reviews in the study itself, of several raters the mean, and the scale of it."""
        labels = [one for one in self.labels if one.dimension == dimension and one.round is None]
        found, _ = human_values(labels, self.scales)
        if not found:
            raise UserError(f"nobody judged {dimension!r} on {self.name}", remedy="name a metric instead")
        grades: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for (case, system, _), value in sorted(found[0].of.items()):
            grades[system][case].append(value)
        return grades, found[0].scale

    def metric(self, word: str) -> Metric:
        """The metric that a table names, by its spec or by its plug-in's name; the first where it names none."""
        found = metric_named(self.metrics, word)
        if found is None:
            known = ", ".join(map(short_spec, self.metrics))
            raise UserError(f"{self.name} is not measured with {word}", remedy=f"it is with: {known}")
        return found

    def run(self, metric: Metric) -> ScoredRun:
        """Its scores. Raises UserError where it was not measured."""
        if metric in self.failed:
            raise UserError(f"{short_spec(metric)}: {self.failed[metric]}")
        return self.runs[metric]

    def board(self, metric: Metric, slices: Sequence[str] = (), contenders: Sequence[Contender] = ()) -> Leaderboard:
        """The leaderboard of some contenders, with slices; of all where none of them was scored."""
        run = self.run(metric)
        means = {c.system: c.members for c in contenders if set(c.members) <= set(run.systems) and c.members}
        asked = {c.system for c in contenders if not c.members}.union(*means.values())
        scored = frozenset(asked) & frozenset(run.systems) or frozenset(c.system for c in self.contenders)
        key = metric, tuple(slices), scored, tuple(means.items())
        if key not in self._boards:
            run = run.only(sorted(scored))
            settings = {"resamples": self.resamples, "seed": self.seed}
            self._boards[key] = leaderboard(run, slices=slices, means=means, **settings)
        return self._boards[key]

    def warnings(self, metric: Metric, contenders: Sequence[Contender]) -> list[str]:
        """What a reader must know of these contenders' figures, who are called as in the study."""
        found = [line for line in self.board(metric, (), contenders).warnings if ": fake, " not in line]
        names = {one.system: one.name for one in contenders if one.system}
        systems = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))  # a name may begin another
        named = rf"(?<!\w)(?:{systems})(?!\w)"
        return [re.sub(named, lambda one: names[one[0]], line) for line in found] if systems else found

    def gaps(self, entry: TableEntry, metric: Metric) -> list[str]:
        """Which reviewers of a table have no figures, and on how many changes others have none; a line each."""
        board = by_system(self.board(metric).systems)
        found: dict[str, list[str]] = {}
        for contender in self.chosen(entry):
            one = board.get(contender.system)
            lacking = len(self.cases) if one is None else one.failed + one.missing
            if contender.trouble or (lacking and not contender.members):
                why = contender.trouble or f"not scored on {lacking} of {len(self.cases)} changes"
                found.setdefault(why, []).append(contender.name)
        return [f"{', '.join(names)}: {why}" for why, names in found.items()]

    def provenance(self, metric: Metric) -> str:
        """What the figures with a metric rest on, in one line."""
        board = self.board(metric)
        note = f"; {board.estimate_note}" if board.estimate_note else ""
        return (
            f"{short_spec(metric)} on {self.dataset}, {len(self.cases):,} changes, benchmark {self.digest[:12]}; "
            f"{board.level:.0%} intervals: {board.resamples:,} bootstrap resamples of {board.clusters} clusters "
            f"({board.clustered_by}), seed {board.seed}{note}"
        )

    @cached_property
    def clusters(self) -> Clusters:
        """The clusters of all cases, sorted by id, as the tables of scores have them."""
        return cluster_cases(self.sorted_cases, np.ones(len(self.cases), dtype=np.bool_))

    @cached_property
    def sorted_cases(self) -> list[Case]:
        """The cases by id, without their texts."""
        return sorted(map(Slimmer().case, self.cases), key=lambda case: case.id)

    def ratio_of(self, values: Mapping[str, tuple[float, float]], unit: str = "share", *, fake: bool = False) -> Value:
        """The ratio of two sums, from their parts by case id; `n` is the sum below."""
        kept = [at for at, case in enumerate(self.sorted_cases) if case.id in values]
        rows = np.array([values[self.sorted_cases[at].id] for at in kept], dtype=np.float64).reshape(-1, 2)
        above, below = rows.sum(axis=0)
        if not below:
            return DASH
        index = self.clusters.index[kept]
        low = high = None
        if len(set(index.tolist())) > 1:
            sums = resampled_sums(rows, index, Resampler(self.clusters.count, self.resamples, self.seed))
            low, high, _ = percentile_interval(ratio(sums[:, 0], sums[:, 1]))
        return Value(value=float(above / below), low=low, high=high, n=int(below), unit=unit, fake=fake)


def summary_cell(summary: SystemSummary | None, measure: str, contender: Contender) -> Value:
    """One measure of one contender; its trouble, or a dash, where it has none."""
    if contender.trouble:
        return Value(text=contender.trouble)
    found = summary.estimate(measure) if summary is not None else None
    if summary is None or found is None:
        return DASH
    if found.value is None:
        text = f"failed ({summary.failed})" if summary.failed and not summary.scored else "–"
        return Value(text=text, n=found.n, unit=found.unit)
    return Value(value=found.value, low=found.low, high=found.high, n=found.n, unit=found.unit, fake=summary.fake)


def metric_named(metrics: Sequence[Metric], word: str) -> Metric | None:
    """The first with this spec, of this plug-in's name, or of this pattern, in this order; of all where it is empty."""
    if not word:
        return metrics[0]
    bare = word.replace('"', "'").replace(" ", "")
    exact = [metric for metric in metrics if bare == short_spec(metric).replace(" ", "")]
    named = [metric for metric in metrics if plugin_name(metric) == word]
    alike = [metric for metric in metrics if "*" in bare and fnmatchcase(short_spec(metric).replace(" ", ""), bare)]
    return next(iter([*exact, *named, *alike]), None)


def by_system(systems: Sequence[SystemSummary]) -> dict[str, SystemSummary]:
    """The summaries by the name of their system."""
    return {summary.system: summary for summary in systems}


def measures_of(material: Material, metric: Metric, entry: TableEntry) -> list[str]:
    """The measures that a table names; those that the metric has. Raises UserError for one that it has not."""
    board = material.board(metric)
    known = list(dict.fromkeys(e.measure for system in board.systems for e in system.estimates))
    for name in entry.measures:
        if known and name not in known:
            raise UserError(f"{short_spec(metric)} has no measure {name!r}", remedy=f"it has: {', '.join(known)}")
    return list(entry.measures) or [metric.headline]


def study_table(
    entry: TableEntry,
    columns: Iterable[str],
    rows: Iterable[Iterable[Value]],
    *,
    names: int = 1,
    notes: Iterable[str] = (),
    plot: Plot | None = None,
    provenance: str = "",
) -> Table:
    """The table of an entry, whose first `names` columns name a row; without `plot` in its entry it has none."""
    return Table(
        name=entry.label,
        kind=entry.kind,
        title=entry.title,
        columns=name_columns(columns, names),
        rows=tuple(map(tuple, rows)),
        notes=tuple(notes),
        plot=plot if entry.plot else None,
        provenance=provenance,
    )
