"""Tables as HTML: everything from data is escaped, hidden characters are made visible."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import groupby
from types import MappingProxyType

from markupsafe import Markup, escape

from reviewgauge.core.document import Block, Chart, Column, Section, Table, Text, Value
from reviewgauge.views import figures
from reviewgauge.views.charts import chart_svg
from reviewgauge.views.table_plots import drawing
from reviewgauge.views.values import MINUS, bounds_of, explained, figure_of, is_published_only, legend, number

MOST_TEXT = 1500  # characters of a cell
SHADES = 5  # steps of the colour of a shaded table
_LOOKS = {"plain": "<p>{}</p>", "strong": "<p><strong>{}</strong></p>", "note": '<p class="from">{}</p>'}
_LOOKS |= {"warning": '<p class="notice">{}</p>', "diff": '<pre class="lines">{}</pre>'}
_DIFF = {"+": "add", "-": "del", "@": "hunk"}


def block_html(block: Block, name: str = "b", level: int = 2) -> Markup:
    """A block of a document. `name` makes the places on the page unique, headings begin at `level`."""
    if isinstance(block, Table):
        drawn = Markup(drawing(block, f"{name}-plot"))
        return (Markup("<figure>{}</figure>").format(drawn) if drawn else drawn) + table_html(block)
    if isinstance(block, Chart):
        return _figure(block, name)
    if isinstance(block, Text):
        shown = _diff(block.text) if block.kind == "diff" else _visible(block.text.removeprefix("! "))
        return Markup(_LOOKS[block.kind]).format(shown)
    return _section(block, name, level)


def _diff(text: str) -> Markup:
    lines = ((_DIFF.get("@" if line[:4] in ("+++ ", "--- ") else line[:1], ""), line) for line in text.splitlines())
    return Markup("").join(Markup('<span class="{}">{}</span>').format(kind, _visible(line)) for kind, line in lines)


def _figure(chart: Chart, name: str) -> Markup:
    caption = Markup('<figcaption>{} <span class="quiet">{}</span></figcaption>')
    drawn = Markup(chart_svg(chart, name))
    if not drawn:
        return drawn
    return Markup("<figure>{}{}</figure>").format(caption.format(_visible(chart.title), _visible(chart.caption)), drawn)


def _section(section: Section, name: str, level: int) -> Markup:
    """Its blocks under a heading; neighbouring charts stand side by side, a lone one in its full width."""
    inside = Markup("")
    for charts, group in groupby(enumerate(section.blocks, 1), key=lambda pair: isinstance(pair[1], Chart)):
        made = [block_html(block, f"{name}-{at}", level + 1) for at, block in group]
        shape = '<div class="panels">{}</div>' if charts and len(made) > 1 else "{}"
        inside += Markup(shape).format(Markup("\n").join(made))
    title = _visible(section.title)
    if section.folded:
        shape = Markup('<details class="change" id="{}"><summary><span class="what">{}</span></summary>{}</details>')
        inside = Markup('<div class="inside">{}</div>').format(inside)
        return shape.format(name, title, inside)
    shape = Markup('<section id="{0}" aria-labelledby="{0}-h"><h{1} id="{0}-h">{2}</h{1}>{3}</section>')
    return shape.format(name, level, title, inside)


Doors = Mapping[tuple[int, int], str]  # (row, column) -> the address of what is behind a figure


def table_html(
    table: Table, *, stack: bool = False, ranked: bool = False, doors: Doors = MappingProxyType({})
) -> Markup:
    """The table, and what it rests on below. `stack`: on a narrow screen each row becomes a block of its own;
    else a wide table scrolls. `ranked`: its rows are numbered, as far as the first section. `doors`: links of cells.
    """
    head = Markup("").join(_heading(column) for column in table.columns)
    body = Markup("").join(_rows(table, doors, labelled=stack or ranked, ranked=ranked))
    kind = Markup(' class="stack board"') if ranked else Markup(' class="stack"') if stack else Markup("")
    caption = Markup("<caption>{}</caption>").format(_visible(table.title)) if table.title else Markup("")
    found = Markup("<table{}>{}\n<thead><tr>{}</tr></thead>\n<tbody>{}</tbody></table>").format(
        kind, caption, head, body
    )
    if not (stack or ranked):
        found = Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>').format(
            _visible(table.title or table.name), found
        )
    more = len(table.rows) - table.shown
    left = f"{more:,} more rows are in the files" if more > 0 else ""
    lines = [left, explained(table), *legend(table, braces=False, fakes=False)]
    return found + Markup("").join(Markup('\n<p class="from">{}</p>').format(_visible(line)) for line in lines if line)


def _heading(column: Column) -> Markup:
    marks = Markup(' class="name"') if column.kind == "name" else Markup("")
    marks += Markup(' title="{}"').format(_visible(column.help)) if column.help else Markup("")
    return Markup('<th scope="col"{}>{}</th>').format(marks, _visible(column.label))


def _rows(table: Table, doors: Doors, *, labelled: bool, ranked: bool) -> Iterator[Markup]:
    width = len(table.columns)
    apart = min(table.sections, default=len(table.rows)) if ranked else 0
    darkest = max((value.value or 0.0 for row in table.rows for value in row), default=0.0) if table.shaded else 0.0
    for at, row in enumerate(table.rows[: table.shown]):
        if at in table.sections:
            yield Markup('\n<tr class="section"><th colspan="{}" scope="rowgroup">{}</th></tr>').format(
                width, table.sections[at]
            )
        others = []
        for place, value in enumerate(row[1:], 1):
            column, strong = table.columns[place], (at, place) in table.strong
            name = Markup(' data-label="{}"').format(_visible(column.label)) if labelled else Markup("")
            others.append(_cell(name, value, column, doors.get((at, place)), strong=strong, darkest=darkest))
        yield Markup("\n<tr>{}</tr>").format(
            Markup("").join([_first(row, doors.get((at, 0)), at + 1 if at < apart else 0), *others])
        )
    if not table.rows:
        yield Markup('\n<tr><td colspan="{}">Nothing to show.</td></tr>').format(width)


def _first(row: tuple[Value, ...], door: str | None, rank: int) -> Markup:
    fake = Markup(' <span class="tag fake">fake</span>') if any(value.fake for value in row) else Markup("")
    marks = Markup(' class="quiet"') if is_published_only(row) else Markup("")
    marks += Markup(' data-rank="{}"').format(rank) if rank else Markup("")
    name = _behind(door, Markup("<bdi>{}</bdi>").format(_visible(row[0].text)))
    return Markup('<th scope="row"{}>{}{}</th>').format(marks, name, fake)


def _cell(name: Markup, value: Value, column: Column, door: str | None, *, strong: bool, darkest: float) -> Markup:
    worded = value.value is value.low is None and value.text not in ("", figures.UNDEFINED)
    kind = "name" if column.kind == "name" else "words" if column.kind == "text" or worded else ""
    kind = "found" if strong else "head" if column.priority == 0 and column.kind != "name" else kind
    if darkest and value.value is not None:
        kind += f" shade-{round(SHADES * math.log1p(max(0.0, value.value)) / math.log1p(darkest))}"
    marks = Markup(' class="{}"').format(kind) if kind else Markup("")
    if value.n is not None:
        equal = value.low != value.high and value.value in (0.0, 1.0) and value.value in (value.low, value.high)
        why = ": all changes give the same, and the interval is what so few leave open" if equal else ""
        marks += Markup(' title="n = {}{}"').format(f"{value.n:,}", why)
    text = figure_of(value, column)
    if len(text) > MOST_TEXT:
        text = f"{text[:MOST_TEXT]} … ({len(text) - MOST_TEXT:,} more characters in the files)"
    text = text.replace("-", MINUS) if column.kind == "difference" else text
    inner = _behind(door, Markup('<span class="num">{}</span>').format(_visible(text)))
    if bounds := bounds_of(value, column):
        inner += Markup(' <span class="ci">{}</span>').format(bounds)
    if value.published is not None:
        paper = number(value.published, value.unit, column.digits)
        inner += Markup(' <span class="published">paper {}</span>').format(paper)
    return Markup("<td{}{}>{}</td>").format(name, marks, inner)


def _behind(door: str | None, inner: Markup) -> Markup:
    return inner if door is None else Markup('<a href="{}">{}</a>').format(door, inner)


def _visible(text: str) -> Markup:
    return escape(figures.visible(text))
