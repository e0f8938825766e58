"""Tables as CSV, nothing rounded, and as LaTeX.

The LaTeX needs `\\usepackage{booktabs}` only. Text from data is escaped in both.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence

from reviewgauge.core.base import escape_cell
from reviewgauge.core.errors import one_line

Cell = str | float | int | bool | None
Row = Sequence[Cell]
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


def to_csv(head: Sequence[str], rows: Iterable[Row]) -> str:
    """A table as CSV: undefined values are empty cells, and no text runs as a formula in a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return escape_cell(value) if isinstance(value, str) else repr(value)


def escape(text: str) -> str:
    """Text from data escaped for LaTeX, on one line."""
    return "".join(_ESCAPED.get(c, c) for c in unicodedata.normalize("NFC", one_line(text, 500)))


def latex_table(columns: str, head: Sequence[str], body: Sequence[Sequence[str]], caption: str, label: str) -> str:
    """A table of cells that are LaTeX already; `columns` aligns them."""
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{escape(caption)}}}",
        f"  \\label{{tab:{label}}}",
        f"  \\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"    \toprule",
        f"    {' & '.join(map(escape, head))} \\\\",
        r"    \midrule",
        *(f"    {' & '.join(row)} \\\\" for row in body),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
