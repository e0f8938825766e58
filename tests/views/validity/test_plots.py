from __future__ import annotations

import pytest

import validity_toys as toys
from reviewgauge.core.reports.validity import GradeRow, MetricValidity, ValidityReport
from reviewgauge.views.validity import plots, words
from reviewgauge.views.validity.plots import bean


@pytest.fixture(scope="module")
def metric() -> MetricValidity:
    return toys.report(toys.KINDS[:1], rows=400).metrics[0]


def test_violins_show_grade_n_and_median_and_say_what_is_a_line(metric: MetricValidity) -> None:
    drawn = plots.violins(metric, "v", 326)
    for row in metric.grades:
        assert f">{row.n}<" in drawn
        assert f">{words.score(row.median.value, metric.unit)}<" in drawn
    assert "grade 5, n" in drawn
    assert "all scores are 100.0" in drawn


def test_a_bean_keeps_to_the_scores_there_were() -> None:
    figure = toys.figure(0.5, 10)
    row = GradeRow(
        grade=1, n=10, minimum=0.2, q1=0.3, median=figure, q3=0.6, maximum=0.8, mean=figure,
        density=((0.0, 0.1), (0.2, 1.0), (0.5, 2.0), (0.8, 0.5), (1.0, 0.1)),
    )  # fmt: skip
    shape = bean(row, centre=50, half=20)
    assert shape == [(40, 0.2), (30, 0.5), (45, 0.8), (55, 0.8), (70, 0.5), (60, 0.2)], "widest where it is densest"


def test_axes_of_points_have_no_exponents(metric: MetricValidity) -> None:
    assert metric.unit == "BLEU"
    assert ">60<" in plots.violins(metric, "v", 326)
    assert "e+" not in plots.sweep(metric.sweeps[0], metric.unit, "s", 326)


def test_constant_scores_still_draw() -> None:
    constant = toys.report(toys.AWKWARD[1:2], rows=100).metrics[0]
    assert "all scores are .000" in plots.violins(constant, "v", 326)
    assert "<svg" in plots.sweep(constant.sweeps[0], "share", "s", 326)


@pytest.fixture(scope="module")
def report() -> ValidityReport:
    return toys.report(rows=400)


@pytest.fixture(scope="module")
def awkward() -> ValidityReport:
    return toys.awkward()


def test_the_ranking_names_every_system_and_says_both_ranks(report: ValidityReport) -> None:
    metrics = words.best_first(report, "grade")
    drawn = plots.bump(metrics, words.names(report), "b", 1080, numbered=False)
    for system in toys.SYSTEMS:
        assert drawn.count(f">{system}<") == 2, "at both ends"
    point = metrics[0].ranking.systems[0]  # type: ignore[union-attr]
    assert f"{point.system} {point.metric_rank:g} (people {point.human_rank:g})" in drawn


def test_sensitivity_puts_each_metric_on_its_own_range(report: ValidityReport) -> None:
    metric = report.metrics[0]
    lowest, highest = min(g.minimum for g in metric.grades), max(g.maximum for g in metric.grades)
    assert plots.on_range(metric, lowest) == 0
    assert plots.on_range(metric, highest) == 1
    assert plots.on_range(metric, None) is None
    drawn = plots.sensitivity(list(report.metrics), words.names(report), "s", 520)
    for one in report.metrics:
        assert f">{one.label}<" in drawn


def test_constant_scores_have_no_line_and_break_nothing(awkward: ValidityReport) -> None:
    constant = [m for m in awkward.metrics if m.label == "exact_match"]
    assert plots.on_range(constant[0], 0.0) is None
    assert plots.moving(constant) == []
    assert "<svg" in plots.sensitivity(constant, words.names(awkward), "s", 326)


def test_what_has_no_value_draws_nothing_and_breaks_nothing(report: ValidityReport) -> None:
    nothing = toys.figure(None, 0, reason=toys.CONSTANT)
    rows = tuple(row.model_copy(update={"mean": nothing, "median": nothing}) for row in report.metrics[0].grades)
    blank = report.metrics[0].model_copy(update={"grades": rows, "ranking": None})
    called = words.names(report)
    assert "<svg" in plots.sensitivity([blank], called, "s", 520)
    assert "<svg" in plots.bump([blank], called, "b", 326, numbered=True)
