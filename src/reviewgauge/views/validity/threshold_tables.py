"""The thresholds of `validate --sweep` for the terminal, the paper's below ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from reviewgauge.analysis.threshold import published
from reviewgauge.core.reports.threshold import FittedThreshold, ThresholdReport
from reviewgauge.core.reports.validity import Figure
from reviewgauge.core.specs import in_shell
from reviewgauge.views import figures
from reviewgauge.views.terminal.tables import NARROW, Fitted, bare_table, notes_below, number_column, plain
from reviewgauge.views.validity import words

BAND = 0.1 + 1e-9  # on both sides of a threshold
PAPER = {"paper (mxbai)": published.RULE, "... by people": published.REFERENCES}
HEAD = ("threshold", "Spearman there", "within .1", "best", "Spearman", "F1 of links", "5 sigma")
_FEW = 4  # columns on a narrow terminal


def thresholds(report: ThresholdReport) -> list[object]:
    """One line a model and one for the paper's; the command that uses each, and what the figures rest on."""
    table = Fitted(lambda width: _table(report, len(HEAD) if width > NARROW else _FEW))
    uses = [f"$ reviewgauge score RUN {in_shell(fit.spec)}" for fit in report.fits]
    return [table, "", *uses, "", notes_below(*footnotes(report))]


def _table(report: ThresholdReport, columns: int) -> RenderableType:
    table = bare_table()
    table.add_column("model", overflow="fold")
    for name in HEAD[:columns]:
        number_column(table, name)
    for fit in report.fits:
        table.add_row(plain(fit.model, 60), *row(fit)[:columns])
    for name, *cells in paper_rows():
        table.add_row(Text(name), *cells[:columns], style="dim")
    return table


def row(fit: FittedThreshold) -> list[str]:
    """The cells of a model, in the order of HEAD."""
    here, best, random = fit.here, fit.best, fit.random
    return [
        words.with_bounds(fit.threshold),
        _shown(here.spearman),
        band(fit),
        words.coefficient(best.threshold) if best else figures.UNDEFINED,
        words.coefficient(best.spearman.value if best and best.spearman else None),
        words.coefficient(here.sentence.f1.value if here.sentence else None),
        words.coefficient(random.threshold if random else None),
    ]


def band(fit: FittedThreshold) -> str:
    """The lowest and the highest Spearman of the thresholds near the fitted one."""
    near = [p.spearman.value for p in fit.points if p.spearman and abs(p.threshold - fit.here.threshold) <= BAND]
    return _between([value for value in near if value is not None])


def paper_rows() -> list[list[str]]:
    """The paper's lines: the threshold by GPT-3.5's reviews, and the one by people's comments."""
    best = max(published.POINTS, key=lambda point: point.spearman)
    return [
        [
            name,
            words.coefficient(here.threshold),
            words.coefficient(here.spearman),
            _between([p.spearman for p in published.POINTS if abs(p.threshold - here.threshold) <= BAND]),
            words.coefficient(best.threshold),
            words.coefficient(best.spearman),
            words.coefficient(here.f1),
            words.coefficient(published.FIVE_SIGMA),
        ]
        for name, threshold in PAPER.items()
        for here in published.POINTS
        if here.threshold == threshold
    ]


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


def _shown(figure: Figure | None) -> str:
    return words.with_bounds(figure) if figure is not None else figures.UNDEFINED


def _between(values: Sequence[float]) -> str:
    if not values:
        return figures.UNDEFINED
    return f"{words.coefficient(min(values))} to {words.coefficient(max(values))}"
