"""The files of a study: each table as CSV, nothing rounded, as Markdown and as LaTeX; the page; and all as JSON."""

from __future__ import annotations

from collections.abc import Iterable

from reviewgauge.core.document import Table
from reviewgauge.core.reports.study import StudyReport
from reviewgauge.views.csv import table_csv
from reviewgauge.views.latex import table_latex
from reviewgauge.views.markdown import document_table
from reviewgauge.views.study.page import study_page

STUDY, PAGE, TABLES = "study.json", "report.html", "tables"


def written(report: StudyReport) -> dict[str, str]:
    """Every file by its path in the folder of the study."""
    return {**table_files(report.tables), PAGE: study_page(report), STUDY: report.model_dump_json(indent=1) + "\n"}


def table_files(tables: Iterable[Table]) -> dict[str, str]:
    """The tables alone, each in three forms, by their paths."""
    files = {}
    for table in tables:
        files[f"{TABLES}/{table.name}.csv"] = table_csv(table)
        files[f"{TABLES}/{table.name}.md"] = document_table(table)
        files[f"{TABLES}/{table.name}.tex"] = table_latex(table)
    return files
