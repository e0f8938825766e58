"""Self-contained HTML pages: every text is escaped, and the content security policy lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence

import jinja2
from markupsafe import Markup

from reviewgauge.core.reports.judge_check import JudgeReport
from reviewgauge.views.terminal import figures
from reviewgauge.views.terminal.judge_tables import footnotes, gate_line, headline, sections

SCRIPT = "report.js"


def render(template: str, styles: Sequence[str], words: Mapping[str, object], **data: object) -> str:
    """The page of `template` with `data`; its macros see `words` and the number formats.

    `styles` are joined into the page's style element.
    """
    environment = _environment(words)
    style = "\n".join(_asset(environment, name) for name in styles)
    script = _asset(environment, SCRIPT)
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    page = environment.get_template(template).render(style=Markup(style), script=Markup(script), policy=policy, **data)
    return page.encode("utf-8", "replace").decode("utf-8")


def judge_page(report: JudgeReport) -> str:
    """The check of a judge as a page."""
    return render(
        "judge_check.html.j2",
        ["report.css"],
        {},
        title=headline(report),
        gate=gate_line(report),
        fake=report.fake,
        sections=list(sections(report)),
        notes=footnotes(report),
    )


def _environment(words: Mapping[str, object]) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("reviewgauge.views", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "number": figures.number,
        "signed": _signed,
        "interval": figures.interval,
        "p_value": figures.p_value,
        "percent": figures.percent,
        "label": figures.label,
        "short_hash": figures.short_hash,
        "defined": figures.defined,
        **words,
    }
    return environment


def _finalize(value: object) -> object:
    """Make hidden characters of a printed text visible, before it is escaped."""
    return figures.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _signed(value: float | None, unit: str = "share") -> str:
    return figures.signed(value, unit).replace("-", "−")


def _asset(environment: jinja2.Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0].strip()


def _digest(text: str) -> str:
    """The policy's source expression for exactly this inline element."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
