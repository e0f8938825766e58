"""A value of a table as text, and what a reader must know of a table: the same in every medium."""

from __future__ import annotations

from reviewgauge.core.document import Column, Table, Text, Value
from reviewgauge.views import figures

MINUS = "\N{MINUS SIGN}"
COEFFICIENT = "coefficient"  # the unit of a correlation, or of a share whose third digit counts


def or_dash(found: Value | float | None, unit: str | None = None, **more: object) -> Value:
    """A figure in a table, with `more` fields of it; a dash where it is undefined, and no interval with one end.

    `unit` is that of the table, by default the figure's own.
    """
    given = found if isinstance(found, Value) else Value(value=found, **more)
    update: dict[str, object] = {"unit": given.unit if unit is None else unit, **more}
    if not figures.defined(given.value):
        update |= {"value": None, "low": None, "high": None, "text": figures.UNDEFINED}
    elif not (figures.defined(given.low) and figures.defined(given.high)):
        update |= {"low": None, "high": None}
    kept = {name: getattr(given, name) for name in ("value", "low", "high", "n", "p", "reason", "fake")}
    return Value.model_validate({**kept, **update})


def coefficient(value: float | None) -> Value:
    """A coefficient in a table; a dash where there is none."""
    return or_dash(value, COEFFICIENT)


def counted(n: float | None) -> Value:
    """A count in a table."""
    return Value(value=n, unit="count")


def note(line: str) -> Text:
    """A line of small print; a warning where it begins with `!`."""
    return Text(text=line, kind="warning" if line.startswith("!") else "note")


def shown(value: Value, column: Column | None = None, *, interval: bool = True, published: bool = True) -> str:
    """`.62 [.55, .69]`, a paper's value after it in braces; the text of a value without a figure."""
    column = column or Column(key="")
    parts = [figure_of(value, column)]
    if interval:
        parts.append(bounds_of(value, column))
    if published and value.published is not None:
        parts.append("{" + number(value.published, value.unit, column.digits) + "}")
    return " ".join(filter(None, parts))


def figure_of(value: Value, column: Column) -> str:
    """The figure alone, or the text."""
    kind, digits = column.kind, column.digits
    if kind == "range" and value.low is not None and value.high is not None:
        return f"{number(value.low, value.unit, digits)} to {number(value.high, value.unit, digits)}"
    if value.value is None:
        return value.text
    if kind == "of" and value.n is not None:
        return f"{value.value:,.0f}/{value.n:,}"
    if kind == "difference" and value.unit != "gain":
        return figures.signed(value.value, value.unit, digits)
    return number(value.value, value.unit, digits)


def bounds_of(value: Value, column: Column) -> str:
    """The interval, empty where there is none or the column shows none."""
    if column.kind not in ("value", "difference") or value.value is None or value.low is None or value.high is None:
        return ""
    return f"[{number(value.low, value.unit, column.digits)}, {number(value.high, value.unit, column.digits)}]"


def number(value: float, unit: str, digits: int = 2) -> str:
    """A figure in its unit: a gain in percent with its sign, a count without digits where it is whole."""
    if unit == "gain":
        text = f"{value:+.1%}"
        return "0.0%" if text in ("+0.0%", "-0.0%") else text
    if unit == COEFFICIENT:
        return figures.number(value, digits=3)
    if unit == "p":
        return figures.p_value(value)
    if unit == "count":
        return figures.count(round(value, 1))
    if unit.endswith("²"):
        return f"{value:.4f}"
    if unit == "dollars":
        return f"${value:.4f}" if 0 < abs(value) < 0.1 else f"${value:,.2f}"
    return figures.number(value, unit, digits)


def has_published(table: Table) -> bool:
    """Whether a paper's value stands in it."""
    return any(value.published is not None for row in table.rows for value in row)


def legend(table: Table, *, braces: bool = True, fakes: bool = True) -> list[str]:
    """What a reader must know, line by line below a table. `braces`: published values stand in them."""
    lines = ["(fake): a figure that came from a fake model"] if fakes and table.fake else []
    lines += ["{ }: published"] if braces and has_published(table) else []
    return [line for text in (*lines, table.provenance, *table.notes) for line in text.splitlines()]


def explained(table: Table, *, short: bool = False) -> str:
    """What the columns of a table say, in one sentence."""
    named = {(column.short if short else "") or column.label: column.help for column in table.columns}
    return "; ".join(f"{name}: {words}" for name, words in named.items() if words and words != name)


def first_text(row: tuple[Value, ...]) -> str:
    """The name of a row, marked where its figures are fake."""
    return row[0].text + (" (fake)" if any(value.fake for value in row) else "")


def is_published_only(row: tuple[Value, ...]) -> bool:
    """Whether a paper has this row, and we have no figure for it."""
    return any(value.published is not None for value in row) and all(value.value is None for value in row)
