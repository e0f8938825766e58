"""Templates into pages. Everything is escaped, and what reorders text is marked but where people edit it (`|e`).

Scripts and styles are files of their own.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

import jinja2

from reviewgauge.annotation.pages.colours import shown_order

FILES = {
    "style.css": "text/css",
    "diff.js": "text/javascript",
    "judge.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


@cache
def environment() -> jinja2.Environment:
    """The templates; a name that is not there is an error."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("reviewgauge.annotation.pages", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=shown_order,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["share"] = _share
    return found


def render(template: str, **data: object) -> str:
    """One page."""
    return environment().get_template(template).render(**data)


@cache
def static(name: str) -> bytes:
    """A script or a style sheet; the latter with the colours of code."""
    raw = (resources.files("reviewgauge.annotation.pages") / "static" / name).read_bytes()
    if name != "style.css":
        return raw
    from pygments.formatters import HtmlFormatter

    light, dark = (HtmlFormatter(style=style).get_style_defs(".code") for style in ("default", "github-dark"))
    return raw + _only_colours(light) + b"@media (prefers-color-scheme: dark) {\n" + _only_colours(dark) + b"}\n"


def _only_colours(styles: str) -> bytes:
    """The rules of tokens, without those of the whole block."""
    kept = [line for line in styles.splitlines() if line.startswith(".code .")]
    return ("\n".join(kept) + "\n").encode()


def _share(value: float | None, digits: int = 3) -> str:
    """A share as `agree` prints it; a dash where there is none."""
    return "–" if value is None else re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}")
