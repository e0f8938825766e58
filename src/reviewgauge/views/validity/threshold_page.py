"""The thresholds of `validate --sweep` as a page: plots and the table behind them, a section a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from reviewgauge.analysis.threshold import published
from reviewgauge.core.reports.threshold import FittedThreshold, LinkRates, ThresholdPoint, ThresholdReport
from reviewgauge.views import figures
from reviewgauge.views.report.report import render_page
from reviewgauge.views.validity import threshold_plots as plots
from reviewgauge.views.validity import words
from reviewgauge.views.validity.threshold_tables import HEAD, footnotes, paper_rows, row

RATES = ("precision", "recall", "f1")
_PAPER = {point.threshold: point for point in published.POINTS}


class Plot(NamedTuple):
    """A drawing with what stands below it."""

    caption: str
    drawing: Markup


class Table(NamedTuple):
    """A table with a row a threshold; `own` is the number of the row of the fitted one."""

    name: str
    head: list[str]
    rows: list[list[str]]
    own: int


class ModelView(NamedTuple):
    """One model."""

    name: str
    spec: str
    random: str
    plots: list[Plot]
    tables: list[Table]


def threshold_page(report: ThresholdReport) -> str:
    """The page."""
    return render_page(
        "threshold.html.j2",
        ["report.css", "validity.css"],
        {},
        title=f"Thresholds by the reviews of {report.system}",
        head=list(HEAD),
        summary=[*([fit.model, *row(fit)] for fit in report.fits), *paper_rows()],
        models=[_model(fit, f"m{number}") for number, fit in enumerate(report.fits, 1)],
        paper=[[f"{point.threshold:g}", *map(words.coefficient, point[1:])] for point in published.POINTS],
        notes=list(footnotes(report)),
    )


def _model(fit: FittedThreshold, name: str) -> ModelView:
    return ModelView(
        name=fit.model,
        spec=fit.spec,
        random=_random(fit),
        plots=list(_plots(fit, name)),
        tables=list(_tables(fit)),
    )


def _tables(fit: FittedThreshold) -> Iterator[Table]:
    """The correlations, then the links in both measures; with the paper's figures where the model is the paper's."""
    own, same = fit.points.index(fit.here), published.is_published(fit.model)
    if (here := fit.here.spearman) is not None:
        head = ["threshold", "Kendall", "Spearman", *(["Kendall, paper", "Spearman, paper"] if same else [])]
        rows = [[f"{p.threshold:g}", *_correlations(p), *_paper(p, ("kendall", "spearman"), same)] for p in fit.points]
        yield Table(f"Correlation of rel with people, n = {figures.count(here.n)} reviews", head, rows, own)
    measures: tuple[tuple[str, Callable[[ThresholdPoint], LinkRates | None], bool], ...] = (
        ("a claim is close when a sentence is, as the metric has it", lambda point: point.sentence, False),
        ("a claim is close to the whole review, as in the paper's code", lambda point: point.review, same),
    )
    for how, measure, beside in measures:
        if (links := measure(fit.here)) is None:
            continue
        head = ["threshold", "close", "precision", "recall", "F1", *([f"{name}, paper" for name in RATES] * beside)]
        rows = [[f"{p.threshold:g}", *_rates(measure(p)), *_paper(p, RATES, beside)] for p in fit.points]
        pairs = f"{figures.count(links.f1.n)} pairs, {figures.count(links.recall.n)} addressed"
        yield Table(f"Links beside people's: {how}; {pairs}", head, rows, own)


def _correlations(point: ThresholdPoint) -> Iterator[str]:
    yield from (words.with_bounds(found) for found in (point.kendall, point.spearman) if found is not None)


def _rates(rates: LinkRates | None) -> Iterator[str]:
    if rates is not None:
        yield figures.count(rates.precision.n)
        yield from (words.with_bounds(found) for found in (rates.precision, rates.recall, rates.f1))


def _paper(point: ThresholdPoint, names: Sequence[str], shown: bool) -> Iterator[str]:
    """The paper's figures at this threshold, dashes where it has none; nothing for another model."""
    paper = _PAPER.get(point.threshold)
    if shown:
        yield from (words.coefficient(getattr(paper, name) if paper else None) for name in names)


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
    if fit.random is not None:
        caption = "Similarity of random sentences; the line is a normal distribution; upright: five sigma"
        yield Plot(caption, Markup(plots.histogram(fit.random, f"{name}h")))
        caption = "Its quantiles beside those of a normal distribution, which would lie on the line"
        yield Plot(caption, Markup(plots.quantiles(fit.random, f"{name}q")))
