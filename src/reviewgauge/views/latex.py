"""Tables as LaTeX, which needs `\\usepackage{booktabs}` only. Text from data is escaped."""

from __future__ import annotations

import re
import unicodedata

from reviewgauge.core.document import Column, Table, Value
from reviewgauge.core.errors import one_line
from reviewgauge.views.values import first_text, legend, shown

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


def table_latex(table: Table) -> str:
    """The table for a paper."""
    layout = "".join("r" if column.kind not in ("name", "text") else "l" for column in table.columns)
    body = [[escape(first_text(row)), *map(_tex, row[1:], table.columns[1:])] for row in table.rows]
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{escape(table.title)}}}",
        f"  \\label{{tab:{table.slug}}}",
        f"  \\begin{{tabular}}{{@{{}}{layout}@{{}}}}",
        r"    \toprule",
        f"    {' & '.join(map(escape, table.titles))} \\\\",
        r"    \midrule",
        *(f"    {' & '.join(row)} \\\\" for row in body),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"  \par\smallskip\footnotesize\raggedright",
        *(f"  {escape(line)}\\par" for line in legend(table)),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _tex(value: Value, column: Column) -> str:
    text = escape(shown(value, column))
    return text if value.value is None else re.sub(r"-(?=[.\d])", "$-$", text)  # a minus sign, not a hyphen
