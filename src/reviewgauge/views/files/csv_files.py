"""The CSV writer of all tables, and leaderboards and comparisons as CSV: one row a figure, nothing rounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from reviewgauge.core.reports.leaderboard import ComparisonTable, Leaderboard, SystemSummary
from reviewgauge.core.spreadsheet import escape_cell, unescape_cell

Cell = str | float | int | bool | None
Row = Sequence[Cell]
ESTIMATES = (
    *("system", "reading", "headline", "value", "low", "high", "level", "unit", "n", "clusters", "worst", "best"),
    *("cases", "scored", "failed", "not applicable", "missing", "attempts", "fake"),
)
SLICES = ("fact", "fact value", "changes", *ESTIMATES)
COMPARISONS = (
    *("first", "second", "reading", "first value", "second value", "difference", "low", "high", "level", "p"),
    *("p Holm", "detectable", "n", "clusters", "worst", "best", "unit", "test"),
)


def leaderboard_csv(board: Leaderboard) -> str:
    """Every reading of every system, best system first."""
    return to_csv(ESTIMATES, (row for system in board.systems for row in _estimates(system, board.headline)))


def slices_csv(board: Leaderboard) -> str:
    """Every reading of every system on every slice."""
    rows = (
        (piece.fact, piece.value, piece.n, *row)
        for piece in board.slices
        for system in piece.systems
        for row in _estimates(system, board.headline)
    )
    return to_csv(SLICES, rows)


def comparisons_csv(table: ComparisonTable) -> str:
    """Every comparison, in order."""
    rows = (
        (
            *(c.first, c.second, c.reading, c.first_value, c.second_value, c.difference, c.low, c.high, c.level, c.p),
            *(c.p_holm, c.detectable, c.n, c.clusters, c.worst, c.best, c.unit, c.test),
        )
        for c in table.comparisons
    )
    return to_csv(COMPARISONS, rows)


def _estimates(system: SystemSummary, headline: str) -> Iterator[Row]:
    for e in system.estimates:
        yield (
            *(system.system, e.reading, e.reading == headline, e.value, e.low, e.high, e.level, e.unit, e.n),
            *(e.clusters, e.worst, e.best, system.cases, system.scored, system.failed, system.not_applicable),
            *(system.missing, system.attempts, system.fake),
        )


def to_csv(head: Sequence[str], rows: Iterable[Row]) -> str:
    """A table as CSV: undefined values are empty cells, and no text runs as a formula in a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def from_csv(text: str) -> list[dict[str, str]]:
    """The rows of such a table by column, texts as they were before `to_csv`."""
    rows = csv.DictReader(io.StringIO(text))
    return [{name: unescape_cell(value or "") for name, value in row.items()} for row in rows]


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return escape_cell(value) if isinstance(value, str) else repr(value)
