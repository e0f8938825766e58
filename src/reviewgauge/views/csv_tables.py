"""Leaderboards and comparisons as CSV, nothing rounded, and as LaTeX tables made and rounded from the CSV.

The LaTeX needs `\\usepackage{booktabs}` only. Text from data is escaped in both.
"""

from __future__ import annotations

import csv
import io
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from reviewgauge.core.base import escape_cell, unescape_cell
from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.leaderboard import ComparisonTable, Leaderboard, SystemSummary
from reviewgauge.views.terminal import figures

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


UNDEFINED = "--"
_BESIDE = ("precision", "recall")  # shown beside the headline if present
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "[": "{[}",  # at the start of a row, an argument of the line break before it; a star likewise
    "*": "{*}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
}


def escape(text: str) -> str:
    """Text from data escaped for LaTeX, on one line."""
    return "".join(_ESCAPED.get(c, c) for c in unicodedata.normalize("NFC", one_line(text, 500)))


def leaderboard_table(csv_text: str, *, caption: str, label: str) -> str:
    """One row a system: the headline, and precision and recall if present, each with its interval."""
    rows = from_csv(csv_text)
    by_system: dict[str, dict[str, Mapping[str, str]]] = {}
    for row in rows:
        by_system.setdefault(row["system"], {})[row["reading"]] = row
    headline = next((row["reading"] for row in rows if row["headline"] == "yes"), "")
    known = {row["reading"] for row in rows}
    shown = [headline, *(r for r in _BESIDE if r in known and r != headline)] if headline else []
    head = ["System", *(figures.label(reading) for reading in shown), "Scored"]
    body = []
    for system, found in by_system.items():
        cells = [_interval(row.get("value", ""), row) for row in (found.get(reading, {}) for reading in shown)]
        of = next(iter(found.values()))
        fake = " (fake)" if of["fake"] == "yes" else ""
        body.append([escape(system) + fake, *cells, f"{of['scored']}/{of['cases']}"])
    return latex_table("l" + "r" * (len(shown) + 1), head, body, caption, label)


def comparisons_table(csv_text: str, *, caption: str, label: str) -> str:
    """One row a comparison: difference with interval, p-value, Holm's p-value, detectable difference."""
    head = ["First", "Second", "Reading", "Difference", "$p$", "$p_{\\mathrm{Holm}}$", "Detectable", "$n$"]
    body = [
        [
            *(escape(row["first"]), escape(row["second"]), escape(figures.label(row["reading"]))),
            *(_interval(row["difference"], row), _p(row["p"]), _p(row["p Holm"])),
            *(_number(row["detectable"], row["unit"]), row["n"]),
        ]
        for row in from_csv(csv_text)
    ]
    return latex_table("lllrrrrr", head, body, caption, label)


def latex_table(columns: str, head: Sequence[str], body: Sequence[Sequence[str]], caption: str, label: str) -> str:
    """A table of cells that are LaTeX already; `columns` aligns them."""
    names = [name if name.startswith("$") else escape(name) for name in head]
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{escape(caption)}}}",
        f"  \\label{{tab:{label}}}",
        f"  \\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"    \toprule",
        f"    {' & '.join(names)} \\\\",
        r"    \midrule",
        *(f"    {' & '.join(row)} \\\\" for row in body),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _interval(value: str, row: Mapping[str, str]) -> str:
    unit = row.get("unit", "share")
    shown = _number(value, unit)
    low, high = (_number(row.get(end, ""), unit) for end in ("low", "high"))
    return shown if UNDEFINED in (shown, low, high) else f"{shown} [{low}, {high}]"


def _number(text: str, unit: str = "share", digits: int = 3) -> str:
    """A rounded figure with a real minus sign; two dashes if undefined."""
    try:
        value = float(text)
    except ValueError:
        return UNDEFINED
    if not math.isfinite(value):
        return UNDEFINED
    places = digits if unit == "share" or abs(value) < 100 else 1
    shown = f"{value:.{places}f}"
    if float(shown) == 0:
        shown = shown.removeprefix("-")
    return f"$-${shown[1:]}" if shown.startswith("-") else shown


def _p(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return UNDEFINED
    return "$<$.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
