"""`reviewgauge.tables`: what any verb found, as tables to take elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from reviewgauge.core.base import Record
from reviewgauge.views.record_tables import record_tables
from reviewgauge.views.tables import ResultTable, result_tables


def tables(result: Record | Sequence[Record]) -> dict[str, ResultTable]:
    """The tables of a result by their names; each has `to_pandas()`, `to_arrow()`, `to_csv()`, `to_latex()`.

    `score` has tables made for people, `.tables`; these are of every figure that a result has.
    """
    return result_tables(record_tables(result))
