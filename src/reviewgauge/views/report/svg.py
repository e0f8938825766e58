"""Plots as SVG that takes the page's colours and fonts, holds nothing active, and can be read aloud."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

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
    """`svg` with page colours, without scripts, links, styles and per-mark roles; ids start with `name`.

    Raises ValueError when it is not a well-formed SVG.
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
            element.attrib[key] = re.sub(r"-?\d+\.\d{2,}", lambda m: f"{float(m[0]):.1f}", value)
