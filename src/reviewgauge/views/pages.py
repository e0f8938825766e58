"""Pages: one HTML document each that needs no network and no other file, and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import jinja2
from markupsafe import Markup

from reviewgauge.core.document import Document, Section, Text
from reviewgauge.views import figures
from reviewgauge.views.html import block_html

SCRIPT = "report.js"


def page_pieces(template: str, styles: Sequence[str], words: Mapping[str, object], **data: object) -> Iterator[str]:
    """The page of `template` with `data`, in pieces: what it goes through one by one is not held in memory.

    Its macros see `words` and the number formats. `styles` are joined into the page's style element.
    """
    environment = _environment()
    style = "\n".join(_asset(environment, name) for name in styles)
    script = _asset(environment, SCRIPT)
    page = environment.get_template(template, globals=dict(words))
    for piece in page.generate(style=Markup(style), script=Markup(script), policy=policy_of(style, script), **data):
        yield piece.encode("utf-8", "replace").decode("utf-8")


def document_page(document: Document, *, about: str = "") -> str:
    """A document as a page; `about` stands below its title, then its first texts and the contents."""
    blocks = [block_html(block, f"s{at}") for at, block in enumerate(document.blocks, 1)]
    sections = [(f"s{at}", one.title) for at, one in enumerate(document.blocks, 1) if isinstance(one, Section)]
    lead = next((at for at, one in enumerate(document.blocks) if not isinstance(one, Text)), len(blocks))
    shown = {"title": document.headline, "about": about, "sections": sections}
    styles = ["report.css", "document.css"]
    return "".join(page_pieces("document.html.j2", styles, {}, lead=blocks[:lead], blocks=blocks[lead:], **shown))


def templates(finalize: Callable[[object], object], *packages: str) -> jinja2.Environment:
    """The templates of packages, escaped; a name that is not there is an error. `finalize` sees what is printed."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package, "templates") for package in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _environment() -> jinja2.Environment:
    environment = templates(shown_text, "reviewgauge.views")
    for name in ("number", "percent", "label", "short_hash"):
        environment.globals[name] = getattr(figures, name)
    return environment


def shown_text(value: object) -> object:
    """Make hidden characters of a printed text visible, before it is escaped."""
    return figures.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _asset(environment: jinja2.Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0].strip()


def policy_of(style: str, script: str) -> str:
    """What a page that holds its style and script may load and run: nothing else."""
    sources = f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    return f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    """The policy's source expression for exactly this inline element."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
