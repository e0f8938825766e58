"""Plots of runs: a measure with its intervals, precision against recall, and where labels find room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reviewgauge.core.reports.leaderboard import Estimate, Leaderboard, SliceSummary, SystemSummary
from reviewgauge.views import figures
from reviewgauge.views.report.shapes import Scale, grid, line, point, svg_of, text, ticks

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


def forest(board: Leaderboard, measure: str, name: str, width: int) -> str:
    """Every system's measure with its interval, best first."""
    title = f"{figures.label(measure)} with {figures.percent(board.level)} intervals"
    return _forest(board.systems, measure, name, width, title)


def small_multiple(board: Leaderboard, piece: SliceSummary, measure: str, name: str, *, top: float, width: int) -> str:
    """One slice: every system of the leaderboard in the same order, on a scale from 0 to `top`."""
    known = {s.system: s for s in piece.systems}
    empty = SystemSummary(system="", estimates=(), cases=0, scored=0)
    systems = [
        known.get(s.system, empty).model_copy(update={"system": s.system, "fake": s.fake}) for s in board.systems
    ]
    title = f"{figures.label(measure)} where {piece.fact} is {piece.value}, n = {piece.n}"
    return _forest(systems, measure, name, width, title, top=top, row=17)


def highest(systems: Sequence[SystemSummary], measure: str) -> float:
    """The end of a scale from 0 for these values and intervals; at most 1 for shares."""
    found = [figures.estimate(s, measure) for s in systems]
    values = [v for e in found for v in (e.value, e.high) if v is not None and figures.defined(v)]
    if not values:
        return 1.0
    if all(e.unit == "share" for e in found if e.value is not None):
        return min(1.0, max(0.2, (int(max(values) * 10) + 1) / 10))
    return max(0.0, *values) * 1.05 or 1.0


def _forest(
    systems: Sequence[SystemSummary], measure: str, name: str, width: int, title: str, *, top: float = 0, row: int = ROW
) -> str:
    top = top or highest(systems, measure)
    names = [cut(system.system, NAME_WIDTH if width > WIDE_ENOUGH else NAME_WIDTH * 0.7) for system in systems]
    side = int(max((len(name) for name in names), default=1) * LETTER)
    left, inner, bottom = side + 12, max(80, width - side - 72), 4 + max(1, len(systems)) * row
    share = all(figures.estimate(s, measure).unit == "share" for s in systems)
    x = Scale(top, left, left + inner)
    marks = [grid(at, x(value), 4, bottom) for value, at in ticks(top, 3 if row < ROW else 5, share)]
    for rank, system in enumerate(systems):
        e, y = figures.estimate(system, measure), 4 + (rank + 0.5) * row
        if e.low is not None and e.high is not None and figures.defined(e.low) and figures.defined(e.high):
            marks.append(line(x(e.low), y, x(e.high), y, look='stroke-width="2.5" stroke-opacity="0.55"'))
        if e.value is not None and figures.defined(e.value):
            marks.append(point(x(e.value), y, 4.3))
        shown = f"{figures.number(e.value, e.unit)}{' fake' if system.fake else ''}"
        marks += [text(left - 8, y, names[rank], "end"), text(left + inner + 8, y, shown)]
    description = "; ".join(f"{s.system} {_describe(s, measure)}" for s in systems)
    return svg_of(name, title, description, (left + inner + 58, bottom + 24), marks)


def _describe(system: SystemSummary, measure: str) -> str:
    e = figures.estimate(system, measure)
    return f"{figures.number(e.value, e.unit)} {figures.interval(e.low, e.high, e.unit)}".strip()


class _Dot(NamedTuple):
    """A system in the plane: its precision and recall, with their intervals (empty where there is none)."""

    system: str
    shown: str
    p: float
    r: float
    p_ends: tuple[float, ...]
    r_ends: tuple[float, ...]


def _dots(board: Leaderboard, numbered: bool) -> Iterator[_Dot]:
    for rank, system in enumerate(board.systems, 1):
        p, r = figures.estimate(system, "precision"), figures.estimate(system, "recall")
        if p.value is not None and r.value is not None and figures.defined(p.value) and figures.defined(r.value):
            shown = str(rank) if numbered else cut(system.system) + (" (fake)" if system.fake else "")
            yield _Dot(system.system, shown, p.value, r.value, _ends(p), _ends(r))


def _ends(e: Estimate) -> tuple[float, ...]:
    return tuple(v for v in (e.low, e.high) if v is not None and figures.defined(v))


def precision_recall(board: Leaderboard, name: str, width: int, numbered: bool) -> str:
    """Precision against recall with lines of equal F1; points carry names, or ranks where `numbered`."""
    dots = list(_dots(board, numbered))
    size, left = width - 60, 46
    height = min(size, 360)
    x = Scale(_top([v for d in dots for v in (d.r, *d.r_ends)]), left, left + size)
    y = Scale(_top([v for d in dots for v in (d.p, *d.p_ends)]), height + 6, 6)
    marks = [line(left, 6, left, height + 6, colour="grid")]
    marks += [line(left, height + 6, left + size, height + 6, colour="grid"), *_iso_lines(x, y)]
    marks += [text(x(v), height + 19, at, "middle", colour="muted") for v, at in ticks(x.top, 5, True)]
    marks += [text(left - 6, y(v), at, "end", colour="muted") for v, at in ticks(y.top, 5, True)]
    turned = f' transform="rotate(-90 10 {height / 2:g})"'
    marks.append(text(left + size / 2, height + 36, "recall", "middle", colour="muted"))
    marks.append(text(10, height / 2, "precision", "middle", colour="muted", look=turned))
    marks += [line(x(d.r_ends[0]), y(d.p), x(d.r_ends[-1]), y(d.p), look=FAINT) for d in dots if d.r_ends]
    marks += [line(x(d.r), y(d.p_ends[0]), x(d.r), y(d.p_ends[-1]), look=FAINT) for d in dots if d.p_ends]
    marks += [point(x(d.r), y(d.p), 4.4) for d in dots]
    spots = [(x(d.r) - left, y(d.p) - 6) for d in dots]
    sizes = [Box(0, 0, len(d.shown) * LETTER, 13) for d in dots]
    for dot, (at, middle) in zip(dots, place_labels(spots, sizes, size, height), strict=True):
        marks.append(text(at + left, middle + 6, dot.shown, look=HALO))
    description = "; ".join(f"{d.system} precision {figures.number(d.p)}, recall {figures.number(d.r)}" for d in dots)
    missing = len(board.systems) - len(dots)
    description += f"; {missing} without a defined precision are not shown" if missing else ""
    title = "Precision against recall, with lines of equal F1"
    return svg_of(name, title, description, (left + size + 14, height + 48), marks)


FAINT = 'stroke-width="1.5" stroke-opacity="0.3"'
HALO = ' stroke="var(--paper)" stroke-width="3" paint-order="stroke"'


def _top(values: Sequence[float]) -> float:
    return min(1.0, max(0.3, (int(max(values, default=0.9) * 10) + 1) / 10))


def _iso_lines(x: Scale, y: Scale) -> Iterator[str]:
    for f in F_LINES:
        start = f / 2 + 0.0005
        steps = [start + (x.top - start) * at / 60 for at in range(61)] if start < x.top else []
        curve = [(r, f * r / (2 * r - f)) for r in steps if f * r / (2 * r - f) <= y.top]
        if curve:
            path = "L".join(f"{x(r):.1f},{y(p):.1f}" for r, p in curve)
            yield f'<path d="M{path}" fill="none" stroke="var(--grid)" stroke-dasharray="3,3"/>'
            yield text(x(curve[-1][0]) + 3, y(curve[-1][1]), figures.number(f, digits=1), colour="muted")


def cut(name: str, width: float = NAME_WIDTH) -> str:
    """`name` on one line of at most `width` pixels."""
    name = " ".join(figures.visible(name).split())
    most = int(width / LETTER)
    return name if len(name) <= most else name[: most - 1] + "…"
