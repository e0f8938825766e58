"""What a check of a judge found, as one self-contained HTML page."""

from __future__ import annotations

from reviewgauge.core.reports.judge_check import JudgeReport
from reviewgauge.views.report import page
from reviewgauge.views.terminal.judge_words import footnotes, gate_line, headline, sections


def render(report: JudgeReport) -> str:
    """The page."""
    return page.render(
        "judge_check.html.j2",
        ["report.css"],
        {},
        title=headline(report),
        gate=gate_line(report),
        fake=report.fake,
        sections=list(sections(report)),
        notes=footnotes(report),
    )
