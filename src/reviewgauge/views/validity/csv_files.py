"""The tables of a validity report as CSV: one row a figure, nothing rounded.

Every row starts with the metric and its notes, so that a copied row keeps them. An undefined value is an empty cell,
with its reason in the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from reviewgauge.core.reports.validity import Classifier, ClassRow, Correlations, Figure, MetricValidity, ValidityReport
from reviewgauge.views.csv_tables import Row, to_csv
from reviewgauge.views.terminal import figures
from reviewgauge.views.validity import words

FIGURE = ("value", "low", "high", "level", "n", "p", "reason")
METRIC = ("metric", "label", "reading", "unit", "note", "dimension")


def csv_tables(report: ValidityReport) -> dict[str, str]:
    """File name -> its text, one file a table; tables without rows are left out."""
    found = {"about.csv": _text(("what", "value"), list(_about(report)))}
    labels = list(_labels(report))
    if labels:
        found["human_labels.csv"] = _text(("dimension", "consensus", "of", "which", "rows"), labels)
    for name, (columns, rows) in TABLES.items():
        table = [[*_metric_columns(metric), *row] for metric in report.metrics for row in rows(metric)]
        if table:
            found[f"{name}.csv"] = _text([*METRIC, *columns], table)
    return found


def _metric_columns(metric: MetricValidity) -> Row:
    note = "; ".join(filter(None, ("fake" if metric.fake else "", metric.estimate_note)))
    return metric.metric, metric.label, metric.reading, metric.unit, note, metric.dimension


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


def _figure(figure: Figure) -> Row:
    return figure.value, figure.low, figure.high, figure.level, figure.n, figure.p, figure.reason


def _correlations(metric: MetricValidity) -> Iterator[Row]:
    def row(part: Correlations, name: str, figure: Figure) -> Row:
        left_out = "; ".join(f"{n} {why}" for why, n in part.rows.left_out.items())
        return (part.rows.name, name, *_figure(figure), part.rows.clusters, left_out)

    for part in metric.correlations:
        yield row(part, "pearson", part.pearson)
        yield row(part, "spearman", part.spearman)
        yield row(part, "kendall", part.kendall)


def _grades(metric: MetricValidity) -> Iterator[Row]:
    for row in metric.grades:
        median, mean = row.median, row.mean
        yield (
            *(row.grade, row.n, row.minimum, row.q1, median.value, median.low, median.high, row.q3, row.maximum),
            *(mean.value, mean.low, mean.high),
        )


def _ks(metric: MetricValidity) -> Iterator[Row]:
    for cell in metric.ks:
        yield (
            *(cell.first, cell.second, cell.statistic, cell.low, cell.high, cell.p, cell.n_first, cell.n_second),
            cell.reason,
        )


def _classifiers(metric: MetricValidity) -> Iterator[Row]:
    def row(found: Classifier, name: str | float, rates: ClassRow) -> Row:
        return (
            *(found.name, found.splits, found.n_train, name),
            *(rates.precision, rates.precision_low, rates.precision_high),
            *(rates.recall, rates.recall_low, rates.recall_high),
            *(rates.f1, rates.f1_low, rates.f1_high, rates.support),
        )

    for found in metric.classifiers:
        for rates in found.rows:
            yield row(found, rates.grade, rates)
        yield row(found, "macro", found.macro)


def _accuracies(metric: MetricValidity) -> Iterator[Row]:
    for found in metric.classifiers:
        yield found.name, "accuracy", *_figure(found.accuracy)
        yield found.name, "balanced accuracy", *_figure(found.balanced_accuracy)
        yield found.name, "quadratic weighted kappa", *_figure(found.kappa_quadratic)


def _density(metric: MetricValidity) -> Iterator[Row]:
    for row in metric.grades:
        for score, density in row.density:
            yield row.grade, row.n, score, density


def _sweeps(metric: MetricValidity) -> Iterator[Row]:
    for sweep in metric.sweeps:
        best = sweep.best
        at = (best.threshold, best.precision, best.recall, best.f1) if best else (None,) * 4
        f1 = sweep.best_f1
        bounds = (f1.low, f1.high) if f1 else (None,) * 2
        yield sweep.cut, sweep.positives, *_figure(sweep.auc), *at, *bounds


def _thresholds(metric: MetricValidity) -> Iterator[Row]:
    for sweep in metric.sweeps:
        for point in sweep.points:
            yield sweep.cut, sweep.positives, sweep.n, point.threshold, point.precision, point.recall, point.f1


def _calibrated(metric: MetricValidity) -> Iterator[Row]:
    for found in metric.calibrated:
        yield found.method, found.folds, found.grouped_by, *_figure(found.spearman), found.learned, found.warning


def _reliability(metric: MetricValidity) -> Iterator[Row]:
    for found in metric.calibrated:
        for point in found.reliability:
            yield found.method, point.predicted, *_figure(point.observed)


def _heat_map(metric: MetricValidity) -> Iterator[Row]:
    heat = metric.heat_map
    for grade, counts in zip(heat.grades, heat.counts, strict=True) if heat else ():
        for human, count in zip(heat.grades if heat else (), counts, strict=True):
            yield grade, human, count, heat.predicted_by if heat else ""


def _agreement(metric: MetricValidity) -> Iterator[Row]:
    heat = metric.heat_map
    if heat:
        yield "same grade", *_figure(heat.exact), heat.predicted_by
        yield "quadratic weighted kappa", *_figure(heat.kappa_quadratic), heat.predicted_by


def _ranking(metric: MetricValidity) -> Iterator[Row]:
    for point in metric.ranking.systems if metric.ranking else ():
        yield (
            *(point.system, point.human.value, point.human.low, point.human.high, point.human_rank),
            *(point.metric.value, point.metric.low, point.metric.high, point.metric_rank, point.human.n),
        )


def _rank_agreement(metric: MetricValidity) -> Iterator[Row]:
    if metric.ranking:
        left_out = "; ".join(metric.ranking.left_out)
        yield "spearman", *_figure(metric.ranking.spearman), left_out
        yield "kendall", *_figure(metric.ranking.kendall), left_out


def _slices(metric: MetricValidity) -> Iterator[Row]:
    for row in metric.slices:
        yield row.fact, row.value, *_figure(row.spearman)


def _misjudged(metric: MetricValidity) -> Iterator[Row]:
    for side, rows in (("over", metric.over), ("under", metric.under)):
        for row in rows:
            yield (
                *(side, row.case, row.system, row.score, row.human, row.score_rank, row.human_rank),
                *(row.hypothesis, row.reference),
            )


def _traits(metric: MetricValidity) -> Iterator[Row]:
    for row in metric.traits:
        sides = [(f.value, f.low, f.high) if f else (None,) * 3 for f in (row.over_less_all, row.under_less_all)]
        yield (
            *(row.trait, row.unit, row.over, row.under, row.all, row.n_over, row.n_under, row.n_all),
            *(*sides[0], *sides[1]),
        )


TABLES: Mapping[str, tuple[Sequence[str], Callable[[MetricValidity], Iterator[Row]]]] = {
    "correlations": (("row set", "coefficient", *FIGURE, "clusters", "left out"), _correlations),
    "grades": (
        (
            *("grade", "n", "minimum", "q1", "median", "median low", "median high", "q3", "maximum"),
            *("mean", "mean low", "mean high"),
        ),
        _grades,
    ),
    "density": (("grade", "n", "score", "density"), _density),
    "ks": (("first", "second", "statistic", "low", "high", "p", "n first", "n second", "reason"), _ks),
    "classifiers": (
        (
            *("classifier", "splits", "n train", "grade", "precision", "lowest precision", "highest precision"),
            *("recall", "lowest recall", "highest recall", "f1", "lowest f1", "highest f1", "support"),
        ),
        _classifiers,
    ),
    "accuracies": (("classifier", "figure", *FIGURE), _accuracies),
    "auc": (
        (
            *("cut", "positives", *FIGURE, "best threshold", "its precision", "its recall", "its f1"),
            *("its f1 low", "its f1 high"),
        ),
        _sweeps,
    ),
    "thresholds": (("cut", "positives", "n", "threshold", "precision", "recall", "f1"), _thresholds),
    "calibrated": (("method", "folds", "grouped by", *FIGURE, "learned", "warning"), _calibrated),
    "reliability": (("method", "predicted", *FIGURE), _reliability),
    "heat_map": (("predicted", "human", "count", "predicted by"), _heat_map),
    "predicted_grades": (("figure", *FIGURE, "predicted by"), _agreement),
    "ranking": (
        (
            *("system", "human", "human low", "human high", "human rank"),
            *("mean", "mean low", "mean high", "rank", "n"),
        ),
        _ranking,
    ),
    "rank_agreement": (("coefficient", *FIGURE, "left out"), _rank_agreement),
    "slices": (("fact", "fact value", *FIGURE), _slices),
    "misjudged": (
        ("side", "case", "system", "score", "human", "score rank", "human rank", "review", "reference"),
        _misjudged,
    ),
    "traits": (
        (
            *("trait", "trait unit", "over", "under", "all", "n over", "n under", "n all"),
            *("over less all", "over less all low", "over less all high"),
            *("under less all", "under less all low", "under less all high"),
        ),
        _traits,
    ),
}
"""Table -> (its columns after those of the metric, the function of its rows)."""
