"""Plots of both reports as SVG by Altair: page colours and fonts, nothing active, with a text description.

They need the extra `plots`; without it the reports say so and show the same numbers as tables.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree as Xml

from reviewgauge.core.errors import MissingExtra
from reviewgauge.core.reports.leaderboard import Leaderboard, SliceSummary, SystemSummary
from reviewgauge.views.terminal import figures

SVG = "http://www.w3.org/2000/svg"
# Colours that no plot would use by chance, and the CSS variables that stand for them on the page.
SENTINELS = {
    "#010201": "var(--ink)",
    "#010202": "var(--muted)",
    "#010203": "var(--grid)",
    "#010204": "var(--accent)",
    "#010205": "var(--paper)",
    "#010206": "var(--soft)",
    "#010207": "var(--matched)",
    "#010208": "var(--false)",
    "#010209": "var(--duplicate)",
    "#01020a": "var(--missed)",
    "#01020b": "var(--rejected)",
}
INK, MUTED, GRID, ACCENT, PAPER, SOFT, *SERIES = SENTINELS
ELEMENTS = {"svg", "g", "path", "line", "rect", "text", "tspan", "circle", "defs", "clipPath", "title", "desc"}
ATTRIBUTES = {
    "width", "height", "viewBox", "transform", "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "r", "cx", "cy",
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-miterlimit", "stroke-opacity",
    "fill-opacity", "opacity", "text-anchor", "font-size", "font-weight", "font-style", "id", "clip-path",
}  # fmt: skip
DEFAULTS = {("opacity", "1"), ("stroke-width", "1"), ("stroke-miterlimit", "10"), ("font-weight", "normal")}


def adapt(svg: str, name: str, title: str, description: str) -> str:
    """`svg` with page colours and without scripts, links, styles and per-mark roles; ids start with `name`.

    Raises ValueError for malformed SVG.
    """
    try:
        root = Xml.fromstring(svg)
    except Xml.ParseError as error:
        raise ValueError(f"not an SVG: {error}") from None
    _clean(root, name)
    for number, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = Xml.Element(f"{{{SVG}}}{tag}", {"id": f"{name}-{tag}"})
        element.text = text
        root.insert(number, element)
    root.attrib |= {"role": "img", "aria-labelledby": f"{name}-title {name}-desc", "id": name}
    Xml.register_namespace("", SVG)
    out = Xml.tostring(root, encoding="unicode")
    for sentinel, variable in SENTINELS.items():
        out = out.replace(f'"{sentinel}"', f'"{variable}"')
    return out


def _clean(element: Xml.Element, name: str) -> None:
    for child in list(element):
        tag = str(child.tag).removeprefix(f"{{{SVG}}}")
        empty = (tag == "path" and child.get("d", "").startswith(("M0,0h0v0h0Z", "M0,0h0v0"))) or child.get("d") == ""
        if tag not in ELEMENTS or empty or child.get("fill") == "#00000000":
            element.remove(child)
            continue
        _clean(child, name)
        if tag in ("g", "text") and len(child) == 0 and not (child.text or "").strip():
            element.remove(child)
    for key, value in list(element.attrib.items()):
        if key not in ATTRIBUTES or (key, value) in DEFAULTS or ("url(" in value and not value.startswith("url(#")):
            del element.attrib[key]
        elif key == "id":
            element.attrib[key] = f"{name}-{value}"
        elif value.startswith("url(#"):
            element.attrib[key] = f"url(#{name}-{value[5:]}"
        elif key in ("transform", "d"):
            element.attrib[key] = re.sub(r"-?(?<!\d)\d+\.\d{2,}", lambda m: f"{float(m[0]):.1f}", value)


POINT = 5.0  # half the side of the square that a point takes, in pixels
NEAR, FAR = 9.0, 22.0
LATER = 2.5  # square pixels of overlap that are better than the next candidate


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


ROW = 22  # pixels from one system to the next
F_LINES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
WIDE_ENOUGH = 400  # least width in pixels for whole names
NAME_WIDTH = 150  # pixels; longer names are cut in plots, the tables have them whole
LETTER = 6.8  # approximate width of a letter at 11 px


def available() -> bool:
    """Whether the extra `plots` is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("altair", "vl_convert"))


def forest(board: Leaderboard, reading: str, name: str, width: int) -> str:
    """Every system's reading with its interval, best first. Raises MissingExtra."""
    title = f"{figures.label(reading)} with {figures.percent(board.level)} intervals"
    return _forest(board.systems, reading, name, width, title)


def small_multiple(board: Leaderboard, piece: SliceSummary, reading: str, name: str, *, top: float, width: int) -> str:
    """One slice: every system of the leaderboard in the same order, on a scale from 0 to `top`."""
    known = {s.system: s for s in piece.systems}
    empty = SystemSummary(system="", estimates=(), cases=0, scored=0)
    systems = [
        known.get(s.system, empty).model_copy(update={"system": s.system, "fake": s.fake}) for s in board.systems
    ]
    title = f"{figures.label(reading)} where {piece.fact} is {piece.value}, n = {piece.n}"
    return _forest(systems, reading, name, width, title, top=top, row=17)


def highest(systems: Sequence[SystemSummary], reading: str) -> float:
    """The end of a scale from 0 for these values and intervals; at most 1 for shares."""
    found = [figures.estimate(s, reading) for s in systems]
    values = [v for e in found for v in (e.value, e.high) if v is not None and figures.defined(v)]
    if not values:
        return 1.0
    if all(e.unit == "share" for e in found if e.value is not None):
        return min(1.0, max(0.2, (int(max(values) * 10) + 1) / 10))
    return max(values) * 1.05 or 1.0


def _forest(
    systems: Sequence[SystemSummary], reading: str, name: str, width: int, title: str, *, top: float = 0, row: int = ROW
) -> str:
    alt = load_altair()
    top = top or highest(systems, reading)
    names = [cut(system.system, NAME_WIDTH if width > WIDE_ENOUGH else NAME_WIDTH * 0.7) for system in systems]
    rows = []
    for rank, system in enumerate(systems, 1):
        e = figures.estimate(system, reading)
        shown = f"{figures.number(e.value, e.unit)}{' fake' if system.fake else ''}"
        low, high = (e.low, e.high) if figures.defined(e.low) and figures.defined(e.high) else (None, None)
        value = e.value if figures.defined(e.value) else None
        rows.append({"rank": rank, "name": names[rank - 1], "v": value, "low": low, "high": high, "shown": shown})
    share = all(figures.estimate(s, reading).unit == "share" for s in systems)
    side = max((len(name) for name in names), default=1) * LETTER
    y = alt.Y("rank:O", scale=alt.Scale(domain=list(range(1, len(rows) + 1))), title=None, axis=None)
    x_axis = ticks_axis(alt, share, 3 if row < ROW else 5, grid=True)
    x = alt.X("v:Q", title=None, scale=alt.Scale(domain=[0, top], nice=False), axis=x_axis)
    base = alt.Chart(alt.InlineData(values=rows))
    inner = max(80, int(width - side - 72))
    layers = [
        base.mark_rule(color=ACCENT, strokeWidth=2.5, opacity=0.55).encode(y=y, x=alt.X("low:Q"), x2="high:Q"),
        base.mark_point(filled=True, color=ACCENT, size=58, opacity=1).encode(y=y, x=x),
        base.mark_text(align="right", baseline="middle", color=INK, fontSize=11).encode(
            y=y, x=alt.value(-8), text="name:N"
        ),
        base.mark_text(align="left", baseline="middle", color=INK, fontSize=11).encode(
            y=y, x=alt.value(inner + 8), text="shown:N"
        ),
    ]
    padding = {"left": int(side) + 12, "right": 58, "top": 4, "bottom": 24}
    chart = alt.layer(*layers).properties(width=inner, height=max(1, len(rows)) * row, padding=padding, autosize="none")
    description = "; ".join(f"{s.system} {_describe(s, reading)}" for s in systems)
    return draw(chart, name, title, description)


_SHARE_LABEL = "datum.value == 0 ? '0' : replace(datum.label, /^([-\u2212]?)0\\./, '$1.')"


def _describe(system: SystemSummary, reading: str) -> str:
    e = figures.estimate(system, reading)
    return f"{figures.number(e.value, e.unit)} {figures.interval(e.low, e.high, e.unit)}".strip()


def precision_recall(board: Leaderboard, name: str, width: int, numbered: bool) -> str:
    """Precision against recall with lines of equal F1; points carry names, or ranks where `numbered`."""
    alt = load_altair()
    points: list[dict[str, Any]] = []
    for rank, system in enumerate(board.systems, 1):
        p, r = figures.estimate(system, "precision"), figures.estimate(system, "recall")
        if p.value is None or r.value is None or not (figures.defined(p.value) and figures.defined(r.value)):
            continue
        shown = str(rank) if numbered else cut(system.system) + (" (fake)" if system.fake else "")
        cross = {"p_low": p.low, "p_high": p.high, "r_low": r.low, "r_high": r.high}
        points.append({"r": r.value, "p": p.value, "shown": shown, "system": system.system} | cross)
    size = width - 60
    height = min(size, 360)
    x_top, y_top = (_top(points, axis) for axis in ("r", "p"))
    _place(points, size, height, x_top, y_top)
    x = alt.X("r:Q", title="recall", scale=alt.Scale(domain=[0, x_top], nice=False), axis=ticks_axis(alt, True))
    y = alt.Y("p:Q", title="precision", scale=alt.Scale(domain=[0, y_top], nice=False), axis=ticks_axis(alt, True))
    base = alt.Chart(alt.InlineData(values=points))
    faint = {"color": ACCENT, "opacity": 0.3, "strokeWidth": 1.5}
    layers = [
        *_iso_lines(alt, x_top, y_top),
        base.mark_rule(**faint).encode(y=y, x=alt.X("r_low:Q"), x2="r_high:Q"),
        base.mark_rule(**faint).encode(x=x, y=alt.Y("p_low:Q"), y2="p_high:Q"),
        base.mark_point(filled=True, color=ACCENT, size=62, opacity=1).encode(x=x, y=y),
        *(
            base.mark_text(align="left", baseline="middle", fontSize=11, **look).encode(
                x=alt.X("lx:Q"), y=alt.Y("ly:Q"), text="shown:N"
            )
            for look in ({"stroke": PAPER, "strokeWidth": 3, "color": PAPER}, {"color": INK})
        ),
    ]
    chart = alt.layer(*layers).properties(width=size, height=height, padding=3)
    description = "; ".join(
        f"{d['system']} precision {figures.number(d['p'])}, recall {figures.number(d['r'])}" for d in points
    )
    missing = len(board.systems) - len(points)
    description += f"; {missing} without a defined precision are not shown" if missing else ""
    return draw(chart, name, "Precision against recall, with lines of equal F1", description)


def _top(points: Sequence[dict[str, Any]], axis: str) -> float:
    values = [v for d in points for v in (d[axis], d[f"{axis}_high"]) if v is not None]
    return min(1.0, max(0.3, (int(max(values, default=0.9) * 10) + 1) / 10))


def _place(points: list[dict[str, Any]], width: int, height: int, x_top: float, y_top: float) -> None:
    """Add `lx` and `ly`, the start of each label in data units."""
    spots = [(d["r"] / x_top * width, height - d["p"] / y_top * height) for d in points]
    sizes = [Box(0, 0, len(d["shown"]) * LETTER, 13) for d in points]
    for point, (left, middle) in zip(points, place_labels(spots, sizes, width, height), strict=True):
        point |= {"lx": left / width * x_top, "ly": (height - middle) / height * y_top}


def _iso_lines(alt: Any, x_top: float, y_top: float) -> list[Any]:
    lines, labels = [], []
    for f in F_LINES:
        start = f / 2 + 0.0005
        steps = [start + (x_top - start) * at / 60 for at in range(61)] if start < x_top else []
        curve = [{"f": f, "x": r, "y": f * r / (2 * r - f)} for r in steps if f * r / (2 * r - f) <= y_top]
        if not curve or curve[-1]["y"] > y_top:
            continue
        lines += curve
        labels.append({"x": curve[-1]["x"], "y": curve[-1]["y"], "shown": figures.number(f, digits=1)})
    scale_x, scale_y = alt.Scale(domain=[0, x_top], nice=False), alt.Scale(domain=[0, y_top], nice=False)
    return [
        alt.Chart(alt.InlineData(values=lines))
        .mark_line(color=GRID, strokeDash=[3, 3], strokeWidth=1)
        .encode(x=alt.X("x:Q", scale=scale_x, title="recall"), y=alt.Y("y:Q", scale=scale_y), detail="f:N"),
        alt.Chart(alt.InlineData(values=labels))
        .mark_text(align="left", dx=3, color=MUTED, fontSize=10)
        .encode(x=alt.X("x:Q", scale=scale_x), y=alt.Y("y:Q", scale=scale_y), text="shown:N"),
    ]


def ticks_axis(alt: Any, share: bool, ticks: int = 5, grid: bool = False) -> Any:
    """An axis of shares (`.5`) or of other numbers."""
    words = {"format": ".3~f", "labelExpr": _SHARE_LABEL} if share else {}  # the default format has no exponents
    return alt.Axis(tickCount=ticks, grid=grid, titleFontWeight="normal", labelFlush=False, **words)


def cut(name: str, width: float = NAME_WIDTH) -> str:
    """`name` on one line of at most `width` pixels."""
    name = " ".join(figures.visible(name).split())
    most = int(width / LETTER)
    return name if len(name) <= most else name[: most - 1] + "…"


def load_altair() -> Any:
    """The library. Raises MissingExtra."""
    if not available():
        raise MissingExtra("Altair, which draws the plots,", "plots")
    import altair

    return altair


def draw(
    chart: Any, name: str, title: str, description: str, data: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
) -> str:
    """The chart as SVG in the page's colours; `title` and `description` are for screen readers.

    `data` holds rows that the chart refers to by name; Altair would copy inline rows at every step.
    """
    import vl_convert

    axis = {
        "domainColor": GRID, "tickColor": GRID, "gridColor": GRID, "labelColor": MUTED,
        "titleColor": MUTED, "labelFontSize": 11, "titleFontSize": 11, "gridOpacity": 0.5,
    }  # fmt: skip
    config = {"background": "#00000000", "view": {"stroke": None}, "axis": axis}
    spec = chart.to_dict(validate=False)  # validation takes longer than drawing
    datasets = {**spec.get("datasets", {}), **(data or {})}
    drawn = vl_convert.vegalite_to_svg(spec | {"config": config, "datasets": datasets})
    return adapt(drawn, name, figures.visible(title), figures.visible(description))
