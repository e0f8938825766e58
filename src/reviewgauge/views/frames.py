"""Tables as data frames of pandas and Arrow, which are imported when they are asked for."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from reviewgauge.core.document import Table, flat
from reviewgauge.core.errors import MissingExtra


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
