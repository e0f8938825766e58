"""Tables as the files that a user names: CSV, LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reviewgauge.core.document import Table
from reviewgauge.core.reports.leaderboard import ComparisonTable
from reviewgauge.views.comparisons import comparison_table
from reviewgauge.views.csv import table_csv
from reviewgauge.views.latex import table_latex
from reviewgauge.views.markdown import document_table


def table_files(tables: Iterable[Table], csv: str = "", latex: str = "", markdown: str = "") -> dict[str, str]:
    """The texts by their files. A CSV file holds one table: others stand beside the first one's, under their names."""
    named = [one if one.title else one.model_copy(update={"title": one.name}) for one in tables]
    files = {latex: "\n".join(map(table_latex, named)), markdown: "\n".join(map(document_table, named))}
    path = Path(csv)
    for at, table in enumerate(named):
        name = f"{path.stem}-{table.slug}{path.suffix}" if at else path.name
        files[str(path.with_name(name)) if csv else ""] = table_csv(table)
    return {file: text for file, text in files.items() if file and text}


def titled_comparison(table: ComparisonTable) -> Table:
    """The comparison by one metric, with a title that says what was measured on what."""
    label = table.label or table.metric
    named = {"name": f"comparison {label}", "title": f"{label} on {table.dataset}"}
    return comparison_table(table).model_copy(update=named)
