"""A table that its user can take elsewhere: what the results of the Python functions have under `.tables`."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable
from typing import Any

from reviewgauge.core.document import Table, flat
from reviewgauge.core.errors import MissingExtra


class ResultTable(Table):
    """A table with its exports. In a notebook it shows itself."""

    def to_csv(self) -> str:
        """Every figure in full, with its interval, n, unit and published value beside it."""
        from reviewgauge.views.csv import table_csv

        return table_csv(self)

    def to_markdown(self) -> str:
        """For a README or a pull request."""
        from reviewgauge.views.markdown import document_table

        return document_table(self)

    def to_latex(self) -> str:
        """For a paper; needs `booktabs`."""
        from reviewgauge.views.latex import table_latex

        return table_latex(self)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with the columns of the CSV. Raises MissingExtra."""
        from reviewgauge.views.tables import table_pandas

        return table_pandas(self)

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` with the columns of the CSV. Raises MissingExtra."""
        from reviewgauge.views.tables import table_arrow

        return table_arrow(self)

    def _repr_html_(self) -> str:
        from reviewgauge.views.html import table_html

        return table_html(self)


def tables_html(tables: Iterable[Table]) -> str:
    """What a notebook shows of a result: its tables."""
    return "\n".join(one._repr_html_() for one in result_tables(tables).values())


def result_tables(tables: Iterable[Table]) -> dict[str, ResultTable]:
    """The tables by their names, with their exports."""
    return {
        one.name: ResultTable.model_construct(**{key: getattr(one, key) for key in Table.model_fields})
        for one in tables
    }


def table_pandas(table: Table) -> Any:
    """A `pandas.DataFrame` with the columns of the CSV. Raises MissingExtra."""
    return _library("pandas").DataFrame(_columns(table))


def table_arrow(table: Table) -> Any:
    """A `pyarrow.Table` with the columns of the CSV. Raises MissingExtra."""
    return _library("pyarrow").table(_columns(table))


def _columns(table: Table) -> dict[str, list[object]]:
    """The values by column, of one type each: what is undefined is None, and a column with a figure has no texts."""
    head, rows = flat(table)
    found: dict[str, list[object]] = {}
    for name, *column in zip(head, *rows, strict=True):
        numeric = any(isinstance(one, int | float) for one in column)
        found[str(name)] = [None if numeric and isinstance(one, str) else one for one in column]
    return found


def _library(name: str) -> Any:
    if importlib.util.find_spec(name) is None:
        raise MissingExtra(name, "frames")
    return importlib.import_module(name)
