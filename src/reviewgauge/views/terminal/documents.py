"""Documents for the terminal: each table shows what its width has room for, the most important columns first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.text import Text as RichText

from reviewgauge.core.document import Block, Chart, Column, Document, Section, Table, Text, Value
from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.study import Estimate, StudyReport
from reviewgauge.models.request.budget import money
from reviewgauge.views.figures import visible
from reviewgauge.views.terminal.tables import Fitted, bare_table, notes_below, number_column, plain
from reviewgauge.views.values import bounds_of, explained, first_text, is_published_only, legend, shown

_LOOKS = {"plain": "", "strong": "bold", "note": "dim", "warning": "yellow"}
_DIFF_LINES = 40
_NAME_WIDTH, _TEXT_WIDTH = 18, 24  # columns of the terminal that a name, and a text, has at least where there is room


def document_view(document: Document, *, explain: bool | None = False, files: str = "") -> RenderableType:
    """The headline, then every block; pages have charts. `explain` says what columns mean, `files` where tables are."""
    parts: list[RenderableType] = [plain(document.headline, 1000, "bold")] if document.headline else []
    before: Table | Text | None = None
    for block in _flat(document.blocks):
        apart = isinstance(block, Table) or isinstance(before, Table) or (before and block.kind != before.kind)
        parts += [RichText("")] if parts and apart else []
        if isinstance(block, Table):
            parts.append(table_view(block, explain=bool(explain), files=files))
        elif block.kind == "diff":
            lines = visible(block.text).splitlines()
            cut = [f"... {len(lines) - _DIFF_LINES} more lines"] if len(lines) > _DIFF_LINES else []
            parts.append(RichText("\n".join([*lines[:_DIFF_LINES], *cut])))
        else:
            parts.append(plain(block.text, 1000, _LOOKS[block.kind]))
        before = block
    return Group(*parts)


def _flat(blocks: Sequence[Block]) -> Iterator[Table | Text]:
    for block in blocks:
        if isinstance(block, Section):
            yield Text(text=block.title, kind="strong")
            yield from _flat(block.blocks)
        elif not isinstance(block, Chart):
            yield block


def table_view(table: Table, *, explain: bool = False, files: str = "") -> RenderableType:
    """One table with its title, and what it rests on below."""
    return Fitted(lambda width: _table(table, width, explain, files))


class _Shown(NamedTuple):
    """What fits: the positions of the columns, and those that have intervals."""

    columns: Sequence[int]
    intervals: frozenset[int]


def _table(table: Table, width: int, explain: bool, files: str) -> RenderableType:
    ours = [at for at, row in enumerate(table.rows) if not is_published_only(row)]
    listed = ours[: table.shown]
    rows = [table.rows[at] for at in listed]
    ways = list(_ways(table, rows))
    fit = next((fit for fit in ways if _least(table, rows, fit, width) <= width), ways[-1])
    grids: list[RenderableType] = [plain(table.title, 1000, "bold")] if table.title else []
    for columns in _pieces(table, rows, fit, width):
        grid = bare_table()
        for at in columns:
            column = table.columns[at]
            if column.kind in ("name", "text"):
                least = min(_NAME_WIDTH if column.kind == "name" else _TEXT_WIDTH, width // 3, _longest(rows, at))
                grid.add_column(plain(column.short or column.label), overflow="fold", min_width=max(1, least))
            else:
                number_column(grid, one_line(column.short or column.label))
        for place, row in zip(listed, rows, strict=True):
            if place in table.sections:
                grid.add_row(plain(table.sections[place], style="dim"))
            grid.add_row(*(_cell(table, place, at, row, fit) for at in columns))
        grids.append(grid)
    lines = [explained(table, short=True)] if explain else []
    below = [*_left_out(table, len(ours), fit, files), *lines, *legend(table, fakes=False)]
    return Group(*grids, notes_below(*below))


def _ways(table: Table, rows: Sequence[tuple[Value, ...]]) -> Iterator[_Shown]:
    """What could be shown, the most first: then without lesser intervals, lesser columns, and any interval."""
    left = list(range(len(table.columns)))
    bounds = frozenset(at for at in left if any(bounds_of(row[at], table.columns[at]) for row in rows))
    main = frozenset(at for at in bounds if table.columns[at].priority == 0)
    yield _Shown(left, bounds)
    if not main and all(column.priority < 2 for column in table.columns):  # a matrix: whole, in several pieces
        yield _Shown(left, main)
        yield _Shown(left, bounds)
        return
    yield _Shown(left, main)
    while (worst := max(table.columns[at].priority for at in left)) > 1:
        out = next(at for at in reversed(left) if table.columns[at].priority == worst)
        left = [at for at in left if at != out]
        yield _Shown(left, main)
    yield _Shown(left, frozenset())


def _pieces(table: Table, rows: Sequence[tuple[Value, ...]], fit: _Shown, width: int) -> Iterator[list[int]]:
    """The columns side by side, as many as fit; each piece begins with the name of the rows."""
    names = [at for at in fit.columns if at < table.names]
    piece = list(names)
    for at in fit.columns[len(names) :]:
        if len(piece) > len(names) and _least(table, rows, fit._replace(columns=[*piece, at]), width) > width:
            yield piece
            piece = list(names)
        piece.append(at)
    yield piece


def _least(table: Table, rows: Sequence[tuple[Value, ...]], fit: _Shown, width: int) -> int:
    """The columns of the terminal that this needs."""
    total = 0
    for at in fit.columns:
        column = table.columns[at]
        head = cell_len(one_line(column.short or column.label))
        if column.kind in ("name", "text"):
            total += min(_NAME_WIDTH if column.kind == "name" else _TEXT_WIDTH, max(12, width // 3), _longest(rows, at))
        else:
            mark = any(place == at for _, place in table.strong)
            total += mark + max([head, *(cell_len(_text(row[at], column, at in fit.intervals)) for row in rows)])
    return total + len(fit.columns) - 1


def _longest(rows: Sequence[tuple[Value, ...]], at: int) -> int:
    return max((cell_len(first_text(row) if at == 0 else row[at].text) for row in rows), default=1)


def _text(value: Value, column: Column, interval: bool) -> str:
    return (
        shown(value, column, interval=interval).replace(", ", ",") if interval else shown(value, column, interval=False)
    )


def _cell(table: Table, place: int, at: int, row: tuple[Value, ...], fit: _Shown) -> RichText:
    if at == 0:
        return plain(first_text(row), 500)
    text = plain(_text(row[at], table.columns[at], at in fit.intervals))
    return text.append("*", style="bold") if (place, at) in table.strong else text


def _left_out(table: Table, rows: int, fit: _Shown, files: str) -> list[str]:
    """What the files have and the terminal does not show."""
    alone = len(table.rows) - rows
    intervals = any(
        bounds_of(row[at], table.columns[at]) for row in table.rows for at in fit.columns if at not in fit.intervals
    )
    out = [column.label for at, column in enumerate(table.columns) if at not in fit.columns]
    left = [
        f"{rows - table.shown} more rows" if rows > table.shown else "",
        f"{alone} row{'s' * (alone > 1)} that {'are' if alone > 1 else 'is'} published alone" if alone else "",
        "intervals" if intervals else "",
        ", ".join(out),
    ]
    where = f"in {files}/{table.name}.csv" if files else "--json has"
    return [f"{where}: {'; '.join(filter(None, left))}"] if any(left) else []


# --- a study: the estimate before it, and its tables ------------------------------------------------------------------


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
    lines += [f"{one.benchmark}, {one.what}: {one.would_run}" for one in found.parts if one.would_run]
    lines += [f"will fail: {one.benchmark}, {one.what}: {one.why}" for one in found.troubles]
    return lines


def _n(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def study_view(report: StudyReport) -> RenderableType:
    """Every table, then what has no result."""
    parts: list[RenderableType] = [plain(report.title, style="bold"), RichText("")]
    for table in report.tables:
        parts += [table_view(table, files="tables"), RichText("")]
    parts += [notes_below(*report.notes)] if report.notes else []
    parts += [notes_below(*(f"! {one.benchmark}, {one.what}: {one.why}" for one in report.troubles))]
    return Group(*parts)
