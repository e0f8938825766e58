from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.console import Console

import validity_toys as toys
from reviewgauge.analysis.stats.classification import TREE
from reviewgauge.core.reports.validity import SliceRow, ValidityReport
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
    assert lines[head].split() == ["metric", "n", "Spearman", "Kendall", "Pearson", "AUC", "QWK", "floor", "isotonic"]
    best = words.best_first(report, "grade")
    for at, metric in enumerate(best):
        cells = lines[head + 1 + 2 * at].split()
        spearman, sweep = words.spearman(metric), words.main_sweep(metric)
        assert sweep is not None
        assert cells[:4] == [metric.label, "600", words.coefficient(spearman.value), words.bounds(spearman, gap="")]
        assert cells[6] == words.coefficient(sweep.auc.value)
        part = metric.correlations[1]
        row = lines[head + 2 + 2 * at].split()
        assert row[:5] == ["grade", "<", "5", f"{part.rows.rows:,}", words.coefficient(part.spearman.value)]


def test_medians_distances_and_trees_are_those_of_the_report(report: ValidityReport) -> None:
    text = printed(report)
    medians = text[text.index("median score by grade") : text.index("Kolmogorov-Smirnov")].splitlines()
    trees = text[text.index("grades predicted from the scores") :].splitlines()
    for metric in report.metrics:
        row = next(line for line in medians if line.startswith(metric.label)).split()
        assert row[1:] == [
            words.score(g.median.value, metric.unit) + ("=" if g.minimum == g.maximum else "") for g in metric.grades
        ]
        tree = words.classifier(metric, TREE)
        assert tree is not None
        assert words.coefficient(tree.accuracy.value) in next(t for t in trees if t.startswith(metric.label))
    assert "=: all scores of that grade are equal" in text
    assert sum(line.startswith("majority class") for line in trees) == 1, "the same for all, so said once"
    assert "metric 1-2 1-3 1-4 1-5 2-3 2-4 2-5 3-4 3-5 4-5" in " ".join(text.split())


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
    assert "exact_match: Spearman, Kendall, Pearson, AUC undefined: all scores are equal" in text
    assert "bleu: Spearman, Kendall, Pearson undefined: no row was scored" in text
    assert "nan" not in text.lower().replace("finance", "")


def test_fake_and_estimate_stand_beside_every_name(awkward: ValidityReport) -> None:
    first = printed(awkward).split("relevance: how the scores")[0]
    assert first.count("(fake)") == 6, "overview, slices, medians, distances, trees, rankings"
    assert first.count("length (estimate)") == 6
    assert "offline estimate (lexical judge)" in printed(awkward)


def test_hostile_text_is_neither_markup_nor_escape() -> None:
    text = printed(toys.hostile(), colour=True)
    for bad in ("\x07", "\u202e", "\x1b]", "\x1b[31mred"):
        assert bad not in text
    assert "[red]" in text, "markup stays text"


def test_nothing_at_all_is_said() -> None:
    empty = toys.report(kinds=(), rows=40)
    assert "no metric was validated" in printed(empty)


def test_slices_stand_with_their_n(report: ValidityReport) -> None:
    text = printed(report)
    lines = text[text.index("Spearman by language") :].splitlines()
    assert lines[1].split() == ["Java", "JavaScript", "Python"]
    assert lines[2].split() == ["metric", "n=300", "n=300", "n=300"]
    assert lines[3].split() == [words.best_first(report, "grade")[0].label, ".250", ".300", ".200"]


def test_of_many_values_those_with_most_rows_are_shown() -> None:
    made = toys.report(toys.KINDS[:1], rows=60)
    rows = tuple(
        SliceRow(fact="system", value=f"tool {at:02d}", spearman=toys.figure(at / 100, 100 + at)) for at in range(30)
    )
    one = made.metrics[0].model_copy(update={"slices": rows})
    text = printed(made.model_copy(update={"metrics": (one,)}))
    assert text.index("tool 18") < text.index("tool 29") and "tool 17" not in text
    assert "18 values with fewer rows are in the report" in text


def test_where_the_other_intervals_are_is_said(report: ValidityReport, awkward: ValidityReport) -> None:
    said = "the report and its CSV tables have the other intervals"
    assert said in printed(report)
    bare = report.metrics[0].model_copy(update={"ks": ()})
    assert said not in printed(report.model_copy(update={"metrics": (bare,)}))
