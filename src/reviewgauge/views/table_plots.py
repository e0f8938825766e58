"""Drawings of tables, from what a table says of them: the page's colours, nothing active, words for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from reviewgauge.core.document import Table, Value
from reviewgauge.views import figures
from reviewgauge.views.shapes import (
    LETTER,
    SERIES,
    Frame,
    Scale,
    box,
    cut,
    grid,
    line,
    look_of,
    path,
    point,
    steps,
    svg_of,
    text,
    ticks,
)
from reviewgauge.views.values import number, shown

WIDTH, ROW = 520, 24  # pixels
MOST_SERIES = len(SERIES)  # of a radar chart; the table has all
MOST_BARS, MOST_SETS = 16, 10  # of an UpSet plot
POINT = 5.0  # half the side of the square that a point takes, in pixels
NEAR, FAR = 9.0, 22.0
LATER = 2.5  # square pixels of overlap that are better than the next candidate
F_LINES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
FAINT = 'stroke-width="1.5" stroke-opacity="0.3"'
HALO = ' stroke="var(--paper)" stroke-width="3" paint-order="stroke"'
Rows = Sequence[tuple[Value, ...]]


def drawing(table: Table, name: str, width: int = WIDTH, top: float = 0.0) -> str:
    """The table's plot as SVG; empty where it has none, or nothing to draw. `top`: the end of a forest's axis."""
    if table.plot is None:
        return ""
    rows = [row for row in table.rows if any(row[at].value is not None for at in table.plot.columns)]
    if not rows:
        return ""
    if table.plot.kind in ("forest", "box"):
        return _forest(table, table.rows, name, width, top)
    if table.plot.kind == "scatter":
        return _scatter(table, rows, name, width)
    return _PLOTS[table.plot.kind](table, rows, name)


def highest(tables: Sequence[Table]) -> float:
    """The end of the axis that the forests of all these tables have room on."""
    cells = [row[at] for table in tables for row in table.rows for at in _columns(table)[:1]]
    return _top(cells)[0]


def _of(table: Table, rows: Rows) -> str:
    """What is drawn, in words for those who do not see it."""
    heads = table.titles
    return "; ".join(
        f"{row[0].text}: " + ", ".join(f"{heads[at]} {shown(row[at], published=False)}" for at in _columns(table))
        for row in rows
    )


def _columns(table: Table) -> tuple[int, ...]:
    assert table.plot is not None
    return table.plot.columns


def _top(cells: Sequence[Value]) -> tuple[float, bool]:
    """(the end of a scale from 0, whether it is one of shares)."""
    values = [v for c in cells for v in (c.value, c.high, c.published) if v is not None]
    share = all(c.unit in ("share", "coefficient") for c in cells if c.value is not None)
    most = max(values, default=1.0)
    return (min(1.0, max(0.1, math.ceil(most * 10 + 0.2) / 10)) if share else max(0.0, most) * 1.05 or 1.0), share


# --- forest ----------------------------------------------------------------------------------------------------------


def _forest(table: Table, rows: Rows, name: str, width: int, top: float) -> str:
    """A line a row with its interval, or its range with the middle half thick; what is undefined keeps its place."""
    columns = _columns(table)
    at = columns[len(columns) // 2]
    cells = [row[at] for row in rows]
    every = [row[column] for row in rows for column in columns]
    reach, share = _top(every)
    top = top or reach
    low = min([0.0, *(v for c in every for v in (c.value, c.low) if v is not None)])
    names = [cut(row[0].text, width * 0.4) for row in rows]
    left = max(map(len, names)) * LETTER + 12
    frame = Frame(left, 4, max(80, width - 74 - left), ROW * len(rows), (low, top), (0.0, 1.0))
    right, bottom = frame.left + frame.width, 4 + frame.height
    marks = [grid(label, frame.x(value), 4, bottom) for value, label in steps(low, top, 4, share)]
    for position, (shown_name, cell) in enumerate(zip(names, cells, strict=True)):
        y = 4 + ROW * (position + 0.5)
        marks.append(text(left - 8, y, shown_name, "end"))
        ends = [rows[position][column].value for column in columns]
        for first, last, wide in ((ends[0], ends[-1], 1.5), (ends[1], ends[-2], 7)) if len(ends) > 1 else ():
            if first is not None and last is not None:
                look = f'stroke-width="{wide}" stroke-opacity="0.55"'
                marks.append(line(frame.x(first), y, frame.x(last), y, look=look))
        if len(ends) == 1 and cell.low is not None and cell.high is not None:
            look = 'stroke-width="2.5" stroke-opacity="0.55"'
            marks.append(line(frame.x(cell.low), y, frame.x(cell.high), y, look=look))
        if cell.published is not None:
            x = frame.x(cell.published)
            marks.append(line(x, y - 7, x, y + 7, colour="false", look='stroke-width="2"'))
        if cell.value is not None:
            marks.append(point(frame.x(cell.value), y, 4.4))
        value = figures.UNDEFINED if cell.value is None else number(cell.value, cell.unit)
        marks.append(text(right + 8, y, value + (" fake" if any(one.fake for one in rows[position]) else "")))
    head = f"{table.titles[at]} with {'its middle half and its range' if len(columns) > 1 else 'intervals'}"
    head += "; upright: published" if any(c.published for c in cells) else ""
    return svg_of(name, head, _of(table, rows), (width, bottom + 24), marks)


# --- radar -----------------------------------------------------------------------------------------------------------


class _Spoke(NamedTuple):
    x: float
    y: float


def _radar(table: Table, rows: Rows, name: str) -> str:
    columns, rows = _columns(table), rows[:MOST_SERIES]
    top, share = _top([row[at].model_copy(update={"high": None}) for row in rows for at in columns])
    middle, radius, count = (WIDTH / 2, 168.0), 128.0, len(columns)
    angles = [2 * math.pi * at / count - math.pi / 2 for at in range(count)]
    spokes = [_Spoke(math.cos(angle), math.sin(angle)) for angle in angles]

    def place(spoke: _Spoke, value: float) -> tuple[float, float]:
        reach = radius * min(max(value / top, 0.0), 1.0)
        return middle[0] + reach * spoke.x, middle[1] + reach * spoke.y

    marks = []
    for value, label in ticks(top, 4, share):
        if value:
            ring = [place(spoke, value) for spoke in spokes]
            marks.append(path([*ring, ring[0]], look='fill="none" stroke-opacity="0.6"', colour="grid"))
            marks.append(text(middle[0] + 4, middle[1] - radius * value / top, label, colour="muted", look=HALO))
    for spoke, at in zip(spokes, columns, strict=True):
        marks.append(line(*middle, *place(spoke, top), colour="grid", look='stroke-opacity="0.6"'))
        x, y = middle[0] + (radius + 14) * spoke.x, middle[1] + (radius + 14) * spoke.y
        anchor = "middle" if abs(spoke.x) < 0.2 else "start" if spoke.x > 0 else "end"
        marks.append(text(x, y, cut(table.titles[at], 130), anchor))
    for order, row in enumerate(rows):
        colour, look = look_of(order)
        spots = [
            place(spoke, v) if (v := row[at].value) is not None else None
            for spoke, at in zip(spokes, columns, strict=True)
        ]
        for start, end in zip(spots, [*spots[1:], spots[0]], strict=True):
            if start is not None and end is not None:
                marks.append(path([start, end], look=look, colour=colour))
        marks += [point(*spot, 3, colour=colour) for spot in spots if spot is not None]
    bottom = middle[1] + radius + 40
    marks += list(_key(rows, bottom))
    return svg_of(
        name, f"{table.title}: one line a reviewer", _of(table, rows), (WIDTH, bottom + 18 * len(rows)), marks
    )


def _key(rows: Rows, top: float) -> Iterator[str]:
    for order, row in enumerate(rows):
        y = top + 18 * order
        colour, look = look_of(order)
        yield line(60, y, 92, y, colour=colour, look=look)
        yield text(100, y, cut(row[0].text, 400))


# --- stacked bars ----------------------------------------------------------------------------------------------------


def _stacked(table: Table, rows: Rows, name: str) -> str:
    columns = _columns(table)
    names = [cut(row[0].text, 170) for row in rows]
    left, right = max(map(len, names)) * LETTER + 12, WIDTH - 56
    marks = []
    x, top = left, 4.0
    for order, at in enumerate(columns):
        wide = len(table.titles[at]) * LETTER + 30
        if x > left and x + wide > WIDTH:
            x, top = left, top + 18
        marks += [box(x, top, 11, 11, _shade(order, len(columns))), text(x + 16, top + 6, table.titles[at])]
        x += wide
    for position, (shown_name, row) in enumerate(zip(names, rows, strict=True)):
        y = top + 22 + (ROW + 4) * position
        values = [row[at].value or 0.0 for at in columns]
        whole, x = sum(values) or 1.0, left
        marks.append(text(left - 8, y + 9, shown_name, "end"))
        for order, value in enumerate(values):
            wide = (right - left) * value / whole
            if wide > 0:
                marks.append(box(x, y, wide, 18, _shade(order, len(columns))))
            x += wide
        marks.append(text(right + 8, y + 9, number(whole, "count"), colour="muted"))
    heading = f"{table.title}: shares of {', '.join(table.titles[at] for at in columns)}"
    return svg_of(name, heading, _of(table, rows), (WIDTH, top + 26 + (ROW + 4) * len(rows)), marks)


def _shade(order: int, count: int) -> str:
    """From faint to full, so that an order shows without a colour."""
    opacity = 0.15 + 0.85 * order / max(1, count - 1)
    return f'fill="var(--accent)" fill-opacity="{opacity:.2f}" stroke="var(--paper)"'


# --- UpSet -----------------------------------------------------------------------------------------------------------

JOIN = " & "


def _upset(table: Table, rows: Rows, name: str) -> str:
    """Bars of how many findings each set of reviewers found, over a matrix of who is in the set."""
    at = _columns(table)[0]
    members = [row[0].text.split(JOIN) for row in rows]
    totals: dict[str, float] = {}
    for row, own in zip(rows, members, strict=True):
        for one in own:
            totals[one] = totals.get(one, 0.0) + (row[at].value or 0.0)
    nobody = [own for own in members if own == ["nobody"]]
    sets = sorted((one for one in totals if one != "nobody" or not nobody), key=lambda one: -totals[one])[:MOST_SETS]
    rows, members = rows[:MOST_BARS], members[:MOST_BARS]
    left, high, top = min(270.0, max(map(len, sets or [""])) * LETTER + 50), 110.0, 18.0
    step = min(30.0, (WIDTH - left - 8) / max(1, len(rows)))
    most = max(row[at].value or 0.0 for row in rows) or 1.0
    marks = []
    for order, one in enumerate(sets):
        y = top + high + 22 + 20 * order
        marks += [text(left - 14, y, f"{cut(one, left - 36)} {number(totals[one], 'count')}", "end")]
    for position, (row, own) in enumerate(zip(rows, members, strict=True)):
        x, value = left + step * (position + 0.5), row[at].value or 0.0
        tall = high * value / most
        marks.append(box(x - step * 0.32, top + high - tall, step * 0.64, tall, 'fill="var(--accent)"'))
        marks.append(text(x, top + high - tall - 8, number(value, "count"), "middle", colour="muted"))
        spots = [top + high + 22 + 20 * order for order, one in enumerate(sets) if one in own]
        for order in range(len(sets)):
            y = top + high + 22 + 20 * order
            marks.append(point(x, y, 4.6, colour="accent" if y in spots else "soft"))
        if len(spots) > 1:
            marks.append(line(x, spots[0], x, spots[-1], look='stroke-width="2"'))
        if own == ["nobody"]:
            marks.append(text(x, top + high + 10, "∅", "middle", colour="muted"))
    said = _of(table, rows)
    return svg_of(
        name, f"{table.title}: findings by who found them", said, (WIDTH, top + high + 30 + 20 * len(sets)), marks
    )


# --- one column against another ------------------------------------------------------------------------------------


def _scatter(table: Table, rows: Rows, name: str, width: int) -> str:
    """The second column (upwards) against the first, with intervals.

    Where both are shares there are lines of equal F1; where a third column says yes, that is the frontier.
    """
    across, up, *flag = _columns(table)
    known = [row for row in rows if row[across].value is not None and row[up].value is not None]
    if not known:
        return ""
    (wide, plain), (high, share) = (_top([row[at] for row in known]) for at in (across, up))
    left, inner = 52.0, width - 72.0
    height = min(inner, 320.0)
    x, y = Scale(wide, left, left + inner), Scale(high, height + 8, 8)
    marks = [
        line(left, *ends, colour="grid") for ends in ((8, left, height + 8), (height + 8, left + inner, height + 8))
    ]
    marks += _iso_lines(x, y) if plain and share and not flag else []
    unit = "" if plain else "$"
    marks += [text(x(v), height + 22, unit + at, "middle", colour="muted") for v, at in ticks(wide, 5, plain)]
    marks += [text(left - 6, y(v), at, "end", colour="muted") for v, at in ticks(high, 5, share)]
    marks.append(text(left + inner / 2, height + 40, table.titles[across], "middle", colour="muted"))
    turned = f' transform="rotate(-90 10 {height / 2:g})"'
    marks.append(text(10, height / 2, table.titles[up], "middle", colour="muted", look=turned))
    first = [not flag or row[flag[0]].text == "yes" for row in known]
    spots = [(x(row[across].value or 0.0), y(row[up].value or 0.0)) for row in known]
    best = sorted({spot for spot, one in zip(spots, first, strict=True) if one})
    marks += [path(best, look='fill="none" stroke-dasharray="4 3"')] if flag and len(best) > 1 else []
    for (at, level), row, one in zip(spots, known, first, strict=True):
        for cell, upright in ((row[across], False), (row[up], True)):
            if cell.low is not None and cell.high is not None:
                ends = (at, y(cell.low), at, y(cell.high)) if upright else (x(cell.low), level, x(cell.high), level)
                marks.append(line(*ends, look=FAINT))
        marks.append(point(at, level, 4.6, colour="accent" if one else "muted"))
    names = [cut(row[0].text) + " (fake)" * any(one.fake for one in row) for row in known]
    sizes = [Box(0, 0, len(one) * LETTER, 13) for one in names]
    labels = place_labels([(a - left, b - 8) for a, b in spots], sizes, inner, height)
    marks += [text(a + left, b + 8, one, look=HALO) for one, (a, b) in zip(names, labels, strict=True)]
    heading = f"{table.titles[up]} against {table.titles[across]}"
    said = _of(table, known)
    if missing := len(table.rows) - len(known):
        said += f"; {missing} without both are not shown"
    return svg_of(name, heading, said, (width, height + 52), marks)


class Box(NamedTuple):
    """A rectangle in pixels, y counted downwards."""

    left: float
    top: float
    width: float
    height: float

    def overlap(self, other: Box) -> float:
        """The shared area."""
        wide = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        high = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(0.0, wide) * max(0.0, high)


def place_labels(
    spots: Sequence[tuple[float, float]], sizes: Sequence[Box], width: float, height: float
) -> list[tuple[float, float]]:
    """(left, middle) of each label in pixels, without overlaps of labels and points where possible.

    Greedy in the given order: right, left, above and below the point, then the same further away.
    """
    taken = [Box(x - POINT, y - POINT, 2 * POINT, 2 * POINT) for x, y in spots]
    placed: list[tuple[float, float]] = []
    for (x, y), size in zip(spots, sizes, strict=True):
        candidates = _candidates(x, y, size)
        costs = [_cost(box, taken, width, height) + LATER * order for order, box in enumerate(candidates)]
        best = candidates[costs.index(min(costs))]
        taken.append(best)
        placed.append((best.left, best.top + best.height / 2))
    return placed


def _candidates(x: float, y: float, size: Box) -> list[Box]:
    w, h = size.width, size.height
    spots: list[tuple[float, float]] = []
    for gap in (NEAR, FAR):
        spots += [(x + gap, y), (x - gap - w, y)]
        spots += [(left, y + side * (gap + 3)) for left in (x + gap * 0.6, x - gap * 0.6 - w) for side in (-1, 1)]
        spots += [(x - w / 2, y + side * (gap + 4)) for side in (-1, 1)]
    return [Box(left, middle - h / 2, w, h) for left, middle in spots]


def _cost(box: Box, taken: Sequence[Box], width: float, height: float) -> float:
    inside = Box(0, 0, width + 20, height).overlap(box)
    outside = box.width * box.height - inside
    return sum(box.overlap(other) for other in taken) + 3 * outside


def _iso_lines(x: Scale, y: Scale) -> Iterator[str]:
    for f in F_LINES:
        start = f / 2 + 0.0005
        steps = [start + (x.top - start) * at / 60 for at in range(61)] if start < x.top else []
        curve = [(r, f * r / (2 * r - f)) for r in steps if f * r / (2 * r - f) <= y.top]
        if curve:
            path = "L".join(f"{x(r):.1f},{y(p):.1f}" for r, p in curve)
            yield f'<path d="M{path}" fill="none" stroke="var(--grid)" stroke-dasharray="3,3"/>'
            yield text(x(curve[-1][0]) + 3, y(curve[-1][1]), figures.number(f, digits=1), colour="muted")


_PLOTS: dict[str, Callable[[Table, Rows, str], str]] = {"radar": _radar, "stacked": _stacked, "upset": _upset}
