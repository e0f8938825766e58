"""One self-contained HTML file: which metric agrees with people, on which rows, with what certainty."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from reviewgauge.core.document import Plot, Value
from reviewgauge.core.reports.validity import (
    Classifier,
    ClassRow,
    HeatMap,
    KsCell,
    LabelSummary,
    MetricValidity,
    RowSet,
    Sweep,
    ValidityReport,
)
from reviewgauge.views import figures
from reviewgauge.views.html import table_html
from reviewgauge.views.pages import render_page
from reviewgauge.views.shapes import SERIES
from reviewgauge.views.table_plots import drawing
from reviewgauge.views.validity import plots, published, words
from reviewgauge.views.validity.metric_tables import (
    Called,
    metric_tables,
    overview_table,
    row_sets_table,
    slices_table,
)
from reviewgauge.views.validity.published import Printed

WIDE, FULL, NARROW, SMALL = 520, 1080, 326, 326  # widths of figures in pixels
MOST_COLUMNS = 8  # metrics in the ranking plot; the table has all
MOST_NAMED = len(SERIES)
MOST_TEXT = 1500  # shown characters of a text; --json has all
SHADES = 10  # steps of a heat map's colour


class ClassPair(NamedTuple):
    """One grade under the first classifier (the tree) and under the others."""

    grade: float
    support: float
    rows: tuple[ClassRow | None, ...]


class SweepView(NamedTuple):
    """A threshold sweep with its drawing, if any."""

    found: Sweep
    drawing: Markup


@dataclass(frozen=True)
class MetricView:
    """One metric on one dimension."""

    metric: MetricValidity
    name: str
    anchor: str
    spearman: Value
    tables: Mapping[str, Markup]
    violins: Markup
    sweep: SweepView | None
    ks: dict[tuple[float, float], KsCell]
    classes: list[ClassPair]

    @property
    def behind(self) -> list[Markup]:
        """The tables behind the figures."""
        return [self.tables[name] for name in ("grades", "ks", "auc") if name in self.tables]


class FactView(NamedTuple):
    """The correlations by the values of one fact; whether papers print any."""

    fact: str
    table: Markup
    printed: bool


@dataclass(frozen=True)
class DimensionView:
    """All metrics on one dimension, best first."""

    name: str
    anchor: str
    answer: str
    remarks: list[str]
    paired: list[str]
    labels: LabelSummary | None
    metrics: list[MetricView]
    overview: Markup
    row_sets: Markup
    drawings: dict[str, Markup]
    undefined: list[str]
    systems: list[str]
    facts: list[FactView]
    printed: list[Printed]
    printed_order: list[Printed]
    printed_means: dict[str, dict[str, tuple[float, int]]]
    printed_ends: list[Printed]
    papers: str

    @property
    def counts(self) -> list[int]:
        """The numbers of rows of the correlations, each once."""
        return sorted({view.spearman.n or 0 for view in self.metrics})

    @property
    def rows(self) -> RowSet | None:
        """The rows of the first metric that has any."""
        return next((view.metric.correlations[0].rows for view in self.metrics if view.metric.correlations), None)

    @property
    def grades(self) -> list[float]:
        """Every human value with scores of a metric."""
        return sorted({row.grade for view in self.metrics for row in view.metric.grades})

    @property
    def unnamed(self) -> list[MetricView]:
        """The metrics whose sensitivity lines are grey."""
        drawn = {words.key(m) for m in plots.moving([view.metric for view in self.metrics])[MOST_NAMED:]}
        return [view for view in self.metrics if words.key(view.metric) in drawn]

    @property
    def ranked(self) -> list[MetricView]:
        """The metrics with a ranking of systems."""
        return [view for view in self.metrics if view.metric.ranking is not None]


def render(report: ValidityReport) -> str:
    """The report as one HTML document that needs no network and no other file."""
    called = words.names(report)
    dimensions = [
        _dimension(report, dimension, called, f"d{number}")
        for number, dimension in enumerate(words.dimensions(report), 1)
    ]
    return render_page(
        "validity.html.j2",
        styles=("report.css", "validity.css"),
        words=_words(),
        report=report,
        dimensions=dimensions,
        cautions=words.cautions(report),
        estimates=list(dict.fromkeys(m.estimate_note for m in report.metrics if m.estimate_note)),
        fake=any(m.fake for m in report.metrics),
        signatures=list(dict.fromkeys((called[words.key(m)], m.metric, m.measure, m.unit) for m in report.metrics)),
        pins=list(dict.fromkeys(pin for m in report.metrics for pin in m.pins.items())),
    )


def _words() -> dict[str, object]:
    return {
        "coefficient": words.coefficient,
        "bounds": words.bounds,
        "score": words.score,
        "grade": words.grade,
        "place_of_reference": words.place_of_reference,
        "falls": words.falls,
        "ends": words.ends,
        "count": figures.count,
        "excerpt": excerpt,
        "heat": heat,
        "shade": lambda share: round(SHADES * share),
        "on_range": plots.on_range,
        "class_cells": ("precision", "recall", "f1"),
    }


def _dimension(report: ValidityReport, dimension: str, called: Called, anchor: str) -> DimensionView:
    metrics = words.best_first(report, dimension)
    views = [_metric(metric, called, f"{anchor}m{number}") for number, metric in enumerate(metrics, 1)]
    ranked = [m.ranking for m in metrics if m.ranking is not None]
    people = {p.system: p.human_rank for ranking in reversed(ranked) for p in ranking.systems}
    systems = sorted(people, key=lambda system: (people[system], system))
    printed = published.printed(report, dimension)
    title = "Agreement of the scores with people on all rows, best first"
    overview = overview_table(metrics, called, printed, title=title, parts=False)
    return DimensionView(
        name=dimension,
        anchor=anchor,
        answer=words.trust(report, dimension),
        remarks=words.remarks(report, dimension),
        paired=words.paired(report, dimension),
        labels=words.labels_of(report, dimension),
        metrics=views,
        overview=table_html(overview, ranked=True, links=[view.anchor for view in views]),
        row_sets=table_html(row_sets_table(metrics, called)),
        drawings=_drawings(metrics, called, anchor),
        undefined=words.undefined(metrics, called),
        systems=systems,
        facts=list(_facts(report, dimension, metrics, called)),
        printed=printed,
        printed_order=published.printed(report, dimension, published.SYSTEMS),
        printed_means=published.means(report, dimension, systems),
        printed_ends=published.printed(report, dimension, published.ENDS),
        papers=published.sources(report, dimension),
    )


def _facts(
    report: ValidityReport,
    dimension: str,
    metrics: Sequence[MetricValidity],
    called: Called,
) -> Iterator[FactView]:
    """A table for each fact that the correlations are broken down by."""
    facts: dict[str, dict[str, None]] = {}
    for row in (row for metric in metrics for row in metric.slices):
        facts.setdefault(row.fact, {})[row.value] = None
    for fact, values in facts.items():
        printed = published.by_value(report, dimension, fact, list(values))
        yield FactView(fact, table_html(slices_table(metrics, called, fact, printed)), bool(printed))


def _drawings(metrics: Sequence[MetricValidity], called: Called, anchor: str) -> dict[str, Markup]:
    drawn = {}
    table = overview_table(metrics, called, (), title="Spearman on every set of rows", parts=True)
    forest = table.model_copy(update={"plot": Plot(kind="forest", columns=(2,))})
    for size, width in (("wide", WIDE), ("narrow", NARROW)):
        if any(m.correlations for m in metrics):
            drawn[f"forest_{size}"] = drawing(forest, f"{anchor}f{size[0]}", width)
        if any(len(m.grades) > 1 for m in metrics):
            drawn[f"sensitivity_{size}"] = plots.sensitivity(metrics, called, f"{anchor}s{size[0]}", width)
    ranked = [m for m in metrics if m.ranking is not None][:MOST_COLUMNS]
    if ranked:
        drawn["bump_wide"] = plots.bump(ranked, called, f"{anchor}bw", FULL, numbered=False)
        drawn["bump_narrow"] = plots.bump(ranked, called, f"{anchor}bn", NARROW, numbered=True)
    return {key: Markup(drawing) for key, drawing in drawn.items()}


def _metric(metric: MetricValidity, called: Called, anchor: str) -> MetricView:
    violins = plots.violins(metric, f"{anchor}v", SMALL) if metric.grades else ""
    main = words.main_sweep(metric)
    swept = plots.sweep(main, metric.unit, f"{anchor}t", SMALL) if main and main.points else ""
    return MetricView(
        metric=metric,
        name=called[words.key(metric)],
        anchor=anchor,
        spearman=words.spearman(metric),
        tables={name: table_html(table) for name, table in metric_tables(metric).items()},
        violins=Markup(violins),
        sweep=SweepView(main, Markup(swept)) if main else None,
        ks={pair: cell for cell in metric.ks for pair in ((cell.first, cell.second), (cell.second, cell.first))},
        classes=_classes(metric.classifiers),
    )


def _classes(classifiers: Sequence[Classifier]) -> list[ClassPair]:
    """The grades of all classifiers, each with one row a classifier."""
    tables = [{row.grade: row for row in c.rows} for c in classifiers]
    supports = {grade: row.support for table in reversed(tables) for grade, row in table.items()}
    return [
        ClassPair(grade, support, tuple(table.get(grade) for table in tables))
        for grade, support in sorted(supports.items())
    ]


def heat(counts: HeatMap, value: int) -> int:
    """The shade of a cell, 0 to 10 by the logarithm of its count."""
    most = max((n for row in counts.counts for n in row), default=0)
    return round(SHADES * math.log1p(value) / math.log1p(most)) if most else 0


def excerpt(text: str) -> tuple[str, int]:
    """The beginning of a text, and the number of characters not shown."""
    return text[:MOST_TEXT], max(0, len(text) - MOST_TEXT)
