"""The viewer's templates, which see those of the report."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import jinja2
from markupsafe import Markup

from reviewgauge.core.base import content_id
from reviewgauge.views import figures
from reviewgauge.views.changes.colours import code_style
from reviewgauge.views.pages import policy_of, shown_text, templates
from reviewgauge.views.report.report import report_words

MARKS = ("hit", "missed", "unsure", "duplicate", "neutral", "false", "rejected")  # the states of a cell of the list


@cache
def environment() -> jinja2.Environment:
    """The templates, with the words of the report and the formats of numbers."""
    found = templates(shown_text, "reviewgauge.viewer", "reviewgauge.views")
    for name in ("number", "percent", "label", "short_hash", "dollars", "counted"):
        found.globals[name] = getattr(figures, name)
    found.globals.update(report_words(), marks=MARKS)
    return found


def render(template: str, *, live: bool = True, **data: object) -> str:
    """One page; a lone surrogate becomes a question mark. One that is not `live` holds its style and script itself."""
    style, script = ("", "") if live else assets()
    whole = {"style": Markup(style), "script": Markup(script), "policy": "" if live else policy_of(style, script)}
    whole["edition"] = edition() if live else ""
    text = environment().get_template(template).render(live=live, **whole, **data)
    return text.encode("utf-8", "replace").decode("utf-8")


def part_of(template: str, macro: str, *arguments: object) -> Markup:
    """What a macro of a template makes."""
    return Markup(getattr(environment().get_template(template).module, macro)(*arguments))


@cache
def assets() -> tuple[str, str]:
    """The style sheet and the script of every page."""
    own, views = (files(f"reviewgauge.{name}") for name in ("viewer", "views"))
    styles = views / "templates" / "report.css", views / "static" / "diff.css", own / "templates" / "viewer.css"
    scripts = views / "static" / "more.js", own / "templates" / "viewer.js"
    style, script = ("\n".join(one.read_text("utf-8") for one in each) for each in (styles, scripts))
    return "\n".join((style, code_style().decode())), script


@cache
def edition() -> str:
    """What changes when the style sheet or the script does: browsers may keep them under it."""
    return content_id(*assets())


@cache
def icon() -> str:
    """The mark of the pages."""
    return (files("reviewgauge.views") / "static" / "icon.svg").read_text("utf-8")
