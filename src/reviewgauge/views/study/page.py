"""The page of a study: every table with its drawing, what it rests on, and what could not be computed."""

from __future__ import annotations

from markupsafe import Markup

from reviewgauge.core.reports.study import StudyReport
from reviewgauge.views.html import table_html
from reviewgauge.views.report.report import render_page
from reviewgauge.views.study.plots import drawing


def study_page(report: StudyReport) -> str:
    """The page as one HTML document."""
    return render_page(
        "study.html.j2",
        ["report.css", "study.css"],
        {},
        report=report,
        fake=any(table.fake for table in report.tables),
        tables=[
            (table, Markup(drawing(table, f"plot-{at}")), table_html(table)) for at, table in enumerate(report.tables)
        ],
    )
