"""Charts of lines: words for every figure, nothing without figures, names that do not cover each other."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.document import Chart, Series, Value
from reviewgauge.views.charts import GAP, chart_svg, spread


def chart(*values: float | None) -> Chart:
    line = Series(name="a <b>", points=tuple((float(at), Value(value=one)) for at, one in enumerate(values)))
    return Chart(title="t", series=(line, Series(name="none", points=())), across="n", upright=(1.0,), band=True)


def test_every_figure_is_said_and_names_cannot_become_markup() -> None:
    drawn = chart_svg(chart(0.5, None, 0.25), "c")
    assert "a &lt;b&gt;: .500 at 0, .250 at 2" in drawn and "<b>" not in drawn


@pytest.mark.parametrize("values", [(), (None,), (float("nan"),)])
def test_without_a_figure_there_is_no_drawing(values: tuple[float | None, ...]) -> None:
    assert chart_svg(chart(*values), "c") == ""


@given(st.lists(st.floats(0, 300), max_size=12))
def test_names_beside_lines_never_overlap(places: list[float]) -> None:
    moved = spread(sorted(places), 300)
    assert len(moved) == len(places)
    assert all(b - a >= GAP - 1e-6 for a, b in pairwise(moved))
    assert all(place <= 300 for place in moved)
