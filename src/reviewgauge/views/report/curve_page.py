"""The curve of `reviewgauge compare --attempts` as a page: a plot for each measure, and the table behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from reviewgauge.core.reports.curve import Curve, CurvePoint
from reviewgauge.views import figures
from reviewgauge.views.report.plots import highest
from reviewgauge.views.report.report import render_page
from reviewgauge.views.report.shapes import Scale, grid, line, point, svg_of, text, ticks
from reviewgauge.views.terminal.curves import compared, footnotes, measures_of, name_of

WIDTH, HEIGHT, LEFT, TOP = 326, 200, 34, 10  # pixels
LOOKS = {"votes": ("accent", 'stroke-width="2"'), "model": ("false", 'stroke-width="2" stroke-dasharray="6 3"')}
"""The colour of each curve, and how it is drawn."""
_ASIDE = 5  # pixels, so that the intervals of both are seen
_FAINT = 'stroke-width="2.5" stroke-opacity="0.35"'


def curve_page(curve: Curve) -> str:
    """The page."""
    measures = measures_of(curve)
    names = [figures.label(name) for name in measures]
    return render_page(
        "curve.html.j2",
        ["report.css"],
        {},
        title=f"{', '.join(curve.systems)}: how many attempts are worth it",
        fake=any(one.summary.fake for one in curve.points),
        plots=[Markup(plot(curve, measure, f"plot-{n}")) for n, measure in enumerate(measures[:3])],
        head=["put together by", "n", "subsets", *names, "scored"],
        rows=[list(_row(curve, one, measures)) for one in curve.points],
        sentences=[compared(one) for one in curve.comparisons.comparisons] if curve.comparisons else [],
        notes=list(footnotes(curve)),
    )


def _row(curve: Curve, one: CurvePoint, measures: Sequence[str]) -> Iterator[str]:
    yield from (name_of(curve, one), str(one.n), str(one.subsets))
    for measure in measures:
        found = figures.estimate(one.summary, measure)
        bounds = figures.interval(found.low, found.high, found.unit)
        yield f"{figures.number(found.value, found.unit)} {bounds}".rstrip()
    yield f"{one.summary.scored}/{one.summary.cases}"


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
