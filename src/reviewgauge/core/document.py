"""A result as a document: tables of values and texts, whatever they are about. `views/` shows one in each medium."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from reviewgauge.core.base import Record


class Value(Record):
    """A figure with its 95% interval, the number of things behind it and its unit; or a `text`, where there is none.

    `p` is its p-value, `reason` why it or its interval is undefined, `published` what a paper prints in this place.
    `fake`: a fake model had a part in it. Units: share, coefficient, points, count, dollars, p (a p-value), gain (a
    relative difference) and whatever else a measure is counted in.
    """

    text: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    p: float | None = None
    reason: str = ""
    unit: str = "share"
    published: float | None = None
    fake: bool = False


ColumnKind = Literal["name", "value", "figure", "difference", "range", "of", "text"]


class Column(Record):
    """What stands in one place of every row: `key` for programs, `title` for people, `short` where room is scarce.

    `kind`: a name of the row; a value with its interval; a figure without; a signed difference; the two ends of a
    range; a count of so many (`n`); a text. `priority` says what a narrow medium shows: 0 first and always, the highest
    number is left out first. `digits` stand behind the point.
    """

    key: str
    title: str = ""
    short: str = ""
    help: str = ""
    priority: int = 1
    kind: ColumnKind = "value"
    digits: int = 2

    @property
    def label(self) -> str:
        """The title, or the key where it has none."""
        return self.title or self.key


def name_columns(titles: Iterable[str], names: int = 1) -> tuple[Column, ...]:
    """Columns by their titles: the first `names` name the row, the others hold values."""
    return tuple(
        Column(key=title, kind="name", priority=0) if at < names else Column(key=title)
        for at, title in enumerate(titles)
    )


def columns_of(kind: ColumnKind, *keys: str) -> list[Column]:
    """Columns of one kind, called as their keys; names stand first and always."""
    return [Column(key=key, kind=kind, priority=0 if kind == "name" else 1) for key in keys]


class Plot(Record):
    """How a table is drawn, from the positions of its columns.

    forest: one column with intervals; box: lowest value, quartile, median, quartile, highest; radar: one axis a column;
    stacked: columns as parts of a bar; upset: the first column has the sets of a row, joined by ` & `; scatter: the
    second column against the first, those where a third says yes joined as the frontier.
    """

    kind: Literal["forest", "box", "radar", "stacked", "upset", "scatter"]
    columns: tuple[int, ...]


class Table(Record):
    """One table: rows of values under `columns`. `provenance` says what the figures rest on, `notes` what to know.

    `sections` are headings before rows, by the position of the row. The first `shown` rows are shown; files have all.
    `strong` are the positions (row, column) of what stands out, such as a difference that was found. The figures of a
    `shaded` one, such as a matrix, are the darker the larger they are.
    """

    name: str
    kind: str = ""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    sections: Mapping[int, str] = {}
    strong: tuple[tuple[int, int], ...] = ()
    shown: int = 60
    shaded: bool = False
    plot: Plot | None = None
    provenance: str = ""
    source: str = ""  # of the published values
    notes: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The name as files and labels take it."""
        return re.sub(r"[^\w.]+", "-", self.name).strip("-")

    @property
    def names(self) -> int:
        """How many columns on the left name a row."""
        return next((at for at, one in enumerate(self.columns) if one.kind != "name"), len(self.columns))

    @property
    def titles(self) -> tuple[str, ...]:
        """The columns as people read them."""
        return tuple(column.label for column in self.columns)

    @property
    def fake(self) -> bool:
        """Whether a fake model had a part in a figure of it."""
        return any(value.fake for row in self.rows for value in row)

    def column(self, key: str) -> tuple[Value, ...]:
        """The values under one column. Raises KeyError."""
        at = next((at for at, one in enumerate(self.columns) if one.key == key), None)
        if at is None:
            raise KeyError(f"{key}; there is: {', '.join(one.key for one in self.columns)}")
        return tuple(row[at] for row in self.rows)


Plain = str | float | int | bool | None
_PARTS = ("low", "high", "n", "p", "reason", "unit", "published")


def flat(table: Table) -> tuple[list[str], list[list[Plain]]]:
    """(head, rows) of plain values, nothing rounded: beside each figure its interval, n, unit and published value."""
    beside = [_beside(table, at) for at in range(len(table.columns))]
    head = [
        name
        for column, parts in zip(table.columns, beside, strict=True)
        for name in (column.key, *(f"{column.key}: {_word(column, part)}" for part in parts))
    ]
    return [*head, "fake"], [_flat_row(row, beside) for row in table.rows]


def _word(column: Column, part: str) -> str:
    """The ends of a range are no limits of confidence."""
    return {"low": "from", "high": "to"}.get(part, part) if column.kind == "range" else part


def _beside(table: Table, at: int) -> list[str]:
    values = [row[at] for row in table.rows]
    figures = [one for one in values if one.value is not None or one.low is not None or one.published is not None]
    return [
        part
        for part in _PARTS
        if figures and any(getattr(one, part) not in (None, "") for one in (figures if part == "unit" else values))
    ]


def _flat_row(row: tuple[Value, ...], beside: list[list[str]]) -> list[Plain]:
    found: list[Plain] = []
    for one, parts in zip(row, beside, strict=True):
        known = one.value is not None or one.low is not None
        whole = one.unit in ("count", "") and one.value is not None and one.value.is_integer()
        found.append(int(one.value or 0) if whole else one.value if known else one.text)
        found += [getattr(one, part) if known or part in ("n", "reason", "published") else None for part in parts]
    return [*found, any(one.fake for one in row)]


class Text(Record):
    """A paragraph: plain, the answer (strong), a note in small print, a warning, or the lines of a diff."""

    text: str
    kind: Literal["plain", "strong", "note", "warning", "diff"] = "plain"


class Series(Record):
    """A line of a chart: a value, which may have an interval, at each place across."""

    name: str
    points: tuple[tuple[float, Value], ...]


class Chart(Record):
    """Lines beside tables, with the title of the axis across. A caption says what a reader must know.

    `band` draws intervals as a shade, `ticks` are the places that are labelled, by `named` or their number, `upright`
    those of dashed lines. Of figures in the unit `rank` the first is on top.
    """

    title: str
    caption: str = ""
    series: tuple[Series, ...]
    across: str
    ticks: tuple[float, ...] = ()
    named: tuple[str, ...] = ()
    upright: tuple[float, ...] = ()
    band: bool = False
    from_zero: bool = False


class Section(Record):
    """Blocks under a heading; `folded` ones open when they are asked for."""

    title: str
    blocks: tuple[Block, ...]
    folded: bool = False


Block = Table | Text | Chart | Section


class Document(Record):
    """A result as people read it."""

    headline: str = ""
    blocks: tuple[Block, ...] = ()

    @property
    def tables(self) -> dict[str, Table]:
        """The tables by their names, those of sections too; of one name the first."""
        found: dict[str, Table] = {}
        for block in self.blocks:
            inner = Document(blocks=block.blocks).tables if isinstance(block, Section) else {}
            for name, table in ({block.name: block} if isinstance(block, Table) else inner).items():
                found.setdefault(name, table)
        return found
