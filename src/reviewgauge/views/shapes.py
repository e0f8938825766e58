"""What every plot is drawn with: SVG in the page's colours and fonts, nothing active, with a text description."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reviewgauge.views import figures

SVG = "http://www.w3.org/2000/svg"
SERIES = ("matched", "false", "duplicate", "missed", "unsure", "rejected", "ink", "muted")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "10 4", "4 2 1 2", "3 6")
"""The colour and the dash of the first lines; others are grey."""
LETTER = 6.8  # approximate width of a letter at 11 px


def look_of(order: int) -> tuple[str, str]:
    """(colour, style) of a line by its order."""
    if order >= len(SERIES):
        return "grid", 'stroke-width="2"'
    dash = f' stroke-dasharray="{DASHES[order]}"' if DASHES[order] else ""
    return SERIES[order], f'stroke-width="2"{dash}'


def cut(name: str, width: float = 150) -> str:
    """`name` on one line of at most `width` pixels."""
    name = " ".join(figures.visible(name).split())
    most = int(width / LETTER)
    return name if len(name) <= most else name[: most - 1] + "…"


def box(x: float, y: float, wide: float, high: float, look: str) -> str:
    """A rectangle."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" {look}/>'


class Scale(NamedTuple):
    """Pixels of values from 0 to `top`."""

    top: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        return self.start + (self.end - self.start) * min(max(value / self.top, 0.0), 1.0)


def ticks(top: float, most: int, share: bool) -> list[tuple[float, str]]:
    """(value, label) of at most so many steps of 1, 2 or 5 from 0 to `top`."""
    return steps(0.0, top, most, share)


def steps(low: float, high: float, most: int, share: bool) -> list[tuple[float, str]]:
    """(value, label) of at most so many steps of 1, 2 or 5 between two ends."""
    reach = (high - low) or 1.0
    size = 10.0 ** math.floor(math.log10(reach / most))
    step = next(size * k for k in (1, 2, 5, 10) if reach / (size * k) <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [round(n * step, 12) for n in range(first, last + 1)]
    return [(v, re.sub(r"^(-?)0\.", r"\1.", f"{v:g}") if share else f"{v:,g}") for v in values]


@dataclass
class Frame:
    """A plane of values: `across` and `up` are the ends of its axes, the rest is where it lies in pixels."""

    left: float
    top: float
    width: float
    height: float
    across: tuple[float, float]
    up: tuple[float, float]
    marks: list[str] = field(default_factory=list)

    def x(self, value: float) -> float:
        """The pixel of a value across."""
        low, high = self.across
        return self.left + self.width * (min(max(value, low), high) - low) / ((high - low) or 1.0)

    def y(self, value: float) -> float:
        """The pixel of a value upwards."""
        low, high = self.up  # falling where values count downwards
        inside = min(max(value, min(self.up)), max(self.up))
        return self.top + self.height * (1 - (inside - low) / ((high - low) or 1.0))

    def grid_up(self, most: int = 5, *, share: bool = True, title: str = "") -> None:
        """Level lines with their labels at the left."""
        right = self.left + self.width
        for value, label in steps(min(self.up), max(self.up), most, share):
            self.marks.append(line(self.left, self.y(value), right, self.y(value), look=_GRID, colour="grid"))
            self.marks.append(text(self.left - 6, self.y(value), label, "end", colour="muted"))
        if title:
            middle = self.top + self.height / 2
            turned = f' transform="rotate(-90 10 {middle:g})"'
            self.marks.append(text(10, middle, title, "middle", colour="muted", look=turned))

    def ticks_across(self, values: Sequence[tuple[float, str]], title: str = "") -> None:
        """Labels below, and what they count."""
        low = self.top + self.height
        self.marks.append(line(self.left, low, self.left + self.width, low, colour="grid"))
        self.marks += [text(self.x(value), low + 13, label, "middle", colour="muted") for value, label in values]
        if title:
            self.marks.append(text(self.left + self.width / 2, low + 30, title, "middle", colour="muted"))

    def path(self, points: Sequence[tuple[float, float]], *, look: str = "", colour: str = "accent") -> None:
        """A line through points of the plane."""
        if len(points) > 1:
            spots = [(self.x(a), self.y(b)) for a, b in points]
            self.marks.append(path(spots, look=f'fill="none" {look}', colour=colour))

    def area(self, points: Sequence[tuple[float, float]], *, look: str) -> None:
        """A filled shape."""
        if points:
            self.marks.append(path([(self.x(a), self.y(b)) for a, b in points], look=look, closed=True))

    def interval(self, at: float, low: float | None, high: float | None, *, look: str, colour: str = "accent") -> None:
        """An upright line between two values; nothing where they are undefined."""
        if low is not None and high is not None and math.isfinite(low) and math.isfinite(high):
            self.marks.append(line(self.x(at), self.y(low), self.x(at), self.y(high), look=look, colour=colour))

    def point(self, x: float, y: float, radius: float = 3.5, *, colour: str = "accent") -> None:
        """A filled circle."""
        self.marks.append(point(self.x(x), self.y(y), radius, colour=colour))

    def upright(self, at: float) -> None:
        """A dashed line from bottom to top."""
        low = self.top + self.height
        self.marks.append(line(self.x(at), self.top, self.x(at), low, look=DASHED, colour="muted"))


_GRID = 'stroke-opacity="0.5"'
DASHED = 'stroke-dasharray="3 3"'


def path(spots: Sequence[tuple[float, float]], *, look: str = "", colour: str = "accent", closed: bool = False) -> str:
    """A line through spots in pixels."""
    drawn = "L".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    return f'<path d="M{drawn}{"Z" if closed else ""}" stroke="var(--{colour})" {look}/>'


def svg_of(name: str, title: str, description: str, size: tuple[float, float], marks: Sequence[str]) -> str:
    """An SVG of this size in pixels, with a description for those who cannot see it."""
    width, height = size
    texts = {"title": title, "desc": description}
    said = (f'<{tag} id="{name}-{tag}">{plain(text)}</{tag}>' for tag, text in texts.items())
    return (
        f'<svg xmlns="{SVG}" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc" id="{name}">{"".join(said)}{"".join(marks)}</svg>'
    )


def plain(text: str) -> str:
    """A text escaped, its hidden characters made visible."""
    return html.escape(figures.visible(text))


def line(x1: float, y1: float, x2: float, y2: float, *, look: str = "", colour: str = "accent") -> str:
    """A straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="var(--{colour})" {look}/>'


def point(x: float, y: float, radius: float, *, colour: str = "accent", look: str = "") -> str:
    """A filled circle."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="var(--{colour})" {look}/>'


def text(x: float, y: float, text: str, anchor: str = "start", *, colour: str = "ink", look: str = "") -> str:
    """A text whose middle is at `y`."""
    where = f'x="{x:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}" font-size="11"'
    return f'<text {where} fill="var(--{colour})"{look}>{plain(text)}</text>'


def grid(label: str, x: float, top: float, bottom: float) -> str:
    """A vertical line with its label below."""
    rule = line(x, top, x, bottom + 4, look='stroke-opacity="0.5"', colour="grid")
    return rule + text(x, bottom + 13, label, "middle", colour="muted")
