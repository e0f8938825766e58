from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.views.report import plots
from reviewgauge.views.report.plots import Box, place_labels
from reviewgauge.views.report.report import ReportData


@pytest.mark.slow
def test_a_forest_names_every_system_and_value(big: ReportData) -> None:
    board = big.leaderboards[0]
    drawn = plots.forest(board, "f1", "p", 520)
    for system in board.systems:
        assert plots.cut(system.system).replace("'", "&#x27;")[:8] in drawn or system.system[:8] in drawn
    assert ".60 fake" in drawn or " fake<" in drawn


def test_an_undefined_measure_is_a_dash_and_no_point(small: ReportData) -> None:
    board = small.leaderboards[0]
    drawn = plots.forest(board, "precision", "p", 520)
    assert ">–<" in drawn
    points = drawn.count('fill="var(--accent)"')
    assert points == sum(e.measure == "precision" and e.value is not None for s in board.systems for e in s.estimates)


def test_an_undefined_measure_keeps_its_place_between_the_others(small: ReportData) -> None:
    board = small.leaderboards[0]
    order = [board.systems[0], board.systems[-1], *board.systems[1:-1]]
    drawn = plots.forest(board.model_copy(update={"systems": tuple(order)}), "precision", "p", 520)
    places = [
        float(re.search(rf' y="([\d.]+)"[^>]*>{re.escape(s.system[:6])}', drawn)[1])  # type: ignore[index]
        for s in order
    ]
    assert places == sorted(places)


def test_systems_without_precision_are_left_out_and_said(small: ReportData) -> None:
    assert "1 without a defined precision are not shown" in plots.precision_recall(
        small.leaderboards[0], "p", 520, False
    )


def test_no_two_ticks_of_an_axis_have_one_label(small: ReportData) -> None:
    board = small.leaderboards[0]
    low = [
        system.model_copy(
            update={
                "estimates": tuple(
                    e.model_copy(update={"value": 0.12, "low": 0.06, "high": 0.23} if e.value is not None else {})
                    for e in system.estimates
                )
            }
        )
        for system in board.systems
    ]
    drawn = plots.forest(board.model_copy(update={"systems": tuple(low)}), "f1", "p", 520)
    labels = [label for label in re.findall(r">(0|1|\.\d+)</text>", drawn) if label != ".12"]
    assert len(labels) > 2 and len(labels) == len(set(labels))


def test_drawing_twice_gives_the_same(small: ReportData) -> None:
    board = small.leaderboards[0]
    assert plots.precision_recall(board, "p", 326, True) == plots.precision_recall(board, "p", 326, True)


def test_a_board_with_nothing_defined_still_draws(small: ReportData) -> None:
    board = small.leaderboards[0]
    nothing = board.model_copy(update={"systems": board.systems[-1:]})
    assert "<svg" in plots.precision_recall(nothing, "p", 520, False)
    assert "<svg" in plots.forest(nothing, "precision", "q", 520)


def test_labels_of_two_close_points_do_not_overlap() -> None:
    sizes = [Box(0, 0, 60, 13), Box(0, 0, 60, 13)]
    (x1, y1), (x2, y2) = place_labels([(100, 100), (104, 101)], sizes, 400, 300)
    assert Box(x1, y1, 60, 13).overlap(Box(x2, y2, 60, 13)) == 0


@given(st.lists(st.tuples(st.floats(0, 400), st.floats(0, 300)), max_size=15))
def test_every_point_gets_a_place(spots: list[tuple[float, float]]) -> None:
    assert len(place_labels(spots, [Box(0, 0, 50, 13)] * len(spots), 400, 300)) == len(spots)


@pytest.mark.parametrize("value", [-3.0, 0.0, 1e-9, 41.0, 1e12])
def test_any_value_has_a_scale(small: ReportData, value: float) -> None:
    board = small.leaderboards[0]
    e = next(e for e in board.systems[0].estimates if e.value is not None)
    odd = e.model_copy(update={"measure": "odd", "unit": "points", "value": value, "low": value, "high": value})
    system = board.systems[0].model_copy(update={"estimates": (odd,)})
    drawn = plots.forest(board.model_copy(update={"systems": (system,)}), "odd", "p", 520)
    ticks = re.findall(r'fill="var\(--muted\)">([^<]+)<', drawn)
    assert ticks[0] == "0" and 2 <= len(ticks) == len(set(ticks)) <= 6
