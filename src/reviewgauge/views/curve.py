"""The curve of `reviewgauge compare --attempts`: one table, for the terminal, and as a page with its plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from reviewgauge.core.document import Column, Document, Table, Text, Value
from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.curve import Curve, CurvePoint
from reviewgauge.core.reports.leaderboard import Comparison
from reviewgauge.views import figures
from reviewgauge.views.html import table_html
from reviewgauge.views.leaderboard import SHORT, note, value_of
from reviewgauge.views.report.plots import highest
from reviewgauge.views.report.report import render_page
from reviewgauge.views.report.shapes import Scale, grid, line, point, svg_of, text, ticks

WIDTH, HEIGHT, LEFT, TOP = 326, 200, 34, 10  # pixels
LOOKS = {"votes": ("accent", 'stroke-width="2"'), "model": ("false", 'stroke-width="2" stroke-dasharray="6 3"')}
"""The colour of each curve, and how it is drawn."""
_ASIDE = 5  # pixels, so that the intervals of both are seen
_FAINT = 'stroke-width="2.5" stroke-opacity="0.35"'
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
    yield from (value_of(summary.estimate(name)) for name in measures)
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
    """The page."""
    measures = measures_of(curve)
    return render_page(
        "curve.html.j2",
        ["report.css"],
        {},
        title=f"{', '.join(curve.systems)}: how many attempts are worth it",
        fake=any(one.summary.fake for one in curve.points),
        plots=[Markup(plot(curve, measure, f"plot-{n}")) for n, measure in enumerate(measures[:3])],
        table=table_html(curve_table(curve).model_copy(update={"title": "All points"})),
        sentences=[compared(one) for one in curve.comparisons.comparisons] if curve.comparisons else [],
        notes=list(footnotes(curve)),
    )


def plot(curve: Curve, measure: str, name: str) -> str:
    """One measure by the number of attempts: votes as a line, the model as a dashed one, intervals upright.

    Both lines begin at the one attempt alone.
    """
    top = highest([one.summary for one in curve.points], measure)
    share = all(figures.estimate(one.summary, measure).unit == "share" for one in curve.points)
    sizes = sorted({one.n for one in curve.points})
    x = {n: LEFT + 16 + (WIDTH - LEFT - 40) * at / max(1, len(sizes) - 1) for at, n in enumerate(sizes)}
    y = Scale(top, HEIGHT, TOP)
    marks = [grid(str(n), x[n], TOP, HEIGHT) for n in sizes]
    for value, label in ticks(top, 4, share):
        marks += [line(LEFT, y(value), WIDTH - 8, y(value), look='stroke-opacity="0.5"', colour="grid")]
        marks += [text(LEFT - 6, y(value), label, "end", colour="muted")]
    alone = [one for one in curve.points if one.by == "alone"]
    for by in ("votes", "model"):
        own = [one for one in curve.points if one.by == by]
        marks += _path([*alone, *own] if own or by == "votes" else [], measure, x, y, LOOKS[by])
    marks.append(text(LEFT, HEIGHT + 32, f"{figures.label(measure)} by number of attempts", colour="muted"))
    said = "; ".join(
        f"{name_of(curve, one)} of {one.n}: {figures.number(figures.estimate(one.summary, measure).value)}"
        for one in curve.points
    )
    return svg_of(name, f"{figures.label(measure)} by number of attempts", said, (WIDTH, HEIGHT + 40), marks)


def _path(
    points: Sequence[CurvePoint], measure: str, x: dict[int, float], y: Scale, looks: tuple[str, str]
) -> Iterator[str]:
    colour, look = looks
    before: tuple[float, float] | None = None
    for one in points:
        found = figures.estimate(one.summary, measure)
        if found.value is None:
            before = None
            continue
        here = x[one.n] + _ASIDE * (one.by == "model"), y(found.value)
        if found.low is not None and found.high is not None:
            yield line(here[0], y(found.low), here[0], y(found.high), look=_FAINT, colour=colour)
        if before is not None:
            yield line(*before, *here, look=look, colour=colour)
        yield point(*here, 3.5, colour=colour)
        before = here
