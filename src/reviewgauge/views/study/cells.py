"""A cell of a study's table as text."""

from __future__ import annotations

from reviewgauge.core.reports.study import Cell, Table
from reviewgauge.views.terminal import figures


def shown(cell: Cell, *, interval: bool = True, published: bool = True) -> str:
    """`.62 [.55, .69]`, a paper's value after it in braces; the text of a cell without a figure."""
    parts = [value_of(cell)] if cell.value is not None or cell.text else []
    if interval and cell.value is not None and (bounds := bounds_of(cell)):
        parts.append(bounds)
    if published and cell.published is not None:
        parts.append("{" + number(cell.published, cell.unit) + "}")
    return " ".join(parts)


def value_of(cell: Cell) -> str:
    """The figure alone, or the text."""
    return cell.text if cell.value is None else number(cell.value, cell.unit)


def bounds_of(cell: Cell) -> str:
    """The interval, empty where there is none."""
    if cell.low is None or cell.high is None:
        return ""
    return f"[{number(cell.low, cell.unit)}, {number(cell.high, cell.unit)}]"


def number(value: float, unit: str) -> str:
    """A figure in its unit: a gain in percent with its sign, a count without digits where it is whole."""
    if unit == "gain":
        text = f"{value:+.1%}"
        return "0.0%" if text in ("+0.0%", "-0.0%") else text
    if unit == "p":
        return figures.p_value(value)
    if unit == "count":
        return figures.count(round(value, 1))
    if unit.endswith("²"):
        return f"{value:.4f}"
    if unit == "dollars":
        return f"${value:.4f}" if abs(value) < 0.1 else f"${value:.2f}"
    return figures.number(value, unit)


def has_published(table: Table) -> bool:
    """Whether a paper's value stands in it."""
    return any(cell.published is not None for row in table.rows for cell in row)


def is_fake(table: Table) -> bool:
    """Whether a fake model had a part in a figure of it."""
    return any(cell.fake for row in table.rows for cell in row)


def legend(table: Table, *, braces: bool = True) -> list[str]:
    """What a reader must know, line by line below a table. `braces`: published values stand in them."""
    lines = ["(fake): a figure that came from a fake model"] if is_fake(table) else []
    lines += ["{ }: published"] if braces and has_published(table) else []
    return [line for text in (*lines, table.provenance, *table.notes) for line in text.splitlines()]


def first_text(row: tuple[Cell, ...]) -> str:
    """The name of a row, marked where its figures are fake."""
    return row[0].text + (" (fake)" if any(cell.fake for cell in row) else "")


def is_published_only(row: tuple[Cell, ...]) -> bool:
    """Whether a paper has this row, and we have no figure for it."""
    return any(cell.published is not None for cell in row) and all(cell.value is None for cell in row)
