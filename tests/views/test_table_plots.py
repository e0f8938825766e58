from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.document import Plot, Table, Value, name_columns
from reviewgauge.core.reports.leaderboard import Leaderboard
from reviewgauge.views.leaderboard import leaderboard_table
from reviewgauge.views.report.report import ReportData
from reviewgauge.views.table_plots import Box, drawing, place_labels

POINT = re.compile(r'<circle [^>]*fill="var\(--accent\)"')


def forest(rows: list[tuple[str, Value]], width: int = 520) -> str:
    made = tuple((Value(text=name), value) for name, value in rows)
    columns = name_columns(["reviewer", "a"])
    return drawing(
        Table(name="t", title="t", columns=columns, rows=made, plot=Plot(kind="forest", columns=(1,))), "p", width
    )


def plane(board: Leaderboard) -> str:
    table = leaderboard_table(board)
    at = {column.key: place for place, column in enumerate(table.columns)}
    plot = Plot(kind="scatter", columns=(at["recall"], at["precision"]))
    return drawing(table.model_copy(update={"plot": plot}), "p")


def test_a_forest_of_a_board_names_every_system_and_value(small: ReportData) -> None:
    drawn = drawing(leaderboard_table(small.leaderboards[0]), "p")
    assert all(system.system[:8] in drawn for system in small.leaderboards[0].systems)
    assert "with intervals" in drawn


def test_an_undefined_figure_keeps_its_place_has_a_dash_and_no_point() -> None:
    drawn = forest(
        [("one", Value(value=0.12, low=0.06, high=0.23)), ("none", Value(text="–")), ("two", Value(value=0.2))]
    )
    assert ">–<" in drawn and len(POINT.findall(drawn)) == 2
    places = [float(y) for y in re.findall(r' y="([\d.]+)"[^>]*text-anchor="end"', drawn)]
    assert len(places) == 3 and places == sorted(places)
    labels = [label for label in re.findall(r">(0|1|\.\d+)</text>", drawn) if label not in (".12", ".20")]
    assert len(labels) > 2 and len(labels) == len(set(labels))


def test_a_fake_figure_is_called_so() -> None:
    assert ".50 fake<" in forest([("one", Value(value=0.5, fake=True))])


def test_systems_without_precision_are_left_out_and_said(small: ReportData) -> None:
    board = small.leaderboards[0]
    assert "1 without both are not shown" in plane(board) and "parrot (fake)<" in plane(board)
    assert plane(board) == plane(board)
    assert plane(board.model_copy(update={"systems": board.systems[-1:]})) == "", "nothing to draw"


def test_labels_of_two_close_points_do_not_overlap() -> None:
    sizes = [Box(0, 0, 60, 13), Box(0, 0, 60, 13)]
    (x1, y1), (x2, y2) = place_labels([(100, 100), (104, 101)], sizes, 400, 300)
    assert Box(x1, y1, 60, 13).overlap(Box(x2, y2, 60, 13)) == 0


@given(st.lists(st.tuples(st.floats(0, 400), st.floats(0, 300)), max_size=15))
def test_every_point_gets_a_place(spots: list[tuple[float, float]]) -> None:
    assert len(place_labels(spots, [Box(0, 0, 50, 13)] * len(spots), 400, 300)) == len(spots)


@pytest.mark.parametrize("value", [-3.0, 0.0, 1e-9, 41.0, 1e12])
def test_any_value_has_a_scale(value: float) -> None:
    drawn = forest([("one", Value(value=value, low=value, high=value, unit="points"))])
    ticks = re.findall(r'fill="var\(--muted\)">([^<]+)<', drawn)
    assert "0" in ticks and 2 <= len(ticks) == len(set(ticks)) <= 6
