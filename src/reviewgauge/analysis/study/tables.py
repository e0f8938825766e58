"""All tables of a study, in the order of its file; one that cannot be made is named, and the others are made.

A paper's values in the place of ours: beside them where both exist, as rows of their own where ours do not.

How much the attempts at the same changes differ: what a second run of the whole study would vary by.

Quality against cost: what a change costs with each contender, and who is on the frontier.

On the frontier is whom no other beats: nobody is as good for less, or better for as much.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.arrays import MatrixAggregate
from reviewgauge.analysis.stats.arrays import measures_of as measures_in
from reviewgauge.analysis.study.ablation import ablation_table
from reviewgauge.analysis.study.comparisons import comparisons_table
from reviewgauge.analysis.study.leaderboard import leaderboard_table, measure_label
from reviewgauge.analysis.study.material import Material, by_system, measures_of, summary_cell, titled
from reviewgauge.analysis.study.overlap import TIMES, overlap_tables
from reviewgauge.analysis.study.slices import slices_table
from reviewgauge.analysis.study.validity import validity_table
from reviewgauge.core.document import Plot, Table, Value, name_columns
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, SubjectKind
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.study import Trouble
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.study import Published, TableEntry

MOST_GRADES, BINS = 10, 5
Grades = dict[str, dict[str, list[float]]]  # by system, by case


def distribution_table(entry: TableEntry, material: Material, name: str, title: str) -> Table:
    """Columns: how many reviews have each grade, and their mean."""
    if entry.dimension:
        grades, unit, provenance = _of_people(entry.dimension, material)
        fakes: frozenset[str] = frozenset()
    else:
        metric = material.metric(entry.metric)
        (measure,) = measures_of(material, metric, entry)
        run = material.run(metric)
        grades, unit = _of_metric(metric, measure, run.scores), metric.units.get(measure, "share")
        fakes = frozenset(score.system for score in run.scores if score.fake)
        provenance = f"{measure_label(measure)} of each review: {material.provenance(metric)}"
    chosen = material.chosen(entry)
    found = sorted({value for c in chosen for own in grades.get(c.system, {}).values() for value in own})
    bins = [(value, value) for value in found] if len(found) <= MOST_GRADES else _bins(found[0], found[-1])
    rows = []
    for contender in chosen:
        own = grades.get(contender.system, {})
        values = [value for one in own.values() for value in one]
        if contender.trouble or not values:
            rows.append(
                (Value(text=contender.name), *(Value(text=contender.trouble or "–") for _ in range(len(bins) + 2)))
            )
            continue
        fake = contender.system in fakes
        counts = [sum(_within(value, ends, ends is bins[-1]) for value in values) for ends in bins]
        cells = [Value(value=float(count), n=len(values), unit="count", fake=fake) for count in counts]
        mean = material.mean_of({case: float(np.mean(one)) for case, one in own.items()}, unit, fake=fake)
        rows.append(
            (Value(text=contender.name), *cells, Value(value=float(len(values)), n=len(values), unit="count"), mean)
        )
    heads = [_head(*ends) for ends in bins]
    return Table(
        name=name,
        kind=entry.kind,
        title=title,
        columns=name_columns(("reviewer", *heads, "reviews", "mean")),
        rows=tuple(rows),
        plot=Plot(kind="stacked", columns=tuple(range(1, 1 + len(bins)))) if entry.plot and bins else None,
        provenance=provenance,
    )


def _of_people(dimension: str, material: Material) -> tuple[Grades, str, str]:
    """What people said of the reviews; of several raters the mean."""
    own = [label for label in dict.fromkeys(map(_key, material.labels)) if label[2] == dimension]
    if not own:
        raise UserError(f"nobody judged {dimension!r} on {material.name}", remedy="name a metric instead")
    raters: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for case, system, _, attempt, value in own:
        raters[system, case, attempt].append(value)
    grades: Grades = defaultdict(lambda: defaultdict(list))
    for (system, case, _), values in sorted(raters.items()):
        grades[system][case].append(float(np.mean(values)))
    clusters = material.clusters
    provenance = (
        f"{dimension} by people on {material.dataset}, {len(material.cases):,} changes, benchmark "
        f"{material.digest[:12]}; 95% intervals of means: {material.resamples:,} bootstrap resamples of "
        f"{clusters.count} clusters ({clusters.by}), seed {material.seed}"
    )
    return grades, "points", provenance


def _key(label: Label) -> tuple[str, str, str, int, float]:
    """(case, system, dimension, attempt, value) of a person's judgement of a review in the study itself."""
    subject = label.subject
    counts = (
        subject.kind is SubjectKind.REVIEW and label.rater_kind is RaterKind.HUMAN and label.round is None
        and isinstance(label.value, int | float)
    )  # fmt: skip
    dimension = label.dimension if counts else ""
    value = float(label.value) if counts else 0.0
    return subject.case, subject.system or "", dimension, subject.attempt or 1, value


def _of_metric(metric: Metric, measure: str, scores: Sequence[Score]) -> Grades:
    """What the metric gives each review that it measured."""
    grades: Grades = defaultdict(lambda: defaultdict(list))
    given = ((score, _value(metric, measure, score.parts)) for score in scores if score.parts is not None)
    found = [(score.system, score.case, score.attempt, value) for score, value in given if value is not None]
    for system, case, _, value in sorted(found):
        grades[system][case].append(value)
    return grades


def _value(metric: Metric, measure: str, parts: Mapping[str, float]) -> float | None:
    found = measures_in(metric, MatrixAggregate.of([parts])).get(measure)
    return None if found is None or not np.isfinite(found[0]) else round(float(found[0]), 12)


def _bins(low: float, high: float) -> list[tuple[float, float]]:
    edges = np.linspace(low, high, BINS + 1).tolist()
    return list(pairwise(edges))


def _within(value: float, ends: tuple[float, float], last: bool) -> bool:
    low, high = ends
    return value == low if low == high else low <= value < high or (last and value == high)


def _head(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:.3g} to {high:.3g}"


Builder = Callable[[TableEntry, Material, str, str], Table]


def cost_table(entry: TableEntry, material: Material, name: str, title: str) -> Table:
    """Columns: dollars a review, the measure, calls and tokens a review, and whether on the frontier."""
    metric = material.metric(entry.metric)
    (measure,) = measures_of(material, metric, entry)
    board = by_system(material.board(metric).systems)
    spent = _spent(material.outcomes)
    rows = []
    for contender in material.chosen(entry):
        quality = summary_cell(board.get(contender.system), measure, contender)
        own = spent.get(contender.system, {})
        unpriced = any(use.dollars is None and use.calls for uses in own.values() for use in uses)
        fake = quality.fake
        dollars = Value(text="price unknown") if unpriced else _mean(material, own, "dollars", "dollars", fake)
        calls, tokens = (_mean(material, own, what, "count", fake) for what in ("calls", "tokens"))
        if contender.trouble or contender.recorded:
            dollars = calls = tokens = Value(text=contender.trouble or "not recorded")
        rows.append([Value(text=contender.name), dollars, quality, calls, tokens])
    lower = measure in metric.lower_is_better
    flags = _frontier([(row[1].value, row[2].value) for row in rows], lower)
    return Table(
        name=name,
        kind=entry.kind,
        title=title,
        columns=name_columns(("reviewer", "dollars a review", measure_label(measure), "calls", "tokens", "frontier")),
        rows=tuple((*row, Value(text=flag)) for row, flag in zip(rows, flags, strict=True)),
        plot=Plot(kind="scatter", columns=(1, 2, 5)) if entry.plot else None,
        provenance=material.provenance(metric),
        notes=(
            "frontier: nobody is as good for less, or better for as much; cost is that of the reviews, not of judges",
            *material.gaps(entry, metric),
        ),
    )


class _Use(NamedTuple):
    """What one review took."""

    attempt: int
    dollars: float | None
    calls: int
    tokens: int


Spent = dict[str, list[_Use]]  # by case, in the order of the attempts


def _spent(outcomes: Sequence[Outcome]) -> dict[str, Spent]:
    found: dict[str, Spent] = defaultdict(lambda: defaultdict(list))
    for one in outcomes:
        use = one.usage if one.review is None else one.review.usage
        tokens = use.tokens_in + use.tokens_out
        insort(found[one.system][one.case], _Use(one.attempt, use.dollars, use.calls, tokens), key=itemgetter(0))
    return found


def _mean(material: Material, spent: Spent, what: str, unit: str, fake: bool) -> Value:
    sums = {
        case: (sum(float(getattr(use, what) or 0.0) for use in uses), float(len(uses))) for case, uses in spent.items()
    }
    return material.ratio_of(sums, unit, fake=fake)


def _frontier(points: Sequence[tuple[float | None, float | None]], lower: bool) -> list[str]:
    """`yes` for the points that no other beats; a dash where a figure is missing."""
    sign = -1.0 if lower else 1.0
    known = [(cost, sign * quality) for cost, quality in points if cost is not None and quality is not None]
    flags = []
    for cost, quality in points:
        if cost is None or quality is None:
            flags.append("–")
            continue
        mine = cost, sign * quality
        beaten = any(c <= mine[0] and q >= mine[1] and (c, q) != mine for c, q in known)
        flags.append("no" if beaten else "yes")
    return flags


def attempts_table(entry: TableEntry, material: Material, name: str, title: str) -> Table:
    """Columns: the headline, its standard deviation if all attempts were made again, and where the variance lies."""
    metric = material.metric(entry.metric)
    board = by_system(material.board(metric).systems)
    rows = []
    for contender in material.chosen(entry):
        summary = board.get(contender.system)
        mean = summary_cell(summary, metric.headline, contender)
        spread = summary.spread if summary is not None and not contender.trouble else None
        if spread is None or summary is None:
            rows.append((Value(text=contender.name), mean, *(Value(text=contender.trouble or "–") for _ in range(5))))
            continue
        fake = summary.fake
        deviations = (spread.again, spread.within, spread.between)
        share = spread.within_share
        rows.append(
            (
                Value(text=contender.name),
                mean,
                *(Value(value=one, n=spread.n, unit=spread.unit, fake=fake) for one in deviations),
                Value(text="–") if share is None or math.isnan(share) else Value(value=share, n=spread.n, fake=fake),
                Value(value=float(spread.attempts), n=spread.repeated, unit="count", fake=fake),
            )
        )
    heads = ("SD if repeated", "SD between attempts", "SD between changes", "share of attempts", "attempts")
    return Table(
        name=name,
        kind=entry.kind,
        title=title,
        columns=name_columns(("reviewer", measure_label(metric.headline), *heads)),
        rows=tuple(rows),
        provenance=material.provenance(metric),
        notes=(
            "SD if repeated: of the figure itself, if all attempts were made again on the same changes; the other two: "
            "of what one attempt at one change adds to it; share of attempts: in the variance of the two",
        ),
    )


_BUILDERS: Mapping[str, Builder] = {
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
    return table.model_copy(update={"rows": tuple(rows), "source": published.source, "notes": (*table.notes, *notes)})


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
    units = [next((row[at].unit for row in table.rows if row[at].value is not None), "share") for at in _places(table)]
    texts = [Value(text=f"{name} {NOT_RUN}"), *(Value(text="") for _ in range(table.names - 1))]
    cells = [
        Value(published=_scaled(values[column], unit, published), unit=unit) if column in values else Value(text="")
        for column, unit in zip(table.titles[table.names :], units, strict=True)
    ]
    return (*texts, *cells)


def _places(table: Table) -> range:
    return range(table.names, len(table.columns))


def _scaled(value: float, unit: str, published: Published) -> float:
    if not published.percent:
        return value
    return value / {"share": 100, "gain": 100, "share²": 100**2}.get(unit, 1)


def study_tables(
    entries: Sequence[TableEntry],
    materials: Mapping[str, Material],
    reports: Mapping[str, ValidityReport],
    elsewhere: bool = False,
) -> tuple[list[Table], list[Trouble]]:
    """(the tables, what could not be made). `reports` are of the benchmarks that were validated.

    `elsewhere`: the study is run on other data than its paper's.
    """
    tables: list[Table] = []
    troubles: list[Trouble] = []
    for entry in entries:
        known = reports if entry.kind == "validity" else materials
        there = [name for name in entry.benchmarks or materials if name in known]
        if not entry.benchmarks and entry.kind != "validity":
            there = [name for name in there if _fits(entry, materials[name])] or there
        for name in there:
            called = titled(entry, materials[name], len(there) > 1)
            try:
                for table in _made(entry, materials[name], reports.get(name), *called):
                    beside = entry.published if _stands_in(entry, table, called[0]) else None
                    other = materials[name].dataset if elsewhere else ""
                    tables.append(with_published(table, beside, elsewhere=other))
            except UserError as error:
                troubles.append(Trouble(benchmark=name, what=f"table {called[0]}", why=str(error)))
    return tables, troubles


def _stands_in(entry: TableEntry, table: Table, name: str) -> bool:
    """Whether the published values of an entry are this table's: of an overlap, rows that are numbers count finders."""
    if entry.kind != "overlap" or entry.published is None:
        return table.name == name
    rows = entry.published.values
    return table.name.endswith(TIMES) == bool(rows and all(row.isdecimal() for row in rows))


def _fits(entry: TableEntry, material: Material) -> bool:
    """Whether a benchmark is measured with what the table names."""
    return all(material.has(word) for word in (entry.metric, *entry.metrics))


def _made(
    entry: TableEntry, material: Material, report: ValidityReport | None, name: str, title: str
) -> Iterator[Table]:
    if entry.kind == "validity":
        if report is not None:
            yield validity_table(entry, report, name, title)
    elif entry.kind == "overlap":
        yield from overlap_tables(entry, material, name, title)
    else:
        yield _BUILDERS[entry.kind](entry, material, name, title)
