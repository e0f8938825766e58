"""The files of a study: each table as CSV, nothing rounded, as Markdown and as LaTeX; the page; and all as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reviewgauge.core.reports.study import Cell, StudyReport, Table
from reviewgauge.views.csv_tables import Row, escape, latex_table, to_csv
from reviewgauge.views.markdown import plain_markdown, table_markdown
from reviewgauge.views.study.cells import first_text, legend, shown
from reviewgauge.views.study.page import study_page

STUDY, PAGE, TABLES = "study.json", "report.html", "tables"


def written(report: StudyReport) -> dict[str, str]:
    """Every file by its path in the folder of the study."""
    return {**table_files(report.tables), PAGE: study_page(report), STUDY: report.model_dump_json(indent=1) + "\n"}


def table_files(tables: Iterable[Table]) -> dict[str, str]:
    """The tables alone, each in three forms, by their paths."""
    files = {}
    for table in tables:
        files[f"{TABLES}/{table.name}.csv"] = table_csv(table)
        files[f"{TABLES}/{table.name}.md"] = table_md(table)
        files[f"{TABLES}/{table.name}.tex"] = table_tex(table)
    return files


_PARTS = ("low", "high", "n", "unit", "published")  # columns of their own beside a figure


def table_csv(table: Table) -> str:
    """A column for each column, and beside figures their interval, n, unit and published value."""
    beside = [_beside(table, at) for at in range(len(table.columns))]
    head = [
        name for at, column in enumerate(table.columns) for name in (column, *(f"{column}: {p}" for p in beside[at]))
    ]
    return to_csv([*head, "fake"], [_csv_row(row, beside) for row in table.rows])


def _beside(table: Table, at: int) -> list[str]:
    cells = [row[at] for row in table.rows]
    if all(cell.value is None and cell.published is None for cell in cells):
        return []
    return [part for part in _PARTS if part == "unit" or any(getattr(cell, part) is not None for cell in cells)]


def _csv_row(row: tuple[Cell, ...], beside: list[list[str]]) -> Row:
    values: list[str | float | int | bool | None] = []
    for cell, parts in zip(row, beside, strict=True):
        values.append(cell.text if cell.value is None else cell.value)
        values += [getattr(cell, part) if cell.value is not None or part == "published" else None for part in parts]
    return [*values, any(cell.fake for cell in row)]


def table_md(table: Table) -> str:
    """The table with its title, and what it rests on below."""
    rows = [[first_text(row), *map(shown, row[1:])] for row in table.rows]
    parts = [f"## {plain_markdown(table.title)}", table_markdown(table.columns, rows)]
    parts += [f"- {plain_markdown(line)}" for line in legend(table)]
    return "\n\n".join(parts[:2]) + "\n\n" + "\n".join(parts[2:]) + "\n"


def table_tex(table: Table) -> str:
    """The table for a paper; needs `\\usepackage{booktabs}` only."""
    layout = "l" * table.texts + "r" * (len(table.columns) - table.texts)
    body = [[escape(first_text(row)), *(_tex(cell) for cell in row[1:])] for row in table.rows]
    end = r"\end{table}"
    small = [r"  \par\smallskip\footnotesize\raggedright", *(f"  {escape(line)}\\par" for line in legend(table)), end]
    return latex_table(layout, table.columns, body, table.title, table.name).replace(end, "\n".join(small))


def _tex(cell: Cell) -> str:
    text = escape(shown(cell))
    return text if cell.value is None else re.sub(r"-(?=[.\d])", "$-$", text)  # a minus sign, not a hyphen
