"""How far each metric agrees with people: rank correlation over reviews and over systems, or how it parts grades."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from reviewgauge.analysis.study.material import DASH, study_table
from reviewgauge.core.document import Plot, Table, Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.validity import Correlations, MetricValidity, Ranking, SliceRow, ValidityReport
from reviewgauge.core.study import TableEntry

Views = Callable[[Sequence[MetricValidity]], Iterable[Table]]
P, SYSTEMS, ACCURACY, TREE = " p", " of systems", "accuracy", "decision tree"
_FIGURES: Mapping[str, Callable[[Correlations | SliceRow, Ranking | None], Value | None]] = {
    "Spearman": lambda found, _: found.spearman,
    "Kendall": lambda found, _: found.kendall,
    f"Spearman{SYSTEMS}": lambda _, ranking: ranking.spearman if ranking else None,
    f"Kendall{SYSTEMS}": lambda _, ranking: ranking.kendall if ranking else None,
}
FIXED = "no interval of systems where every resample orders them alike: so few tell nothing of other systems"


def validity_tables(entry: TableEntry, report: ValidityReport, views: Mapping[str, Views]) -> Iterator[Table]:
    """One table, or those of the validity report that `of` names: `views` makes them from the metrics."""
    own = [m for m in _chosen(entry, report) if not m.baseline]
    if entry.of == "grades":
        yield _grades_table(entry, report, own)
    elif entry.of not in views:
        yield validity_table(entry, report)
    else:
        groups = [own] if entry.of == "systems" else [[m] for m in own]
        for at, (metrics, table) in enumerate((group, table) for group in groups for table in views[entry.of](group)):
            shown = {"kind": entry.kind, "provenance": _provenance(report, own), "notes": (table.title, *table.notes)}
            shown["name"] = f"{entry.label}-{at + 1}" if at else entry.label
            shown["title"] = f"{entry.title}: {metrics[0].label}" if len(groups) > 1 else entry.title
            yield table.model_copy(update=shown)


def validity_table(entry: TableEntry, report: ValidityReport) -> Table:
    """Rows: a metric's measure and a dimension; columns: Spearman and Kendall over reviews and over systems.

    `measures` chooses among these, each with ` p` behind it for its p-value, and the accuracy of a decision tree. With
    `by` a row is the reviews of changes where that fact has one value, as in CRScore's Table 11.
    """
    found = _chosen(entry, report)
    several = len({m.dimension for m in found}) > 1
    columns = entry.measures or tuple(_FIGURES)
    rows = [row for m in found for row in _rows(m, several, columns, entry.by)]
    if not rows:
        known = dict.fromkeys(part.fact for m in found for part in m.slices)
        raise UserError(f"no agreement by {entry.by!r}", remedy=f"there is: {', '.join(known) or 'none'}")
    fixed = any(_is_fixed(figure) for m in found if m.ranking for figure in (m.ranking.spearman, m.ranking.kendall))
    return study_table(
        entry,
        ("metric", *(["dimension"] if several else []), *columns),
        rows,
        names=2 if several else 1,
        plot=None if several else Plot(kind="forest", columns=(1,)),
        provenance=_provenance(report, found),
        notes=(*report.warnings, *([FIXED] if fixed else [])),
    )


def _chosen(entry: TableEntry, report: ValidityReport) -> list[MetricValidity]:
    """The metrics and dimensions that a table is about, with the baselines. Raises UserError where nobody judged so."""
    wanted = entry.dimensions or ((entry.dimension,) if entry.dimension else ())
    words = entry.metrics or ((entry.metric,) if entry.metric else ())
    found = [m for m in report.metrics if not wanted or m.dimension in wanted]
    if not found:
        known = ", ".join(dict.fromkeys(m.dimension for m in report.metrics))
        raise UserError(f"nobody judged {', '.join(wanted)}", remedy=f"there is: {known}")
    return [m for m in found if not words or m.baseline or any(_is_called(m, word) for word in words)]


def _grades_table(entry: TableEntry, report: ValidityReport, found: Sequence[MetricValidity]) -> Table:
    """Rows: a grade and a metric; columns: the higher grades. The shape is that of GradedReviews, Table 6."""
    cells = {(cell.first, cell.second, m.label): (cell, m.fake) for m in found for cell in m.ks}
    grades = sorted({grade for first, second, _ in cells for grade in (first, second)})
    if not grades:
        raise UserError("no metric has values for two grades", remedy='leave of = "grades" out')
    rows = []
    for first in grades[:-1]:
        for label in dict.fromkeys(label for *_, label in cells):
            row = [Value(text=f"{first:g}"), Value(text=label)]
            for second in grades[1:]:
                one, fake = cells.get((first, second, label), (None, False))
                row.append(
                    Value(text="")
                    if one is None
                    else Value(value=one.statistic, low=one.low, high=one.high, n=one.n_first + one.n_second, fake=fake)
                )
            rows.append(row)
    return study_table(
        entry,
        ("grade", "metric", *(f"{grade:g}" for grade in grades[1:])),
        rows,
        names=2,
        provenance=_provenance(report, found),
        notes=("Kolmogorov-Smirnov distance of the metric's values for two grades: 0 the same, 1 fully apart",),
    )


def _is_called(metric: MetricValidity, word: str) -> bool:
    return (
        word.replace('"', "'").replace(" ", "") == metric.label.replace(" ", "")
        or word == metric.label.partition("(")[0]
    )


def _provenance(report: ValidityReport, found: Sequence[MetricValidity]) -> str:
    counts, rows = sorted({one.correlations[0].rows.rows for one in found}), found[0].correlations[0].rows
    judged = " to ".join(f"{count:,}" for count in dict.fromkeys([counts[0], counts[-1]]))
    return (
        f"people and metrics on {report.dataset}, {report.reviews:,} reviews of {report.cases:,} changes, "
        f"{judged} of them judged by people and scored, benchmark {report.benchmark[:12]}; "
        f"{report.level:.0%} intervals: {report.resamples:,} bootstrap resamples of {rows.clusters} clusters "
        f"({rows.clustered_by}), seed {report.seed}"
    )


def _rows(metric: MetricValidity, several: bool, columns: Sequence[str], by: str) -> Iterator[tuple[Value, ...]]:
    """One for all reviews, and one for each other set of them (`grade < 5`); with `by` one for each of its values."""
    named = f"{metric.label}: {metric.measure}"
    label = metric.label if metric.baseline or metric.measure in ("mean", "") else named
    parts: list[tuple[str, Correlations | SliceRow]] = [(part.value, part) for part in metric.slices if part.fact == by]
    if not by:
        whole = metric.correlations[:1] if metric.baseline else metric.correlations
        parts = [(found.rows.name if at else "", found) for at, found in enumerate(whole)]
    for name, found in parts:
        yield (
            Value(text=f"{label} ({name})" if name else label),
            *([Value(text=metric.dimension)] if several else []),
            *(_figure(column, metric, found, None if name else metric.ranking) for column in columns),
        )


def _figure(column: str, metric: MetricValidity, found: Correlations | SliceRow, ranking: Ranking | None) -> Value:
    """One figure of a row, or with ` p` behind its name the p-value of it."""
    if column == ACCURACY:
        tree = next((one for one in metric.classifiers if one.name == TREE), None)
        return _cell(tree.accuracy if tree and found is metric.correlations[0] else None, metric.fake)
    name = column.removesuffix(P)
    if name not in _FIGURES:
        known = ", ".join([*_FIGURES, ACCURACY])
        raise UserError(f"{column!r} is not a figure of this table", remedy=f"there is: {known}, and p: Spearman{P}")
    figure = _FIGURES[name](found, ranking)
    if name != column:
        return (
            DASH
            if figure is None or figure.p is None
            else Value(value=figure.p, n=figure.n, unit="p", fake=metric.fake)
        )
    return (_ranking_cell if name.endswith(SYSTEMS) else _cell)(figure, metric.fake)


def _cell(figure: Value | None, fake: bool) -> Value:
    if figure is None or figure.value is None:
        return DASH
    return Value(value=figure.value, low=figure.low, high=figure.high, n=figure.n, fake=fake)


def _ranking_cell(figure: Value | None, fake: bool) -> Value:
    cell = _cell(figure, fake)
    fixed = figure is not None and _is_fixed(figure)
    return cell.model_copy(update={"low": None, "high": None}) if fixed else cell


def _is_fixed(figure: Value) -> bool:
    """Whether the interval has no width: then it says nothing of other systems."""
    return figure.low is not None and figure.low == figure.high
