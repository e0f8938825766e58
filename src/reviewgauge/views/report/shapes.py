"""Shapes of hand-written plots: SVG with the page's colours, scales and ticks."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import NamedTuple

from reviewgauge.views import figures

SVG = "http://www.w3.org/2000/svg"


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
    size = 10.0 ** math.floor(math.log10(top / most))
    step = next(size * k for k in (1, 2, 5, 10) if top / (size * k) <= most)
    values = [round(n * step, 12) for n in range(int(top / step + 1e-9) + 1)]
    return [(v, f"{v:g}".removeprefix("0") or "0" if share else f"{v:,g}") for v in values]


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


def point(x: float, y: float, radius: float, *, colour: str = "accent") -> str:
    """A filled circle."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="var(--{colour})"/>'


def text(x: float, y: float, text: str, anchor: str = "start", *, colour: str = "ink", look: str = "") -> str:
    """A text whose middle is at `y`."""
    where = f'x="{x:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}" font-size="11"'
    return f'<text {where} fill="var(--{colour})"{look}>{plain(text)}</text>'


def grid(label: str, x: float, top: float, bottom: float) -> str:
    """A vertical line with its label below."""
    rule = line(x, top, x, bottom + 4, look='stroke-opacity="0.5"', colour="grid")
    return rule + text(x, bottom + 13, label, "middle", colour="muted")
