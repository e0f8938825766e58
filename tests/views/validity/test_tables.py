from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.console import Console

import validity_toys as toys
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.views.validity import words
from reviewgauge.views.validity.tables import validity


def printed(report: ValidityReport, width: int = 100, colour: bool = False) -> str:
    console = Console(
        width=width, force_terminal=colour, color_system="standard" if colour else None, legacy_windows=False
    )
    with console.capture() as capture:
        console.print(validity(report))
    return capture.get()


@pytest.fixture(scope="module")
def report() -> ValidityReport:
    return toys.report(rows=600)


@pytest.fixture(scope="module")
def awkward() -> ValidityReport:
    return toys.awkward()


@pytest.mark.parametrize("width", [100, 80, 60, 40])
@pytest.mark.slow
def test_nothing_is_wider_than_the_terminal(report: ValidityReport, awkward: ValidityReport, width: int) -> None:
    for one in (report, awkward):
        assert max(cell_len(line.rstrip()) for line in printed(one, width).splitlines()) <= width


def test_the_overview_has_every_metric_best_first_with_n_and_interval(report: ValidityReport) -> None:
    lines = printed(report).splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("metric"))
    assert lines[head].split() == ["metric", "n", "Spearman", "Kendall", "Pearson", "AUC", "QWK", "floor"]
    best = words.best_first(report, "grade")
    for at, metric in enumerate(best):
        cells = lines[head + 1 + 2 * at].split()
        spearman, sweep = words.spearman(metric), words.main_sweep(metric)
        assert sweep is not None
        assert cells[:4] == [metric.label, "600", words.coefficient(spearman.value), words.bounds(spearman, gap="")]
        assert cells[6] == words.coefficient(sweep.auc.value)
        part = metric.correlations[1]
        row = lines[head + 2 + 2 * at].split()
        assert row[:6] == ["-", "grade", "<", "5", f"{part.rows.rows:,}", words.coefficient(part.spearman.value)]


def test_the_three_highest_published_figures_stand_below_with_their_source(report: ValidityReport) -> None:
    text = printed(report)
    below = text[text.index("published:") :].splitlines()
    assert [line.split() for line in below[1:4]] == [
        ["Judge", "–", ".470", ".470", *["–"] * 4],
        ["Metric", "3", "–", ".300", *["–"] * 5],
        ["Metric", "2", "–", ".200", *["–"] * 5],
    ]
    assert below[4] == "arXiv:0000.00000, perhaps not on the same rows; 2 lower ones are in the report"
    assert "published" not in printed(report.model_copy(update={"published": ()}))


def test_it_says_what_the_figures_rest_on(report: ValidityReport) -> None:
    text = " ".join(printed(report).split())
    for said in (
        "n = 600 rows, 150 clusters by reference; left out: 3 no reference text",
        "95% intervals from 10,000 resamples, seed 0",
        report.benchmark[:12],
        toys.USED_LABELS,
        *(metric.metric for metric in report.metrics),
        words.trust(report, "grade"),
    ):
        assert said in text


def test_undefined_is_a_dash_with_its_reason_and_never_nan(awkward: ValidityReport) -> None:
    text = " ".join(printed(awkward).split())
    assert "exact_match: Spearman, Kendall, Pearson undefined: all 400 scores are equal" in text
    assert "bleu: Spearman, Kendall, Pearson undefined: no row was scored" in text
    assert "nan" not in text.lower().replace("finance", "")


def test_fake_and_estimate_stand_beside_every_name(awkward: ValidityReport) -> None:
    first = printed(awkward).split("relevance: how the scores")[0]
    assert first.count("(fake)") == 1 and first.count("length (estimate)") == 1
    assert "offline estimate (lexical judge)" in printed(awkward)


def test_hostile_text_is_neither_markup_nor_escape() -> None:
    text = printed(toys.hostile(), colour=True)
    for bad in ("\x07", "\u202e", "\x1b]", "\x1b[31mred"):
        assert bad not in text
    assert "[red]" in text, "markup stays text"


def test_nothing_at_all_is_said() -> None:
    empty = toys.report(kinds=(), rows=40)
    assert "no metric was validated" in printed(empty)
