"""How far each metric agrees with people: rank correlation over reviews and over systems, or how it parts grades."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from reviewgauge.analysis.study.material import DASH, study_table
from reviewgauge.core.document import Plot, Table, Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.validity import Correlations, MetricValidity, Ranking, ValidityReport
from reviewgauge.core.study import TableEntry

P, SYSTEMS, ACCURACY, TREE = " p", " of systems", "accuracy", "decision tree"
_FIGURES: Mapping[str, Callable[[Correlations, Ranking | None], Value | None]] = {
    "Spearman": lambda found, _: found.spearman,
    "Kendall": lambda found, _: found.kendall,
    f"Spearman{SYSTEMS}": lambda _, ranking: ranking.spearman if ranking else None,
    f"Kendall{SYSTEMS}": lambda _, ranking: ranking.kendall if ranking else None,
}
FIXED = "no interval of systems where every resample orders them alike: so few tell nothing of other systems"


def validity_table(entry: TableEntry, report: ValidityReport) -> Table:
    """Rows: a metric's measure and a dimension; columns: Spearman and Kendall over reviews and over systems.

    `measures` chooses among these, each with ` p` behind it for its p-value, and the accuracy of a decision tree.
    """
    wanted = entry.dimensions or ((entry.dimension,) if entry.dimension else ())
    found = [m for m in report.metrics if not wanted or m.dimension in wanted]
    if not found:
        known = ", ".join(dict.fromkeys(m.dimension for m in report.metrics))
        raise UserError(f"nobody judged {', '.join(wanted)}", remedy=f"there is: {known}")
    words = entry.metrics or ((entry.metric,) if entry.metric else ())
    found = [m for m in found if not words or m.baseline or any(_is_called(m, word) for word in words)]
    if entry.of in _OF:
        return _OF[entry.of](entry, report, [m for m in found if not m.baseline])
    several = len({m.dimension for m in found}) > 1
    columns = entry.measures or tuple(_FIGURES)
    rows = [row for m in found for row in _rows(m, several, columns)]
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


def _classes_table(entry: TableEntry, report: ValidityReport, found: Sequence[MetricValidity]) -> Table:
    """Rows: a metric and a grade; columns: how a decision tree over the metric finds it (GradedReviews, Table 4)."""
    rows, splits = [], ""
    for m in found:
        for tree in (one for one in m.classifiers if one.name == TREE):
            splits = f"over {tree.splits} splits of {tree.n_train:,} and {tree.n_test:,} reviews"
            for one in (*tree.rows, tree.macro):
                named = (m.label, "macro" if one is tree.macro else f"{one.grade:g}")
                ends = [
                    (one.precision, one.precision_low, one.precision_high),
                    (one.recall, one.recall_low, one.recall_high),
                ]
                figures = [*ends, (one.f1, one.f1_low, one.f1_high)]
                cells = [
                    Value(value=v, low=a, high=b, n=tree.splits, fake=m.fake) if v is not None else DASH
                    for v, a, b in figures
                ]
                rows.append((*(Value(text=text) for text in named), *cells))
    return study_table(
        entry,
        ("metric", "grade", "precision", "recall", "F1"),
        rows,
        names=2,
        provenance=_provenance(report, found),
        notes=(
            f"means {splits}, with the range of the splits: a decision tree over the metric, taught on SMOTE's rows",
        ),
    )


def _distribution_table(entry: TableEntry, report: ValidityReport, found: Sequence[MetricValidity]) -> Table:
    """Rows: a metric and a grade; columns: the quartiles of the metric's values (GradedReviews, Figures 4 to 7)."""
    rows = []
    for m in found:
        for one in m.grades:
            ends = (one.minimum, one.q1, one.median.value, one.q3, one.maximum)
            cells = [Value(value=value, n=one.n, unit=m.unit, fake=m.fake) for value in ends]
            median = {"low": one.median.low, "high": one.median.high}
            cells[2] = cells[2].model_copy(update=median)
            rows.append((Value(text=m.label), Value(text=f"{one.grade:g}"), *cells, Value(value=one.n, unit="count")))
    return study_table(
        entry,
        ("metric", "grade", "lowest", "quartile 1", "median", "quartile 3", "highest", "reviews"),
        rows,
        names=2,
        plot=Plot(kind="box", columns=(2, 3, 4, 5, 6)),
        provenance=_provenance(report, found),
    )


def _heat_table(entry: TableEntry, report: ValidityReport, found: Sequence[MetricValidity]) -> Table:
    """Rows: a metric and a predicted grade; columns: people's grades (GradedReviews, Figures 8 and 9)."""
    maps = [(m, m.heat_map) for m in found if m.heat_map is not None]
    if not maps:
        raise UserError("no metric predicts grades", remedy='leave of = "heat map" out')
    rows, notes = [], []
    for m, heat in maps:
        n = sum(map(sum, heat.counts))
        for grade, counts in zip(heat.grades, heat.counts, strict=True):
            cells = (Value(value=count, n=n, unit="count", fake=m.fake) for count in counts)
            rows.append((Value(text=m.label), Value(text=f"{grade:g}"), *cells))
        same = Value(value=heat.exact.value, low=heat.exact.low, high=heat.exact.high, n=n, fake=m.fake)
        rows.append(
            (Value(text=m.label), Value(text="the same grade"), same, *[Value(text="")] * (len(heat.grades) - 1))
        )
        notes.append(f"{m.label}: grades by {heat.predicted_by}")
    table = study_table(
        entry,
        ("metric", "grade", *(f"{grade:g}" for grade in maps[0][1].grades)),
        rows,
        names=2,
        provenance=_provenance(report, found),
        notes=("rows: the grade that is predicted, columns: people's", *notes),
    )
    return table.model_copy(update={"shaded": True})


def _is_called(metric: MetricValidity, word: str) -> bool:
    return (
        word.replace('"', "'").replace(" ", "") == metric.label.replace(" ", "")
        or word == metric.label.partition("(")[0]
    )


_OF: Mapping[str, Callable[[TableEntry, ValidityReport, Sequence[MetricValidity]], Table]] = {
    "grades": _grades_table,
    "classes": _classes_table,
    "distribution": _distribution_table,
    "heat map": _heat_table,
}


def _provenance(report: ValidityReport, found: Sequence[MetricValidity]) -> str:
    counts, rows = sorted({one.correlations[0].rows.rows for one in found}), found[0].correlations[0].rows
    judged = " to ".join(f"{count:,}" for count in dict.fromkeys([counts[0], counts[-1]]))
    return (
        f"people and metrics on {report.dataset}, {report.reviews:,} reviews of {report.cases:,} changes, "
        f"{judged} of them judged by people and scored, benchmark {report.benchmark[:12]}; "
        f"{report.level:.0%} intervals: {report.resamples:,} bootstrap resamples of {rows.clusters} clusters "
        f"({rows.clustered_by}), seed {report.seed}"
    )


def _rows(metric: MetricValidity, several: bool, columns: Sequence[str]) -> Iterator[tuple[Value, ...]]:
    """One for all reviews, and one for each other set of them (`grade < 5`)."""
    named = f"{metric.label}: {metric.measure}"
    label = metric.label if metric.baseline or metric.measure in ("mean", "") else named
    for at, found in enumerate(metric.correlations[:1] if metric.baseline else metric.correlations):
        ranking = metric.ranking if at == 0 else None
        yield (
            Value(text=label if at == 0 else f"{label} ({found.rows.name})"),
            *([Value(text=metric.dimension)] if several else []),
            *(_figure(column, metric, found, ranking) for column in columns),
        )


def _figure(column: str, metric: MetricValidity, found: Correlations, ranking: Ranking | None) -> Value:
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
