"""The curve of `reviewgauge compare --attempts`: one table, for the terminal, and as a page with its plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewgauge.core.document import Chart, Column, Document, Section, Series, Table, Text, Value
from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.curve import Curve, CurvePoint
from reviewgauge.core.reports.leaderboard import Comparison
from reviewgauge.views import figures
from reviewgauge.views.leaderboard import SHORT
from reviewgauge.views.pages import document_page
from reviewgauge.views.values import note, or_dash

MOST_CHARTS = 3
_BESIDE = ("precision", "recall", "comments_per_change")  # the headline


def curve_document(curve: Curve) -> Document:
    """The table, then comparisons and settings."""
    pairs = curve.comparisons.comparisons if curve.comparisons is not None else ()
    said = (Text(text=compared(one), kind="strong") for one in pairs)
    return Document(blocks=(curve_table(curve), *said, *map(note, footnotes(curve))))


def curve_table(curve: Curve) -> Table:
    """One line a number of attempts, first by votes, then by the model."""
    measures = measures_of(curve)
    failed = any(point.summary.failed for point in curve.points)
    return Table(
        name="attempts",
        title="",
        columns=(
            Column(key="put together by", kind="name", priority=0),
            Column(key="n", kind="figure", priority=0),
            Column(key="subsets", kind="figure", priority=2),
            *(_column(curve, name) for name in measures),
            Column(key="scored", kind="of"),
            *([Column(key="failed", kind="figure")] if failed else []),
        ),
        rows=tuple(tuple(_cells(curve, point, measures, failed)) for point in curve.points),
        shown=1_000_000,
    )


def _column(curve: Curve, measure: str) -> Column:
    return Column(
        key=measure,
        title=figures.label(measure),
        short=SHORT.get(measure, ""),
        priority=0 if measure == curve.headline else 1,
    )


def _cells(curve: Curve, point: CurvePoint, measures: Sequence[str], failed: bool) -> Iterator[Value]:
    summary = point.summary
    yield Value(text=name_of(curve, point))
    yield from (Value(value=n, unit="count") for n in (point.n, point.subsets))
    yield from (or_dash(summary.estimate(name), fake=False) for name in measures)  # a footnote says it
    yield Value(value=summary.scored, n=summary.cases, unit="count")
    yield from [Value(value=summary.failed, unit="count")] * failed


def measures_of(curve: Curve) -> Sequence[str]:
    """The measures that are shown, the headline first."""
    known = {e.measure for point in curve.points for e in point.summary.estimates}
    return [curve.headline, *(name for name in _BESIDE if name in known and name != curve.headline)]


def name_of(curve: Curve, point: CurvePoint) -> str:
    """What put the attempts of a point together."""
    return {"alone": "(one attempt)", "votes": "votes", "model": one_line(curve.model, 40)}[point.by]


def compared(one: Comparison) -> str:
    """A comparison as a sentence."""
    bounds = figures.interval(one.low, one.high, one.unit)
    difference = f"{figures.signed(one.difference, one.unit)} {bounds}".rstrip()
    tested = f"{figures.label(one.measure)}, {figures.p_clause(one.p_holm)} (Holm)"
    return f"{one.first} less {one.second}: {difference} {tested}"


def footnotes(curve: Curve) -> Iterator[str]:
    """What the figures rest on; warnings begin with `!`."""
    votes = f"{curve.least} votes" if curve.least else "more than half of the votes"
    yield f"{curve.stored} attempts of {', '.join(curve.systems)}; {votes} keep a finding, compared by {curve.judge}"
    yield (
        f"{curve.label or curve.metric} on {curve.dataset}, benchmark {figures.short_hash(curve.benchmark)}; "
        f"{curve.clusters} clusters by {curve.clustered_by}; {curve.resamples:,} resamples, seed {curve.seed}"
    )
    yield from (f"! {warning}" for warning in (curve.estimate_note, *curve.warnings) if warning)


# --- the page --------------------------------------------------------------------------------------------------------


def curve_page(curve: Curve) -> str:
    """The page: the answer, a chart a measure, the table and what it rests on."""
    pairs = curve.comparisons.comparisons if curve.comparisons is not None else ()
    fake = Text(text="A fake model answered: these figures do not apply to a real one.", kind="warning")
    charts = Section(title="By number of attempts", blocks=tuple(_charts(curve)))
    document = Document(
        headline=f"{', '.join(curve.systems)}: how many attempts are worth it",
        blocks=(
            *([fake] if any(one.summary.fake for one in curve.points) else []),
            *(Text(text=compared(one), kind="strong") for one in pairs),
            charts,
            curve_table(curve).model_copy(update={"title": "All points"}),
            *map(note, footnotes(curve)),
        ),
    )
    return document_page(document)


def _charts(curve: Curve) -> Iterator[Chart]:
    return (chart(curve, measure) for measure in measures_of(curve)[:MOST_CHARTS])


def chart(curve: Curve, measure: str) -> Chart:
    """One measure by the number of attempts: votes, and the model; both lines begin at the one attempt alone."""
    alone = [one for one in curve.points if one.by == "alone"]
    lines = {by: [one for one in curve.points if one.by == by] for by in ("votes", "model")}
    return Chart(
        title=figures.label(measure),
        caption="both begin at one attempt alone; upright: 95% intervals",
        series=tuple(
            Series(
                name=by,
                points=tuple((float(one.n), or_dash(one.summary.estimate(measure))) for one in (*alone, *own)),
            )
            for by, own in lines.items()
            if own or by == "votes"
        ),
        across="attempts",
        ticks=tuple(sorted({float(one.n) for one in curve.points})),
        from_zero=True,
    )
