"""The report of a check fits its terminal, hides nothing that failed, and its page runs nothing that data says."""

from __future__ import annotations

import pytest
from rich.console import Console

from judge_toys import RESAMPLES, Failing, asker, toy_bench
from reviewgauge.analysis.judge_check.report import JudgeOptions, check_judge
from reviewgauge.core.document import Value
from reviewgauge.core.reports.judge_check import JudgeAgreement, JudgeReport
from reviewgauge.views.judge_check import judge_document
from reviewgauge.views.pages import document_page
from reviewgauge.views.terminal.documents import document_view


@pytest.fixture(scope="module")
def report() -> JudgeReport:
    """Of a judge that fails on some questions, on data with a hostile name."""
    bench = toy_bench()
    bench = type(bench)(**{**vars(bench), "name": "<script>alert(1)</script>[bold]x"})
    return check_judge(bench, asker(Failing()), JudgeOptions(probes=12, resamples=RESAMPLES, min_kappa=0.9))


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.slow
def test_it_fits(report: JudgeReport, width: int) -> None:
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(document_view(judge_document(report)))
    text = console.export_text()
    assert all(len(line) <= width for line in text.splitlines())
    assert "[bold]x" in text
    assert "gate NOT passed: 16.7% of the rows have no answer" in text
    assert "failed: network" in text


def test_the_page_escapes_what_data_says(report: JudgeReport) -> None:
    page = document_page(judge_document(report))
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "failed: network" in page


def test_rows_that_nobody_was_asked_about_are_said_in_both(report: JudgeReport) -> None:
    asked = Value(value=0.8, low=0.7, high=0.9, n=40)
    row = report.agreement[0].model_copy(update={"rows": 48, "unasked": 8, "kappa_asked": asked})
    flattered = report.model_copy(update={"agreement": (row,)})
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(document_view(judge_document(flattered)))
    for text in (console.export_text(), document_page(judge_document(flattered))):
        said = " ".join(text.split())
        assert "8 rows have a review without comments, so nothing is asked" in said
        assert "on the other 40 kappa is .800 [.700, .900]" in said


def test_a_figure_is_never_cut(report: JudgeReport) -> None:
    """A rater may have a long name, and its columns are as wide as they get."""
    whole = Value(value=1.0, low=1.0, high=1.0, n=400)
    row = JudgeAgreement(
        rater="anthropic_claude-sonnet-4-5-20250929",
        rows=4000,
        clusters=9,
        kappa=whole,
        spearman=whole,
        spearman_within=whole,
        auc=whole,
    )
    graded = report.model_copy(update={"kind": "grades", "agreement": (row,)})
    for width in (80, 100):
        console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
        console.print(document_view(judge_document(graded)))
        table = console.export_text().split("agreement (9 clusters)")[1].split("\n\n")[0]
        line = next(line for line in table.splitlines() if "4,000" in line)
        assert line.count("[") == line.count("]") == table.count("[") >= 2
