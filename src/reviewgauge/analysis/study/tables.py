"""All tables of a study, in the order of its file; one that cannot be made is named, and the others are made.

A paper's values in the place of ours: beside them where both exist, as rows of their own where ours do not.

Sources of the shapes of what was found: SWR-Bench (arXiv:2509.01494), Figure 6; AACR-Bench (arXiv:2601.19494), Table 8;
the plot is UpSet (Lex et al., 2014).
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import MatrixAggregate
from reviewgauge.analysis.stats.arrays import measures_of as measures_in
from reviewgauge.analysis.study.leaderboard import (
    attempts_table,
    comparisons_table,
    cost_table,
    leaderboard_table,
    measure_label,
)
from reviewgauge.analysis.study.material import Grades, Material, measures_of, metric_named, study_table
from reviewgauge.analysis.study.slices import ablation_table, slices_table
from reviewgauge.analysis.study.validity import Views, validity_tables
from reviewgauge.core.document import Plot, Table, Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.study import Trouble
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.core.results import Matching, Score
from reviewgauge.core.specs import short_spec
from reviewgauge.core.study import Published, TableEntry

MOST_GRADES, BINS = 10, 5
EXACT = 1e-9


# --- grades --------------------------------------------------------------------------------------------------------


def distribution_table(entry: TableEntry, material: Material) -> Table:
    """Columns: how many reviews have each grade, and their mean."""
    fakes: frozenset[str] = frozenset()
    if entry.dimension:
        grades, unit = material.people(entry.dimension)[0], "points"
        clusters = material.clusters
        provenance = (
            f"{entry.dimension} by people on {material.dataset}, {len(material.cases):,} changes, benchmark "
            f"{material.digest[:12]}; 95% intervals of means: {material.resamples:,} bootstrap resamples of "
            f"{clusters.count} clusters ({clusters.by}), seed {material.seed}"
        )
    else:
        metric = material.metric(entry.metric)
        (measure,) = measures_of(material, metric, entry)
        run = material.run(metric)
        grades, unit = _of_metric(metric, measure, run.scores), metric.units.get(measure, "share")
        fakes = frozenset(score.system for score in run.scores if score.fake)
        provenance = f"{measure_label(measure)} of each review: {material.provenance(metric)}"
    chosen = material.chosen(entry)
    found = sorted({value for c in chosen for own in grades.get(c.system, {}).values() for value in own})
    many = len(found) > MOST_GRADES
    edges = np.linspace(found[0], found[-1], BINS + 1).tolist() if many else []
    heads = [f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges)] if many else [f"{one:g}" for one in found]
    rows = []
    for contender in chosen:
        own, fake = grades.get(contender.system, {}), contender.system in fakes
        values = [value for one in own.values() for value in one]
        if contender.trouble or not values:
            rows.append([Value(text=contender.name), *[Value(text=contender.trouble or "–")] * (len(heads) + 2)])
            continue
        counts = np.histogram(values, edges)[0].tolist() if many else [values.count(one) for one in found]
        cells = [Value(value=float(count), n=len(values), unit="count", fake=fake) for count in counts]
        mean = material.ratio_of({case: (float(np.mean(one)), 1.0) for case, one in own.items()}, unit, fake=fake)
        reviews = Value(value=float(len(values)), n=len(values), unit="count")
        rows.append([Value(text=contender.name), *cells, reviews, mean])
    plot = Plot(kind="stacked", columns=tuple(range(1, 1 + len(heads)))) if heads else None
    columns = ("reviewer", *heads, "reviews", "mean")
    return study_table(entry, columns, rows, plot=plot, provenance=provenance)


def _of_metric(metric: Metric, measure: str, scores: Sequence[Score]) -> Grades:
    """What the metric gives each review that it measured."""
    found = []
    for score in scores:
        parts = score.parts
        value = None if parts is None else measures_in(metric, MatrixAggregate.of([parts])).get(measure)
        if value is not None and np.isfinite(value[0]):
            found.append((score.system, score.case, score.attempt, round(float(value[0]), 12)))
    grades: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for system, case, _, grade in sorted(found):
        grades[system][case].append(grade)
    return grades


# --- overlap -------------------------------------------------------------------------------------------------------

JOIN = " & "
NOBODY = "nobody"
YES_OR_NO = "a finding is found or not here; recall counts the probability that it is"
TIMES = "-times"  # ends the name of the table that counts finders
Finding = tuple[str, str]  # case, first reference of the group


class _Measured(NamedTuple):
    """What counts of a score: there may be very many. `groups` are the findings, and whether each was hit."""

    case: str
    system: str
    attempt: int
    fake: bool
    groups: tuple[tuple[str, bool], ...]
    unsure: bool

    @classmethod
    def of(cls, score: Score, matching: Matching) -> _Measured:
        groups = tuple((sys.intern(one.group), one.hit) for one in matching.groups)
        unsure = any(one.probability not in (None, 0, 1) for one in matching.groups)
        return cls(sys.intern(score.case), sys.intern(score.system), score.attempt, score.fake, groups, unsure)


def overlap_tables(entry: TableEntry, material: Material) -> Iterator[Table]:
    """Two tables for all contenders, or for the attempts of each: which sets found how many, and how many found it."""
    metric = material.metric(entry.metric)
    measured = [_Measured.of(one, one.matching) for one in material.run(metric).scores if one.matching is not None]
    chosen = [c for c in material.chosen(entry) if not c.trouble]
    if not measured or not chosen:
        raise UserError(f"{short_spec(metric)} does not say who found what", remedy="hits and points do")
    notes = []
    if entry.of == "reviewers" and any(score.attempt > 1 for score in measured):
        notes.append("found: in at least one attempt")
    notes += [YES_OR_NO] if any(score.unsure for score in measured) else []
    notes += material.gaps(entry, metric)
    fake = any(score.fake for score in measured)
    if entry.of == "reviewers":
        names = {c.system: c.name for c in chosen}
        named = [(score, names[score.system]) for score in measured if score.system in names]
        yield from _Overlap(material, metric, entry, fake, notes).tables(named, list(dict.fromkeys(names.values())))
        return
    attempts = [(c, sorted({one.attempt for one in measured if one.system == c.system})) for c in chosen]
    repeated = [(c, numbers) for c, numbers in attempts if len(numbers) > 1]
    if not repeated:
        yield study_table(
            entry, ("found by",), (), notes=("left out: no review was repeated (attempts = 5 repeats each)",)
        )
    for at, (contender, numbers) in enumerate(repeated, 1):
        name = entry.label if len(repeated) == 1 else f"{entry.label}-{at}"
        own = entry.model_copy(update={"name": name, "title": f"{entry.title}: {contender.name}"})
        named = [(score, f"attempt {score.attempt}") for score in measured if score.system == contender.system]
        sets = [f"attempt {number}" for number in numbers]
        yield from _Overlap(material, metric, own, fake, notes).tables(named, sets)


@dataclass(frozen=True)
class _Overlap:
    material: Material
    metric: Metric
    entry: TableEntry
    fake: bool
    notes: Sequence[str]

    def tables(self, scores: Sequence[tuple[_Measured, str]], sets: Sequence[str]) -> Iterator[Table]:
        """Which sets found how many, and how many found each, on the changes that all of `sets` were scored on.

        Who failed on a change did not miss its findings.
        """
        entry = self.entry
        present: dict[str, set[str]] = defaultdict(set)
        for score, who in scores:
            present[score.case].add(who)
        common = {case for case, there in present.items() if len(there) == len(sets)}
        found: dict[Finding, set[str]] = defaultdict(set)
        for score, who in scores:
            for group, hit in score.groups if score.case in common else ():
                found[score.case, group].update([who] if hit else [])
        some = f"the {len(common)} of {len(present)} changes that all of these were scored on"
        where = f"{len(common)} changes" if len(common) == len(present) else some
        if not found:
            why = (f"left out: {where} have no findings", *self.notes)
            yield study_table(entry, ("found by",), (), notes=why)
            return
        combos = Counter(tuple(one for one in sets if one in members) for members in found.values())
        order = sorted(combos, key=lambda combo: (not combo, -combos[combo], [sets.index(one) for one in combo]))
        provenance = self.material.provenance(self.metric)
        by_set = study_table(
            entry,
            ("found by", "findings", "share"),
            [self._row(JOIN.join(combo) or NOBODY, found, set(combo).__eq__) for combo in order],
            plot=Plot(kind="upset", columns=(1,)) if len(sets) > 1 else None,
            provenance=provenance,
            notes=(
                f"{len(found):,} findings of {where}; each is counted once, in the row of exactly those that found it",
                *self.notes,
            ),
        )
        yield by_set.model_copy(update={"shown": 20})
        what = "attempts" if entry.of == "attempts" else "reviewers"
        title = f"{entry.title}: how many {what} found a finding"
        sizes = [self._row(str(size), found, lambda own, k=size: len(own) == k) for size in range(len(sets) + 1)]  # type: ignore[misc]
        yield study_table(
            entry.model_copy(update={"name": f"{entry.label}{TIMES}", "title": title}),
            (what, "findings", "share"),
            sizes,
            provenance=provenance,
            notes=(f"{len(found):,} findings of {where}", *self.notes),
        )

    def _row(self, text: str, found: Mapping[Finding, set[str]], counts: Callable[[set[str]], bool]) -> list[Value]:
        """How many findings count, and their share of all, with an interval that resamples the changes."""
        of_case: dict[str, list[float]] = defaultdict(list)
        for (case, _), members in found.items():
            of_case[case].append(float(counts(members)))
        sums = {case: (sum(own), float(len(own))) for case, own in of_case.items()}
        count = Value(value=sum(above for above, _ in sums.values()), n=len(found), unit="count", fake=self.fake)
        return [Value(text=text), count, self.material.ratio_of(sums, fake=self.fake)]


_BUILDERS: Mapping[str, Callable[[TableEntry, Material], Table]] = {
    "leaderboard": leaderboard_table,
    "comparisons": comparisons_table,
    "ablation": ablation_table,
    "slices": slices_table,
    "distribution": distribution_table,
    "attempts": attempts_table,
    "cost": cost_table,
}
NOT_RUN = "(published)"


def with_published(table: Table, published: Published | None, *, elsewhere: str = "") -> Table:
    """The table with a paper's values. `elsewhere`: the data that ours are on, where it is not the paper's.

    A row is named by its texts, joined by a comma.
    """
    if published is None:
        return table
    left = dict(published.values)
    rows = []
    for row in table.rows:
        values = left.pop(", ".join(cell.text for cell in row[: table.names]), None)
        rows.append(row if values is None else _beside(table, row, values, published))
    rows += [_alone(table, name, v, published) for name, v in left.items() if v.keys() & set(table.titles)]
    notes = [f"published: {published.source}" + (f"; {published.note}" if published.note else "")]
    if elsewhere:
        notes.append(f"the published figures are on the paper's own data, ours on {elsewhere}: they do not compare")
    columns = tuple(
        column.model_copy(update={"digits": 3}) if _is_exact(row[at] for row in rows) else column
        for at, column in enumerate(table.columns)
    )
    changed = {"rows": tuple(rows), "columns": columns, "source": published.source, "notes": (*table.notes, *notes)}
    return table.model_copy(update=changed)


def _is_exact(cells: Iterable[Value]) -> bool:
    """Whether a paper prints more than two digits of a share in this column."""
    printed = [cell.published for cell in cells if cell.published is not None and cell.unit == "share"]
    return any(abs(value - round(value, 2)) > EXACT for value in printed)


def _beside(
    table: Table, row: tuple[Value, ...], values: Mapping[str, float], published: Published
) -> tuple[Value, ...]:
    return tuple(
        cell.model_copy(update={"published": _scaled(values[column], cell.unit, published)})
        if column in values
        else cell
        for column, cell in zip(table.titles, row, strict=True)
    )


def _alone(table: Table, name: str, values: Mapping[str, float], published: Published) -> tuple[Value, ...]:
    row = [Value(text=f"{name} {NOT_RUN}"), *[Value(text="")] * (table.names - 1)]
    for at, column in list(enumerate(table.titles))[table.names :]:
        unit = next((row[at].unit for row in table.rows if row[at].value is not None), "share")
        known = column in values
        row.append(Value(published=_scaled(values[column], unit, published), unit=unit) if known else Value(text=""))
    return tuple(row)


def _scaled(value: float, unit: str, published: Published) -> float:
    if not published.percent:
        return value
    return value / {"share": 100, "gain": 100, "share²": 100**2}.get(unit, 1)


def study_tables(
    entries: Sequence[TableEntry],
    materials: Mapping[str, Material],
    reports: Mapping[str, ValidityReport],
    elsewhere: bool = False,
    views: Mapping[str, Views] | None = None,
) -> tuple[list[Table], list[Trouble]]:
    """(the tables, what could not be made). `reports` are of the benchmarks that were validated.

    `elsewhere`: the study is run on other data than its paper's. `views`: what makes other tables of validity, by name.
    """
    tables: list[Table] = []
    troubles: list[Trouble] = []
    for entry in entries:
        known = reports if entry.kind == "validity" else materials
        there = [name for name in entry.benchmarks or materials if name in known]
        if not entry.benchmarks and entry.kind != "validity":
            words = (entry.metric, *entry.metrics)
            there = [
                name for name in there if all(metric_named(materials[name].metrics, word) for word in words)
            ] or there
        for name in there:
            called, title = entry.label, entry.title or entry.kind
            if len(there) > 1:
                called, title = f"{called}-{name}", f"{title} ({name})"
            own = entry.model_copy(update={"name": called, "title": title})
            try:
                for table in _made(own, materials[name], reports.get(name), views or {}):
                    beside = entry.published if _stands_in(own, table) else None
                    other = materials[name].dataset if elsewhere else ""
                    tables.append(with_published(table, beside, elsewhere=other))
            except UserError as error:
                troubles.append(Trouble(benchmark=name, what=f"table {called}", why=str(error)))
    return tables, troubles


def _stands_in(entry: TableEntry, table: Table) -> bool:
    """Whether the published values of an entry are this table's: of an overlap, rows that are numbers count finders."""
    if entry.kind != "overlap" or entry.published is None:
        return table.name == entry.name
    rows = entry.published.values
    return table.name.endswith(TIMES) == bool(rows and all(row.isdecimal() for row in rows))


def _made(
    entry: TableEntry, material: Material, report: ValidityReport | None, views: Mapping[str, Views]
) -> Iterable[Table]:
    if entry.kind == "validity":
        return [] if report is None else validity_tables(entry, report, views)
    if entry.kind == "overlap":
        return overlap_tables(entry, material)
    return [_BUILDERS[entry.kind](entry, material)]
