"""The thresholds of `validate --sweep` as tables, the paper's beside ours, and what the terminal says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from reviewgauge.analysis import threshold as published
from reviewgauge.core.document import Block, Chart, Column, ColumnKind, Document, Section, Series, Table, Text, Value
from reviewgauge.core.reports.threshold import FittedThreshold, LinkRates, ThresholdPoint, ThresholdReport
from reviewgauge.core.specs import in_shell
from reviewgauge.views import figures
from reviewgauge.views.validity import words
from reviewgauge.views.values import COEFFICIENT, coefficient, note, or_dash

BAND = 0.1 + 1e-9  # on both sides of a threshold
PAPER = {"paper (mxbai)": published.RULE, "... by people": published.REFERENCES}
RATES, RANKS = ("precision", "recall", "f1"), ("kendall", "spearman")
_PAPER = {point.threshold: point for point in published.POINTS}
_THRESHOLD = Column(key="threshold", kind="name", priority=0)
Row = tuple[Value, ...]


def thresholds(report: ThresholdReport) -> Document:
    """One line a model and one for the paper's; the command that uses each, and what the figures rest on."""
    uses = (Text(text=f"$ reviewgauge score RUN {in_shell(fit.spec)}") for fit in report.fits)
    return Document(blocks=(thresholds_table(report), *uses, *map(note, footnotes(report))))


def thresholds_table(report: ThresholdReport) -> Table:
    """Every model, then the paper's lines: the threshold by GPT-3.5's reviews, and the one by people's comments."""
    columns: tuple[tuple[str, ColumnKind, int], ...] = (
        ("model", "name", 0),
        ("threshold", "value", 0),
        ("Spearman there", "value", 0),
        ("within .1", "range", 1),
        ("best", "figure", 1),
        ("Spearman", "figure", 2),
        ("F1 of links", "figure", 2),
        ("5 sigma", "figure", 2),
    )
    return Table(
        name="thresholds",
        title="",
        columns=tuple(Column(key=key, kind=kind, priority=priority) for key, kind, priority in columns),
        rows=(*map(_model, report.fits), *_paper_rows()),
    )


def _model(fit: FittedThreshold) -> Row:
    here, best, random = fit.here, fit.best, fit.random
    near = [p.spearman.value for p in fit.points if p.spearman and abs(p.threshold - fit.here.threshold) <= BAND]
    return (
        Value(text=fit.model),
        or_dash(fit.threshold, COEFFICIENT),
        or_dash(here.spearman, COEFFICIENT),
        _between([value for value in near if value is not None]),
        coefficient(best.threshold if best else None),
        or_dash(best.spearman if best else None, COEFFICIENT),
        or_dash(here.sentence.f1 if here.sentence else None, COEFFICIENT),
        coefficient(random.threshold if random else None),
    )


def _paper_rows() -> Iterator[Row]:
    best = max(published.POINTS, key=lambda point: point.spearman)
    for name, threshold in PAPER.items():
        here = _PAPER[threshold]
        yield (
            Value(text=name),
            coefficient(here.threshold),
            coefficient(here.spearman),
            _between([p.spearman for p in published.POINTS if abs(p.threshold - here.threshold) <= BAND]),
            *map(coefficient, (best.threshold, best.spearman, here.f1, published.FIVE_SIGMA)),
        )


def _between(values: Sequence[float]) -> Value:
    if not values:
        return Value(text=figures.UNDEFINED)
    return Value(low=min(values), high=max(values), unit=COEFFICIENT)


def model_tables(fit: FittedThreshold) -> Iterator[Table]:
    """The correlations of every threshold, then the links in both measures; the paper's where the model is its own."""
    same = published.is_published(fit.model)
    if (here := fit.here.spearman) is not None:
        rows = [(_at(p), *_beside((p.kendall, p.spearman), RANKS, p, same)) for p in fit.points]
        title = f"Correlation of rel with people, n = {figures.count(here.n)} reviews"
        yield _points(fit, title, ("Kendall", "Spearman"), rows)
    measures: tuple[tuple[str, Callable[[ThresholdPoint], LinkRates | None], bool], ...] = (
        ("a claim is close when a sentence is, as the metric has it", lambda point: point.sentence, False),
        ("a claim is close to the whole review, as in the paper's code", lambda point: point.review, same),
    )
    for how, measure, beside in measures:
        if (links := measure(fit.here)) is not None:
            rows = [(_at(p), *_rates(found, p, beside)) for p in fit.points if (found := measure(p)) is not None]
            pairs = f"{figures.count(links.f1.n)} pairs, {figures.count(links.recall.n)} addressed"
            yield _points(fit, f"Links beside people's: {how}; {pairs}", ("close", "precision", "recall", "F1"), rows)


def _points(fit: FittedThreshold, title: str, heads: Sequence[str], rows: Sequence[Row]) -> Table:
    own = fit.points.index(fit.here)
    columns = (_THRESHOLD, *(Column(key=head, kind="figure" if head == "close" else "value") for head in heads))
    strong = tuple((own, at) for at in range(1, len(columns)))
    return Table(name="points", title=title, columns=columns, rows=tuple(rows), strong=strong, shown=len(rows))


def _at(point: ThresholdPoint) -> Value:
    return Value(text=f"{point.threshold:g}")


def _rates(rates: LinkRates, point: ThresholdPoint, beside: bool) -> Iterator[Value]:
    yield Value(value=rates.precision.n, unit="count")
    yield from _beside((rates.precision, rates.recall, rates.f1), RATES, point, beside)


def _beside(found: Sequence[Value | None], names: Sequence[str], point: ThresholdPoint, shown: bool) -> Iterator[Value]:
    """Our figures, with the paper's at this threshold where it has any and is `shown`."""
    paper = _PAPER.get(point.threshold) if shown else None
    for name, figure in zip(names, found, strict=True):
        yield or_dash(figure, COEFFICIENT).model_copy(update={"published": getattr(paper, name, None)})


def paper_table() -> Table:
    """All that the paper prints."""
    heads = ("precision", "recall", "F1", "Kendall", "Spearman")
    return Table(
        name="paper",
        title="Tables 4 and 18: mxbai-embed-large-v1, three languages; precision, recall and F1 of the review as one "
        "text",
        columns=(_THRESHOLD, *(Column(key=head, kind="figure") for head in heads)),
        rows=tuple((Value(text=f"{point.threshold:g}"), *map(coefficient, point[1:])) for point in published.POINTS),
    )


def footnotes(report: ThresholdReport) -> Iterator[str]:
    """What the figures rest on; warnings begin with `!`."""
    fit = report.fits[0]
    yield (
        f"the mean similarity of {figures.count(fit.threshold.n)} sentences to the closest claim on their change, in "
        f"{figures.count(fit.reviews)} reviews of {report.system} ({report.chosen}) on {figures.count(fit.changes)} "
        f"changes of {report.dataset}"
    )
    if fit.here.spearman is not None:
        rows = figures.count(fit.here.spearman.n)
        yield f"Spearman of rel with people's {report.dimension}, n = {rows} reviews; the best is chosen on these rows"
    if report.pairs:
        yield (
            f"links: {figures.count(report.addressed)} of {figures.count(report.pairs)} pairs of a claim and one of "
            f"{figures.count(report.linked)} reviews are addressed, by people; ours is close when a sentence is, the "
            "paper's code takes the review as one text"
        )
    yield (
        f"{figures.percent(report.level)} intervals: {report.resamples:,} resamples of changes (those with nearly "
        f"the same reference together), seed {report.seed}"
    )
    other = "" if any(published.is_published(one.model) for one in report.fits) else ", another embedder than ours"
    yield (
        f"the paper: {published.MODEL}{other}, three languages, {figures.count(published.ITEMS)} changes for the "
        "threshold; a threshold belongs to one embedder"
    )
    yield from (f"! {warning}" for warning in report.warnings)


def threshold_document(report: ThresholdReport) -> Document:
    """The summary and what it rests on, then every model, then what the paper prints."""
    return Document(
        headline=f"Thresholds by the reviews of {report.system}",
        blocks=(
            thresholds_table(report),
            *map(note, footnotes(report)),
            *(Section(title=fit.model, blocks=tuple(_model_section(fit))) for fit in report.fits),
            Section(title="In the paper", blocks=(paper_table(),)),
        ),
    )


def _model_section(fit: FittedThreshold) -> Iterator[Block]:
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
