"""The thresholds of `validate --sweep` as a document: plots and the table behind them, a section a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reviewgauge.analysis import threshold as published
from reviewgauge.core.document import Block, Chart, Document, Section, Series, Text, Value
from reviewgauge.core.reports.threshold import FittedThreshold, ThresholdReport
from reviewgauge.views.leaderboard import note
from reviewgauge.views.validity import words
from reviewgauge.views.validity.threshold_tables import footnotes, model_tables, paper_table, thresholds_table


def threshold_document(report: ThresholdReport) -> Document:
    """The summary and what it rests on, then every model, then what the paper prints."""
    return Document(
        headline=f"Thresholds by the reviews of {report.system}",
        blocks=(
            thresholds_table(report),
            *map(note, footnotes(report)),
            *(Section(title=fit.model, blocks=tuple(_model(fit))) for fit in report.fits),
            Section(title="In the paper", blocks=(paper_table(),)),
        ),
    )


def _model(fit: FittedThreshold) -> Iterator[Block]:
    yield Text(text=fit.spec)
    yield Text(text=_random(fit))
    yield from _charts(fit)
    for at, table in enumerate(model_tables(fit)):
        bold = table.model_copy(update={"title": "In bold: the fitted threshold"})
        yield Section(title=table.title, blocks=(bold,), folded=at > 0)


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


def _charts(fit: FittedThreshold) -> Iterator[Chart]:
    if fit.here.spearman is not None:
        correlations = {"Spearman": [p.spearman for p in fit.points], "Kendall": [p.kendall for p in fit.points]}
        yield _chart(fit, "Correlation of rel with people, with its interval", correlations)
    if fit.here.sentence is not None:
        rates = {
            name: [getattr(p.sentence, name.lower(), None) for p in fit.points]
            for name in ("F1", "precision", "recall")
        }
        yield _chart(fit, "Links beside people's", rates)


def _chart(fit: FittedThreshold, title: str, lines: Mapping[str, list[Value | None]]) -> Chart:
    at = [point.threshold for point in fit.points]
    return Chart(
        title=title,
        caption="upright: the threshold",
        series=tuple(
            Series(name=name, points=tuple((x, one or Value()) for x, one in zip(at, found, strict=True)))
            for name, found in lines.items()
        ),
        across="threshold",
        upright=(fit.here.threshold,),
        band=True,
    )
