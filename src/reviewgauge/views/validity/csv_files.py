"""The tables of a validity report as CSV: one row a figure, nothing rounded.

Every row starts with the metric and its notes, so that a copied row keeps them. An undefined value is an empty cell,
with its reason in the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from reviewgauge.core.document import Value
from reviewgauge.core.reports.validity import MetricValidity, ValidityReport
from reviewgauge.views import figures
from reviewgauge.views.csv import Row, to_csv
from reviewgauge.views.validity import words

FIGURE = "value, low, high, n, p, reason"
METRIC = ("metric", "label", "measure", "unit", "note", "dimension")


def csv_tables(report: ValidityReport) -> dict[str, str]:
    """File name -> its text, one file a table; tables without rows are left out."""
    found = {"about.csv": _text(("what", "value"), list(_about(report)))}
    labels = list(_labels(report))
    if labels:
        found["human_labels.csv"] = _text(("dimension", "consensus", "of", "which", "rows"), labels)
    for name, (columns, rows) in TABLES.items():
        table = [[*_metric_columns(metric), *row] for metric in report.metrics for row in rows(metric)]
        if table:
            found[f"{name}.csv"] = _text([*METRIC, *columns.split(", ")], table)
    if report.differences:
        head = f"dimension, metric, measure, other, other measure, rho, other rho, {FIGURE}".split(", ")
        found["differences.csv"] = _text(head, list(_differences(report)))
    if report.published:
        head = ["dimension", "metric", "rows", "name", "value", "source"]
        found["published.csv"] = _text(head, list(_published(report)))
    return found


def _published(report: ValidityReport) -> Iterator[Row]:
    for one in report.published:
        yield one.dimension, one.metric, one.rows, one.name, one.value, one.source


def _differences(report: ValidityReport) -> Iterator[Row]:
    for d in report.differences:
        pair = (d.dimension, d.metric, d.measure, d.other, d.other_measure, d.value, d.other_value)
        yield *pair, *_figure(d.difference)


def _metric_columns(metric: MetricValidity) -> Row:
    note = "; ".join(filter(None, ("fake" if metric.fake else "", metric.estimate_note)))
    return metric.metric, metric.label, metric.measure, metric.unit, note, metric.dimension


def _about(report: ValidityReport) -> Iterator[Row]:
    facts = report.model_dump(include={"dataset", "benchmark", "cases", "reviews", "resamples", "seed", "level"})
    yield from facts.items()
    for caution in words.cautions(report):
        yield "warning", caution
    yield from dict.fromkeys(pin for metric in report.metrics for pin in metric.pins.items())


def _labels(report: ValidityReport) -> Iterator[Row]:
    for summary in report.labels:
        consensus = int(summary.consensus)
        for value, n in summary.distribution.items():
            yield summary.dimension, consensus, "value", value, n
        for rater, n in summary.raters.items():
            yield summary.dimension, consensus, "rater", rater, n


def _text(head: Sequence[str], rows: Sequence[Row]) -> str:
    """The table as CSV, with the control characters of its texts made visible."""
    return to_csv(head, ([figures.visible(cell) if isinstance(cell, str) else cell for cell in row] for row in rows))


def _figure(figure: Value) -> Row:
    return figure.value, figure.low, figure.high, figure.n, figure.p, figure.reason


def _values(figure: Value | None) -> Row:
    """Value and interval of a figure, three empty cells without one."""
    return (figure.value, figure.low, figure.high) if figure else (None, None, None)


TABLES: Mapping[str, tuple[str, Callable[[MetricValidity], Iterable[Row]]]] = {
    "correlations": (
        f"row set, coefficient, {FIGURE}, clusters, left out",
        lambda m: (
            (
                part.rows.name,
                name,
                *_figure(getattr(part, name)),
                part.rows.clusters,
                "; ".join(f"{n} {why}" for why, n in part.rows.left_out.items()),
            )
            for part in m.correlations
            for name in ("pearson", "spearman", "kendall")
        ),
    ),
    "grades": (
        "grade, n, minimum, q1, median, median low, median high, q3, maximum, mean, mean low, mean high",
        lambda m: (
            (r.grade, r.n, r.minimum, r.q1, *_values(r.median), r.q3, r.maximum, *_values(r.mean)) for r in m.grades
        ),
    ),
    "density": (
        "grade, n, score, density",
        lambda m: ((r.grade, r.n, score, density) for r in m.grades for score, density in r.density),
    ),
    "ks": (
        "first, second, statistic, low, high, p, n first, n second, reason",
        lambda m: ((c.first, c.second, c.statistic, c.low, c.high, c.p, c.n_first, c.n_second, c.reason) for c in m.ks),
    ),
    "classifiers": (
        "classifier, splits, n train, grade, precision, lowest precision, highest precision, recall, lowest recall, "
        "highest recall, f1, lowest f1, highest f1, support",
        lambda m: (
            (
                *(c.name, c.splits, c.n_train, "macro" if r is c.macro else r.grade),
                *(r.precision, r.precision_low, r.precision_high),
                *(r.recall, r.recall_low, r.recall_high, r.f1, r.f1_low, r.f1_high, r.support),
            )
            for c in m.classifiers
            for r in (*c.rows, c.macro)
        ),
    ),
    "accuracies": (
        f"classifier, figure, {FIGURE}",
        lambda m: (
            (c.name, name, *_figure(figure))
            for c in m.classifiers
            for name, figure in (
                ("accuracy", c.accuracy),
                ("balanced accuracy", c.balanced_accuracy),
                ("quadratic weighted kappa", c.kappa_quadratic),
            )
        ),
    ),
    "auc": (
        f"cut, positives, {FIGURE}, best threshold, its precision, its recall, its f1, its f1 low, its f1 high",
        lambda m: (
            (
                *(s.cut, s.positives, *_figure(s.auc)),
                *(getattr(s.best, name, None) for name in ("threshold", "precision", "recall", "f1")),
                *_values(s.best_f1)[1:],
            )
            for s in m.sweeps
        ),
    ),
    "thresholds": (
        "cut, positives, n, threshold, precision, recall, f1",
        lambda m: (
            (s.cut, s.positives, s.n, p.threshold, p.precision, p.recall, p.f1) for s in m.sweeps for p in s.points
        ),
    ),
    "calibrated": (
        f"method, folds, grouped by, {FIGURE}, learned, warning",
        lambda m: ((c.method, c.folds, c.grouped_by, *_figure(c.spearman), c.learned, c.warning) for c in m.calibrated),
    ),
    "heat_map": (
        "predicted, human, count, predicted by",
        lambda m: (
            (grade, human, count, heat.predicted_by)
            for heat in filter(None, [m.heat_map])
            for grade, counts in zip(heat.grades, heat.counts, strict=True)
            for human, count in zip(heat.grades, counts, strict=True)
        ),
    ),
    "predicted_grades": (
        f"figure, {FIGURE}, predicted by",
        lambda m: (
            (name, *_figure(figure), heat.predicted_by)
            for heat in filter(None, [m.heat_map])
            for name, figure in (("same grade", heat.exact), ("quadratic weighted kappa", heat.kappa_quadratic))
        ),
    ),
    "ranking": (
        "system, human, human low, human high, human rank, mean, mean low, mean high, rank, n",
        lambda m: (
            (p.system, *_values(p.human), p.human_rank, *_values(p.metric), p.metric_rank, p.human.n)
            for ranking in filter(None, [m.ranking])
            for p in ranking.systems
        ),
    ),
    "references": (
        "system, human, human rank, among, n",
        lambda m: (
            (p.system, p.mean, p.rank, p.among, p.n)
            for ranking in filter(None, [m.ranking])
            for p in ranking.references
        ),
    ),
    "rank_agreement": (
        f"coefficient, {FIGURE}, left out",
        lambda m: (
            (name, *_figure(getattr(ranking, name)), "; ".join(ranking.left_out))
            for ranking in filter(None, [m.ranking])
            for name in ("spearman", "kendall")
        ),
    ),
    "slices": (
        f"fact, fact value, coefficient, {FIGURE}",
        lambda m: (
            (r.fact, r.value, name, *_figure(getattr(r, name))) for r in m.slices for name in ("spearman", "kendall")
        ),
    ),
    "misjudged": (
        "side, case, system, score, human, score rank, human rank, review, reference",
        lambda m: (
            (side, r.case, r.system, r.score, r.human, r.score_rank, r.human_rank, r.hypothesis, r.reference)
            for side, rows in (("over", m.over), ("under", m.under))
            for r in rows
        ),
    ),
    "opposite_ends": (
        "low cut, high cut, lowest grade, highest grade, n over, n under, of, over, over low, over high, under, "
        "under low, under high, spearman without, spearman low, spearman high, kendall without, "
        "kendall low, kendall high",
        lambda m: (
            (
                *(e.low_cut, e.high_cut, e.lowest, e.highest, e.n_over, e.n_under, e.over.n),
                *(value for figure in (e.over, e.under, e.spearman, e.kendall) for value in _values(figure)),
            )
            for e in filter(None, [m.ends])
        ),
    ),
    "traits": (
        "trait, trait unit, over, under, all, n over, n under, n all, over less all, over less all low, "
        "over less all high, under less all, under less all low, under less all high",
        lambda m: (
            (
                *(r.trait, r.unit, r.over, r.under, r.all, r.n_over, r.n_under, r.n_all),
                *(*_values(r.over_less_all), *_values(r.under_less_all)),
            )
            for r in m.traits
        ),
    ),
}
"""Table -> (its columns after those of the metric, the function of its rows)."""
