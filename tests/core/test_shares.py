"""The interval and the margin of a share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from reviewgauge.core.shares import margin, wilson


@pytest.mark.parametrize(("n", "population", "largest", "at_the_share_found", "share", "printed"), [
    (350, None, 0.0524, 0.0278, 0.9236, 0.0506),
    (350, 12_715, 0.0517, 0.0274, 0.9236, 0.0506),  # all pull requests
    (350, 3_328, 0.0496, 0.0263, 0.9236, 0.0506),  # those that its filters kept
    (300, None, 0.0566, 0.0247, 0.95, 0.0474),
    (300, 1_119, 0.0484, 0.0211, 0.95, 0.0474),  # its threads
])  # fmt: skip
def test_the_margins_that_aacr_bench_prints_are_near_the_largest_ones_and_no_formula_gives_both(
    n: int, population: int | None, largest: float, at_the_share_found: float, share: float, printed: float
) -> None:
    assert margin(n, population) == pytest.approx(largest, abs=5e-5)
    assert margin(n, population, share) == pytest.approx(at_the_share_found, abs=5e-5)
    near = 0.0095 if population is None else 0.0015
    assert abs((margin(n, population) or 0) - printed) < near
    assert abs((margin(n, population, share) or 0) - printed) > 0.02


@given(st.integers(1, 400), st.data())
def test_wilsons_interval_is_the_usual_one_and_narrows_to_a_point_when_all_are_checked(
    n: int, data: st.DataObject
) -> None:
    right = data.draw(st.integers(0, n))
    ours = wilson(right, n)
    usual = binomtest(right, n).proportion_ci(method="wilson")
    assert ours == pytest.approx((usual.low, usual.high), abs=1e-9)
    assert wilson(right, n, n) == (right / n, right / n)
    population = n + data.draw(st.integers(1, 500))
    low, high = wilson(right, n, population) or (1.0, 0.0)
    assert ours is not None
    assert ours[0] - 1e-12 <= low <= right / n + 1e-12
    assert right / n - 1e-12 <= high <= ours[1] + 1e-12


def test_margins_of_nothing_and_of_everything() -> None:
    assert margin(0, 10) is None
    assert wilson(0, 0) is None
    assert margin(10, 10) == 0
    assert margin(1, 1) == 0
    assert margin(100) == pytest.approx(0.098, abs=5e-4)
