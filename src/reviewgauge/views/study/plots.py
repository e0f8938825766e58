"""Drawings of a study's tables, from what the table says of them: the page's colours, nothing active, words for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from reviewgauge.core.document import Table, Value
from reviewgauge.views.report.plots import FAINT, HALO, LETTER, Box, cut, place_labels
from reviewgauge.views.report.shapes import Scale, grid, line, point, svg_of, text, ticks
from reviewgauge.views.values import number, shown

WIDTH, ROW = 520, 24  # pixels
SERIES = ("matched", "false", "duplicate", "missed", "unsure", "rejected", "ink", "muted")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "10 4", "4 2 1 2", "3 6")
MOST_SERIES = len(SERIES)  # of a radar chart; the table has all
MOST_BARS, MOST_SETS = 16, 10  # of an UpSet plot
Rows = Sequence[tuple[Value, ...]]


def drawing(table: Table, name: str) -> str:
    """The table's plot as SVG; empty where it has none, or nothing to draw."""
    if table.plot is None:
        return ""
    rows = [row for row in table.rows if any(row[at].value is not None for at in table.plot.columns)]
    return _PLOTS[table.plot.kind](table, rows, name) if rows else ""


def _of(table: Table, rows: Rows) -> str:
    """What is drawn, in words for those who do not see it."""
    assert table.plot is not None
    heads = table.titles
    return "; ".join(
        f"{row[0].text}: " + ", ".join(f"{heads[at]} {shown(row[at], published=False)}" for at in table.plot.columns)
        for row in rows
    )


def _columns(table: Table) -> tuple[int, ...]:
    assert table.plot is not None
    return table.plot.columns


def _top(cells: Sequence[Value]) -> tuple[float, bool]:
    """(the end of a scale from 0, whether it is one of shares)."""
    values = [v for c in cells for v in (c.value, c.high, c.published) if v is not None]
    share = all(c.unit == "share" for c in cells if c.value is not None)
    most = max(values, default=1.0)
    return (min(1.0, max(0.1, math.ceil(most * 10 + 0.2) / 10)) if share else most * 1.05 or 1.0), share


# --- forest ----------------------------------------------------------------------------------------------------------


def _forest(table: Table, rows: Rows, name: str) -> str:
    at = _columns(table)[0]
    cells = [row[at] for row in rows]
    top, share = _top(cells)
    low = min([0.0, *(v for c in cells for v in (c.value, c.low) if v is not None)])
    names = [cut(row[0].text, 210) for row in rows]
    left = max(map(len, names)) * LETTER + 12
    right, bottom = WIDTH - 60, 4 + ROW * len(rows)
    place = _between(low, top, left, right)
    marks = [grid(label, place(value), 4, bottom) for value, label in ticks(top, 5, share)]
    for position, (shown_name, cell) in enumerate(zip(names, cells, strict=True)):
        y = 4 + ROW * (position + 0.5)
        marks.append(text(left - 8, y, shown_name, "end"))
        if cell.value is None:
            continue
        if cell.low is not None and cell.high is not None:
            marks.append(line(place(cell.low), y, place(cell.high), y, look='stroke-width="2.5" stroke-opacity="0.55"'))
        if cell.published is not None:
            x = place(cell.published)
            marks.append(line(x, y - 7, x, y + 7, colour="false", look='stroke-width="2"'))
        marks += [point(place(cell.value), y, 4.4), text(WIDTH - 52, y, number(cell.value, cell.unit))]
    head = f"{table.titles[at]}, 95% intervals" + ("; upright: published" if any(c.published for c in cells) else "")
    return svg_of(name, head, _of(table, rows), (WIDTH, bottom + 24), marks)


def _between(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    return lambda value: start + (end - start) * (min(max(value, low), high) - low) / ((high - low) or 1.0)


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
            marks.append(_path([*ring, ring[0]], "grid", 'stroke-opacity="0.6"'))
            marks.append(text(middle[0] + 4, middle[1] - radius * value / top, label, colour="muted", look=HALO))
    for spoke, at in zip(spokes, columns, strict=True):
        marks.append(line(*middle, *place(spoke, top), colour="grid", look='stroke-opacity="0.6"'))
        x, y = middle[0] + (radius + 14) * spoke.x, middle[1] + (radius + 14) * spoke.y
        anchor = "middle" if abs(spoke.x) < 0.2 else "start" if spoke.x > 0 else "end"
        marks.append(text(x, y, cut(table.titles[at], 130), anchor))
    for order, row in enumerate(rows):
        look = f'stroke-width="2" stroke-dasharray="{DASHES[order]}"' if DASHES[order] else 'stroke-width="2"'
        spots = [
            place(spoke, v) if (v := row[at].value) is not None else None
            for spoke, at in zip(spokes, columns, strict=True)
        ]
        for start, end in zip(spots, [*spots[1:], spots[0]], strict=True):
            if start is not None and end is not None:
                marks.append(_path([start, end], SERIES[order], look))
        marks += [point(*spot, 3, colour=SERIES[order]) for spot in spots if spot is not None]
    bottom = middle[1] + radius + 40
    marks += list(_key(rows, bottom))
    return svg_of(
        name, f"{table.title}: one line a reviewer", _of(table, rows), (WIDTH, bottom + 18 * len(rows)), marks
    )


def _key(rows: Rows, top: float) -> Iterator[str]:
    for order, row in enumerate(rows):
        y = top + 18 * order
        look = f'stroke-width="2" stroke-dasharray="{DASHES[order]}"' if DASHES[order] else 'stroke-width="2"'
        yield line(60, y, 92, y, colour=SERIES[order], look=look)
        yield text(100, y, cut(row[0].text, 400))


def _path(spots: Sequence[tuple[float, float]], colour: str, look: str) -> str:
    path = "L".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    return f'<path d="M{path}" fill="none" stroke="var(--{colour})" {look}/>'


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
        marks += [_box(x, top, 11, 11, _shade(order, len(columns))), text(x + 16, top + 6, table.titles[at])]
        x += wide
    for position, (shown_name, row) in enumerate(zip(names, rows, strict=True)):
        y = top + 22 + (ROW + 4) * position
        values = [row[at].value or 0.0 for at in columns]
        whole, x = sum(values) or 1.0, left
        marks.append(text(left - 8, y + 9, shown_name, "end"))
        for order, value in enumerate(values):
            wide = (right - left) * value / whole
            if wide > 0:
                marks.append(_box(x, y, wide, 18, _shade(order, len(columns))))
            x += wide
        marks.append(text(right + 8, y + 9, number(whole, "count"), colour="muted"))
    heading = f"{table.title}: shares of {', '.join(table.titles[at] for at in columns)}"
    return svg_of(name, heading, _of(table, rows), (WIDTH, top + 26 + (ROW + 4) * len(rows)), marks)


def _shade(order: int, count: int) -> str:
    """From faint to full, so that an order shows without a colour."""
    opacity = 0.15 + 0.85 * order / max(1, count - 1)
    return f'fill="var(--accent)" fill-opacity="{opacity:.2f}" stroke="var(--paper)"'


def _box(x: float, y: float, wide: float, high: float, look: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" {look}/>'


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
        marks.append(_box(x - step * 0.32, top + high - tall, step * 0.64, tall, 'fill="var(--accent)"'))
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


# --- frontier --------------------------------------------------------------------------------------------------------


def _frontier(table: Table, rows: Rows, name: str) -> str:
    """Quality (upwards) against cost (to the right); the frontier is filled and joined."""
    cost, quality, flag = _columns(table)
    rows = [row for row in rows if row[cost].value is not None and row[quality].value is not None]
    if not rows:
        return ""
    wide, share = _top([row[quality] for row in rows])
    most = max(row[cost].value or 0.0 for row in rows) * 1.08 or 1.0
    left, width, height = 52.0, WIDTH - 72.0, 250.0
    x, y = Scale(most, left, left + width), Scale(wide, height + 8, 8)
    marks = [
        line(left, 8, left, height + 8, colour="grid"),
        line(left, height + 8, left + width, height + 8, colour="grid"),
    ]
    marks += [text(x(v), height + 22, f"${at}", "middle", colour="muted") for v, at in ticks(most, 5, False)]
    marks += [text(left - 6, y(v), at, "end", colour="muted") for v, at in ticks(wide, 5, share)]
    marks.append(text(left + width / 2, height + 40, table.titles[cost], "middle", colour="muted"))
    turned = f' transform="rotate(-90 10 {height / 2:g})"'
    marks.append(text(10, height / 2, table.titles[quality], "middle", colour="muted", look=turned))
    spots = [(x(row[cost].value or 0.0), y(row[quality].value or 0.0)) for row in rows]
    best = sorted({spot for spot, row in zip(spots, rows, strict=True) if row[flag].text == "yes"})
    if len(best) > 1:
        marks.append(_path(best, "accent", 'stroke-dasharray="4 3"'))
    for spot, row in zip(spots, rows, strict=True):
        cell = row[quality]
        if cell.low is not None and cell.high is not None:
            marks.append(line(spot[0], y(cell.low), spot[0], y(cell.high), look=FAINT))
        marks.append(point(*spot, 4.6, colour="accent" if row[flag].text == "yes" else "muted"))
    names = [cut(row[0].text) for row in rows]
    sizes = [Box(0, 0, len(one) * LETTER, 13) for one in names]
    labels = place_labels([(a - left, b - 8) for a, b in spots], sizes, width, height)
    marks += [text(a + left, b + 8, one, look=HALO) for one, (a, b) in zip(names, labels, strict=True)]
    heading = f"{table.titles[quality]} against {table.titles[cost]}; the line is the frontier"
    return svg_of(name, heading, _of(table, rows), (WIDTH, height + 52), marks)


_PLOTS: dict[str, Callable[[Table, Rows, str], str]] = {
    "forest": _forest,
    "radar": _radar,
    "stacked": _stacked,
    "upset": _upset,
    "frontier": _frontier,
}
