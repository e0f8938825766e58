"""How far each metric agrees with people: rank correlation over reviews and over systems, or how it parts grades."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewgauge.analysis.study.material import DASH, study_table
from reviewgauge.core.document import Plot, Table, Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.validity import MetricValidity, ValidityReport
from reviewgauge.core.study import TableEntry

FIXED = "no interval of systems where every resample orders them alike: so few tell nothing of other systems"


def validity_table(entry: TableEntry, report: ValidityReport) -> Table:
    """Rows: a metric's measure and a dimension; columns: Spearman and Kendall over reviews and over systems."""
    wanted = entry.dimensions or ((entry.dimension,) if entry.dimension else ())
    found = [m for m in report.metrics if not wanted or m.dimension in wanted]
    if not found:
        known = ", ".join(dict.fromkeys(m.dimension for m in report.metrics))
        raise UserError(f"nobody judged {', '.join(wanted)}", remedy=f"there is: {known}")
    if entry.of == "grades":
        return _grades_table(entry, report, found)
    several = len({m.dimension for m in found}) > 1
    rows = [row for m in found for row in _rows(m, several)]
    fixed = any(_is_fixed(figure) for m in found if m.ranking for figure in (m.ranking.spearman, m.ranking.kendall))
    columns = ("Spearman", "Kendall", "Spearman of systems", "Kendall of systems")
    return study_table(
        entry,
        ("metric", *(["dimension"] if several else []), *columns),
        rows,
        names=2 if several else 1,
        plot=None if several else Plot(kind="forest", columns=(1,)),
        provenance=_provenance(report, found),
        notes=(*report.warnings, *([FIXED] if fixed else [])),
    )


def _grades_table(entry: TableEntry, report: ValidityReport, found: Sequence[MetricValidity]) -> Table:
    """Rows: a grade and a metric; columns: the higher grades. The shape is that of GradedReviews, Table 6."""
    cells = {(cell.first, cell.second, m.label): (cell, m.fake) for m in found if not m.baseline for cell in m.ks}
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


def _provenance(report: ValidityReport, found: Sequence[MetricValidity]) -> str:
    counts, rows = sorted({one.correlations[0].rows.rows for one in found}), found[0].correlations[0].rows
    judged = " to ".join(f"{count:,}" for count in dict.fromkeys([counts[0], counts[-1]]))
    return (
        f"people and metrics on {report.dataset}, {report.reviews:,} reviews of {report.cases:,} changes, "
        f"{judged} of them judged by people and scored, benchmark {report.benchmark[:12]}; "
        f"{report.level:.0%} intervals: {report.resamples:,} bootstrap resamples of {rows.clusters} clusters "
        f"({rows.clustered_by}), seed {report.seed}"
    )


def _rows(metric: MetricValidity, several: bool) -> Iterator[tuple[Value, ...]]:
    """One for all reviews, and one for each other set of them (`grade < 5`)."""
    named = f"{metric.label}: {metric.measure}"
    label = metric.label if metric.baseline or metric.measure in ("mean", "") else named
    for at, found in enumerate(metric.correlations[:1] if metric.baseline else metric.correlations):
        ranking = metric.ranking if at == 0 else None
        yield (
            Value(text=label if at == 0 else f"{label} ({found.rows.name})"),
            *([Value(text=metric.dimension)] if several else []),
            _cell(found.spearman, metric.fake),
            _cell(found.kendall, metric.fake),
            _ranking_cell(ranking.spearman if ranking else None, metric.fake),
            _ranking_cell(ranking.kendall if ranking else None, metric.fake),
        )


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
