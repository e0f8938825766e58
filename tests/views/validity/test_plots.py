from __future__ import annotations

import pytest

import validity_toys as toys
from reviewgauge.core.reports.validity import GradeRow, MetricValidity
from reviewgauge.views.report import plots as shared
from reviewgauge.views.report.plots import available
from reviewgauge.views.validity import plots, words
from reviewgauge.views.validity.plots import _bean

pytestmark = pytest.mark.skipif(not available(), reason="the extra plots is not installed")


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
    assert not any(f'"{colour}"' in drawn for colour in shared.SENTINELS)


def test_a_bean_keeps_to_the_scores_there_were() -> None:
    figure = toys.figure(0.5, 10)
    row = GradeRow(
        grade=1, n=10, minimum=0.2, q1=0.3, median=figure, q3=0.6, maximum=0.8, mean=figure,
        density=((0.0, 0.1), (0.2, 1.0), (0.5, 2.0), (0.8, 0.5), (1.0, 0.1)),
    )  # fmt: skip
    shape = _bean(row, centre=50, half=20)
    assert [point["y"] for point in shape] == [0.2, 0.5, 0.8]
    assert (shape[1]["x"], shape[1]["x2"]) == (30, 70), "widest where it is densest"
    assert (shape[0]["x"], shape[0]["x2"]) == (40, 60)


def test_axes_of_points_have_no_exponents(metric: MetricValidity) -> None:
    assert metric.unit == "BLEU"
    assert ">60<" in plots.violins(metric, "v", 326)
    assert "e+" not in plots.sweep(metric.sweeps[0], metric.unit, "s", 326)


def test_reliability_says_every_point(metric: MetricValidity) -> None:
    found = next(c for c in metric.calibrated if c.reliability)
    drawn = plots.reliability(found, "r", 326)
    assert drawn.count("people 1") + drawn.count("people 2") + drawn.count("people 3") == len(found.reliability)
    assert "Reliability of the isotonic calibration" in drawn


def test_constant_scores_still_draw() -> None:
    constant = toys.report(toys.AWKWARD[1:2], rows=100).metrics[0]
    assert "all scores are .000" in plots.violins(constant, "v", 326)
    assert "<svg" in plots.sweep(constant.sweeps[0], "share", "s", 326)
