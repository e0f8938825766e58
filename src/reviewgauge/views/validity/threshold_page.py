"""The thresholds of `validate --sweep` as a page: plots and the table behind them, a section a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from reviewgauge.analysis import threshold as published
from reviewgauge.core.reports.threshold import FittedThreshold, ThresholdReport
from reviewgauge.views.html import table_html
from reviewgauge.views.report.report import render_page
from reviewgauge.views.validity import threshold_plots as plots
from reviewgauge.views.validity import words
from reviewgauge.views.validity.threshold_tables import footnotes, model_tables, paper_table, thresholds_table


class Plot(NamedTuple):
    """A drawing with what stands below it."""

    caption: str
    drawing: Markup


class ModelView(NamedTuple):
    """One model."""

    name: str
    spec: str
    random: str
    plots: list[Plot]
    tables: list[tuple[str, Markup]]


def threshold_page(report: ThresholdReport) -> str:
    """The page."""
    return render_page(
        "threshold.html.j2",
        ["report.css", "validity.css"],
        {},
        title=f"Thresholds by the reviews of {report.system}",
        summary=table_html(thresholds_table(report)),
        models=[_model(fit, f"m{number}") for number, fit in enumerate(report.fits, 1)],
        paper=table_html(paper_table()),
        notes=list(footnotes(report)),
    )


def _model(fit: FittedThreshold, name: str) -> ModelView:
    bold = "In bold: the fitted threshold"
    return ModelView(
        name=fit.model,
        spec=fit.spec,
        random=_random(fit),
        plots=list(_plots(fit, name)),
        tables=[(one.title, table_html(one.model_copy(update={"title": bold}))) for one in model_tables(fit)],
    )


def _random(fit: FittedThreshold) -> str:
    if (found := fit.random) is None:
        return "Too few sentences for random pairs."
    return (
        f"{found.n:,} random pairs of {found.sentences:,} sentences have a mean similarity of "
        f"{words.coefficient(found.mean)} and a standard deviation of {words.coefficient(found.deviation)}: five "
        f"deviations above the mean is {words.coefficient(found.threshold)} "
        f"(the paper, with its model: {published.FIVE_SIGMA:g}). "
        f"{found.above:.2%} of the pairs lie above it; of a normal distribution it would be 0.00003%."
    )


def _plots(fit: FittedThreshold, name: str) -> Iterator[Plot]:
    drawn: Sequence[tuple[bool, str, Callable[[], str]]] = (
        (
            fit.here.spearman is not None,
            "Correlation of rel with people: Spearman solid with its interval, Kendall dashed; upright: the threshold",
            lambda: plots.correlation(fit, f"{name}c"),
        ),
        (
            fit.here.sentence is not None,
            "Links beside people's: F1 solid, precision dashed, recall dotted; upright: the threshold",
            lambda: plots.links(fit, f"{name}l"),
        ),
    )
    yield from (Plot(caption, Markup(draw())) for shown, caption, draw in drawn if shown)
