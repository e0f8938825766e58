"""The page of a study: every table with its drawing, what it rests on, and what could not be computed."""

from __future__ import annotations

from markupsafe import Markup

from reviewgauge.core.reports.study import StudyReport
from reviewgauge.views.report.report import render_page
from reviewgauge.views.study.cells import bounds_of, first_text, is_fake, legend, number, value_of
from reviewgauge.views.study.plots import drawing


def study_page(report: StudyReport) -> str:
    """The page as one HTML document."""
    return render_page(
        "study.html.j2",
        ["report.css", "study.css"],
        {
            "value_of": value_of,
            "bounds_of": bounds_of,
            "figure_number": number,
            "first_text": first_text,
        },
        report=report,
        fake=any(map(is_fake, report.tables)),
        tables=[
            (table, Markup(drawing(table, f"plot-{at}")), legend(table, braces=False))
            for at, table in enumerate(report.tables)
        ],
    )
