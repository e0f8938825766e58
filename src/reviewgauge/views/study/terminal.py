"""The tables of a study in the terminal, and the estimate before them."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.study import Estimate, StudyReport, Table
from reviewgauge.models.request.budget import money
from reviewgauge.views.study.cells import first_text, is_published_only, legend, shown
from reviewgauge.views.terminal.tables import bare_table, notes_below, number_column, plain

MOST_COLUMNS, WITH_INTERVALS = 7, 5  # columns of figures that are shown; with intervals


def estimate_lines(found: Estimate) -> list[str]:
    """What the study will take, in sentences."""
    cells = f"{_n(found.cells, 'cell')} of {_n(found.reviewers, 'reviewer')} on {_n(found.benchmarks, 'benchmark')}"
    lines = [f"Estimate: {cells}; {_n(found.reviews, 'review')} to make"]
    if found.calls or found.reused:
        price = "an unknown sum" if found.dollars is None else money(found.dollars)
        price += f" (no price is known for {', '.join(found.unpriced)})" if found.unpriced else ""
        price += f", at most {money(found.worst)}" if found.worst is not None and found.dollars else ""
        price += " (the fake model's price is invented)" if found.invented else ""
        lines[0] += (
            f"; {_n(found.calls, 'call')} to pay for, {found.reused:,} more are in the cache or shared; about "
            f"{found.tokens_in:,} tokens in and {found.tokens_out:,} out: {price}"
        )
    lines[0] += f"; about {_time(found.seconds)}, a guess; scoring and tables on this machine come on top"
    lines += [f"will fail: {one.benchmark}, {one.what}: {one.why}" for one in found.troubles]
    return lines


def _n(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def study_view(report: StudyReport) -> RenderableType:
    """Every table, then what has no result."""
    parts: list[RenderableType] = [plain(report.title, style="bold"), Text("")]
    for table in report.tables:
        parts += [_table(table), Text("")]
    parts += [notes_below(*report.notes)] if report.notes else []
    parts += [notes_below(*(f"! {one.benchmark}, {one.what}: {one.why}" for one in report.troubles))]
    return Group(*parts)


def _table(table: Table) -> RenderableType:
    found: RichTable = bare_table(one_line(table.title))
    places = range(min(len(table.columns), table.texts + MOST_COLUMNS))
    intervals = len(places) + table.texts - 2 <= WITH_INTERVALS  # a second column of names takes the room of two
    for at in places:
        if at >= table.texts:
            number_column(found, one_line(table.columns[at]))
        else:
            found.add_column(plain(table.columns[at]), overflow="fold", min_width=18 if at == 0 else None)
    ours = [row for row in table.rows if not is_published_only(row)]
    for row in ours[: table.shown]:
        texts = [first_text(row), *(shown(row[at], interval=intervals) for at in places[1:])]
        found.add_row(*(plain(text) for text in texts))
    left = [
        f"{len(ours) - table.shown} more rows" if len(ours) > table.shown else "",
        _published_alone(len(table.rows) - len(ours)),
        "intervals" if not intervals and any(c.low is not None for row in table.rows for c in row) else "",
        f"{', '.join(table.columns[len(places) :])}" if len(places) < len(table.columns) else "",
    ]
    lines = [f"in tables/{table.name}.csv: {'; '.join(filter(None, left))}"] if any(left) else []
    return Group(found, notes_below(*lines, *legend(table)))


def _published_alone(rows: int) -> str:
    return "" if not rows else "1 row that is published alone" if rows == 1 else f"{rows} rows that are published alone"
