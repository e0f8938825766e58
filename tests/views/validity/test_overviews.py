from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import validity_toys as toys
from reviewgauge.core.reports.validity import ValidityReport
from reviewgauge.views.report import plots
from reviewgauge.views.validity import overviews, words

needs_plots = pytest.mark.skipif(not plots.available(), reason="the extra plots is not installed")


@pytest.fixture(scope="module")
def report() -> ValidityReport:
    return toys.report(rows=400)


@pytest.fixture(scope="module")
def awkward() -> ValidityReport:
    return toys.awkward()


@needs_plots
def test_the_forest_has_a_line_for_every_metric_and_row_set_with_its_n(awkward: ValidityReport) -> None:
    metrics = words.best_first(awkward, "conciseness")
    drawn = overviews.forest(metrics, words.names(awkward), "f", 520)
    parts = [part for metric in metrics for part in metric.correlations]
    assert drawn.count("· grade &lt; 5<") == sum(part.rows.name == "grade < 5" for part in parts)
    assert drawn.count(">400<") == 3
    assert ".500 fake<" in drawn or " fake<" in drawn
    assert drawn.count('fill="var(--accent)"') == sum(words.spearman(m).value is not None for m in metrics)


@needs_plots
@pytest.mark.slow
def test_lines_of_the_forest_stand_in_order_also_where_one_is_undefined(report: ValidityReport) -> None:
    first = report.metrics[0].correlations
    nothing = toys.figure(None, 9, reason=toys.CONSTANT)
    gap = report.metrics[0].model_copy(
        update={
            "label": "undefined",
            "metric": "u",
            "correlations": (first[0].model_copy(update={"spearman": nothing}),),
        }
    )
    metrics = [report.metrics[1], gap, report.metrics[2]]
    called = words.names(report.model_copy(update={"metrics": tuple(metrics)}))
    drawn = overviews.forest(metrics, called, "f", 520)
    found = re.findall(r'translate\([^,]*,([\d.]+)\)"[^>]*>(rouge|undefined|meteor)<', drawn)
    assert [name for _, name in sorted(found, key=lambda pair: float(pair[0]))] == ["rouge", "undefined", "meteor"]


@needs_plots
def test_the_ranking_names_every_system_and_says_both_ranks(report: ValidityReport) -> None:
    metrics = words.best_first(report, "grade")
    drawn = overviews.bump(metrics, words.names(report), "b", 1080, numbered=False)
    for system in toys.SYSTEMS:
        assert drawn.count(f">{system}<") == 2, "at both ends"
    point = metrics[0].ranking.systems[0]  # type: ignore[union-attr]
    assert f"{point.system} {point.metric_rank:g} (people {point.human_rank:g})" in drawn


@needs_plots
def test_sensitivity_puts_each_metric_on_its_own_range(report: ValidityReport) -> None:
    metric = report.metrics[0]
    lowest, highest = min(g.minimum for g in metric.grades), max(g.maximum for g in metric.grades)
    assert overviews.on_range(metric, lowest) == 0
    assert overviews.on_range(metric, highest) == 1
    assert overviews.on_range(metric, None) is None
    drawn = overviews.sensitivity(list(report.metrics), words.names(report), "s", 520)
    for one in report.metrics:
        assert f">{one.label}<" in drawn


@needs_plots
def test_constant_scores_have_no_line_and_break_nothing(awkward: ValidityReport) -> None:
    constant = [m for m in awkward.metrics if m.label == "exact_match"]
    assert overviews.on_range(constant[0], 0.0) is None
    assert overviews.moving(constant) == []
    assert "<svg" in overviews.sensitivity(constant, words.names(awkward), "s", 326)


@given(st.lists(st.floats(0, 300), max_size=12))
def test_names_beside_lines_never_overlap(places: list[float]) -> None:
    moved = overviews.spread(sorted(places), 300)
    assert len(moved) == len(places)
    assert all(b - a >= overviews.GAP - 1e-6 for a, b in pairwise(moved))
    assert all(place <= 300 for place in moved)


@needs_plots
def test_what_has_no_value_draws_nothing_and_breaks_nothing(report: ValidityReport) -> None:
    nothing = toys.figure(None, 0, reason=toys.CONSTANT)
    rows = tuple(row.model_copy(update={"mean": nothing, "median": nothing}) for row in report.metrics[0].grades)
    blank = report.metrics[0].model_copy(update={"grades": rows, "ranking": None})
    called = words.names(report)
    assert "<svg" in overviews.sensitivity([blank], called, "s", 520)
    assert "<svg" in overviews.bump([blank], called, "b", 326, numbered=True)
    assert "<svg" in overviews.forest([], called, "f", 326)
