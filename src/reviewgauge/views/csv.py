"""Tables as CSV: nothing is rounded, and no text runs as a formula in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from reviewgauge.core.base import escape_cell
from reviewgauge.core.document import Plain, Table, flat

Row = Sequence[Plain]


def table_csv(table: Table) -> str:
    """A column for each column, and beside figures their interval, n, unit and published value."""
    return to_csv(*flat(table))


def to_csv(head: Sequence[str], rows: Iterable[Row]) -> str:
    """A table as CSV: undefined values are empty cells, and no text runs as a formula in a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Plain) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return escape_cell(value) if isinstance(value, str) else repr(value)
