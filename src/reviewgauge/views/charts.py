"""Charts as SVG: lines of whatever data with their intervals, and each figure in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, groupby

from reviewgauge.core.document import Chart, Series, Value
from reviewgauge.views.shapes import LETTER, SERIES, Frame, cut, look_of, steps, svg_of, text
from reviewgauge.views.values import number

WIDTH, HEIGHT, LEFT, TOP = 326, 200, 40.0, 8.0  # pixels
NAMED_WIDTH = 170  # pixels of the names beside lines at most
TICK_WIDTH = 90  # pixels of the name of a place across
GAP = 13  # pixels at least between two of them
ASIDE = 5  # pixels between the intervals of two lines at most, so that both are seen
MOST_DOTS = 30  # points of a line that are drawn


def chart_svg(chart: Chart, name: str) -> str:
    """The chart as SVG; empty where there is nothing to draw."""
    if not any(_known(one) for one in chart.series):
        return ""
    frame = _frame(chart)
    for at in chart.upright:
        frame.upright(at)
    for order, series in reversed(list(enumerate(chart.series))):  # the first is drawn last, on top
        _line(frame, chart, series, order)
    named = 0.0
    if len(chart.series) > 1:
        named = min(NAMED_WIDTH, max(len(one.name) for one in chart.series[: len(SERIES)]) * LETTER + 6)
        _names(frame, chart, named)
    size = (frame.left + frame.width + 8 + named, frame.top + frame.height + 40)
    return svg_of(name, chart.title, _said(chart), size, frame.marks)


def _figure(one: Value) -> float | None:
    return one.value if one.value is not None and math.isfinite(one.value) else None


def _known(series: Series) -> list[tuple[float, float, Value]]:
    return [(at, value, one) for at, one in series.points if (value := _figure(one)) is not None]


def _said(chart: Chart) -> str:
    places = dict(zip(chart.ticks, chart.named, strict=False))
    lines = (
        ", ".join(f"{number(value, one.unit, 3)} at {places.get(at, f'{at:g}')}" for at, value, one in _known(series))
        for series in chart.series
    )
    return "; ".join(f"{one.name}: {line}" for one, line in zip(chart.series, lines, strict=True))


def _frame(chart: Chart) -> Frame:
    known = [row for series in chart.series for row in _known(series)]
    across = [at for at, *_ in known] + list(chart.ticks) + list(chart.upright)
    values = [end for _, value, one in known for end in (value, one.low, one.high) if end is not None]
    low, high = min(across), max(across)
    edge = (high - low or 1.0) / 20
    bottom, top = min([0.0] * chart.from_zero + values), max(values)
    room = (top - bottom) * 0.05 or 0.05
    up = (bottom if chart.from_zero else bottom - room, top + room)
    width, height = WIDTH - LEFT - 8, HEIGHT
    if ranks := all(one.unit == "rank" for _, _, one in known):
        up, height = (top + 0.5, 0.5), max(HEIGHT, int(16 * top))
    names = [cut(name, TICK_WIDTH) for name in chart.named] or [f"{at:g}" for at in chart.ticks]
    width = max(width, TICK_WIDTH * len(chart.named))
    frame = Frame(LEFT, TOP, width, height, (low - edge, high + edge), up)
    share = all(one.unit in ("share", "coefficient") for _, _, one in known)
    frame.grid_up(share=share and not ranks)
    ticks = list(zip(chart.ticks, names, strict=True)) or steps(*frame.across, 5, True)
    frame.ticks_across(ticks, chart.across)
    return frame


def _line(frame: Frame, chart: Chart, series: Series, order: int) -> None:
    """A line through neighbours; an undefined figure breaks it. Intervals stand beside those of other lines."""
    colour, look = look_of(order)
    known = _known(series)
    if chart.band:
        ends = [(at, one.low, one.high) for at, _, one in known if one.low is not None and one.high is not None]
        outline = [*((at, low) for at, low, _ in ends), *((at, high) for at, _, high in reversed(ends))]
        frame.area(outline, look=f'fill="var(--{colour})" fill-opacity="0.15" stroke-opacity="0"')
    else:
        shift = (order - (len(chart.series) - 1) / 2) * min(ASIDE, 20 / len(chart.series))
        aside = shift * (frame.across[1] - frame.across[0]) / frame.width
        for at, _, one in known:
            frame.interval(at + aside, one.low, one.high, look='stroke-width="2" stroke-opacity="0.5"', colour=colour)
    for defined, piece in groupby(series.points, key=lambda pair: _figure(pair[1]) is not None):
        if defined:
            frame.path([(at, one.value or 0.0) for at, one in piece], look=look, colour=colour)
    if len(known) <= MOST_DOTS:
        for at, value, _ in known:
            frame.point(at, value, 3.2, colour=colour)


def _names(frame: Frame, chart: Chart, width: float) -> None:
    """The names of the lines at their ends, where they do not cover each other; one in grey has none."""
    ends = sorted(
        (frame.y(known[-1][1]) - frame.top, order)
        for order, series in enumerate(chart.series[: len(SERIES)])
        if (known := _known(series))
    )
    right = frame.left + frame.width + 6
    for place, (_, order) in zip(spread([place for place, _ in ends], frame.height), ends, strict=True):
        name, colour = cut(chart.series[order].name, width), look_of(order)[0]
        frame.marks.append(text(right, frame.top + place, name, colour=colour))


def spread(places: Sequence[float], height: float, gap: float = GAP) -> list[float]:
    """Ascending positions, moved at least `gap` apart and not beyond `height`, in pixels."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    down = accumulate(reversed(moved), lambda below, place: min(place, below - gap), initial=height + gap)
    return list(down)[:0:-1]
