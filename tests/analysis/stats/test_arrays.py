from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis_toys import Mean, Micro
from reviewgauge.analysis.stats.arrays import MatrixAggregate, measure_with, measures_of, no_measure, swapped
from reviewgauge.core.errors import UserError


def test_totals_are_weighted_sums_of_the_columns() -> None:
    values = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    weights = np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 1.0]])
    summed = MatrixAggregate.resampled(["a", "b"], values, weights)
    assert summed.total("a").tolist() == [9, 11]
    assert summed.total("b").tolist() == [12, 14]
    assert summed.count.tolist() == [3, 3]
    assert summed.total("never seen").tolist() == [0, 0]


def test_rows_that_stand_for_several_measurements_count_as_many() -> None:
    summed = MatrixAggregate.resampled(["a"], np.array([[6.0], [1.0]]), np.array([[1.0, 2.0]]), np.array([3.0, 1.0]))
    assert summed.count.tolist() == [5]
    assert measures_of(Mean(), MatrixAggregate(["value"], np.array([[8.0]]), summed.count))["value"].tolist() == [1.6]


def test_a_ratio_over_nothing_is_undefined_and_not_zero() -> None:
    summed = MatrixAggregate.of([{"tp": 0, "fp": 0, "fn": 2}])
    assert np.isnan(summed.ratio(np.array([0.0, 1.0]), np.array([0.0, 0.0]))).all()
    found = measures_of(Micro(), summed)
    assert np.isnan(found["precision"][0])
    assert found["recall"][0] == 0


def test_totals_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="expected"):
        MatrixAggregate(["a"], np.zeros((2, 3)), np.zeros(3))


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(-9, 9)), max_size=8))
def test_a_bag_of_measurements_sums_them(measurements: list[dict[str, int]]) -> None:
    summed = MatrixAggregate.of(measurements)
    for name in "abc":
        assert summed.total(name)[0] == sum(parts.get(name, 0) for parts in measurements)
    assert summed.count.tolist() == [len(measurements)]


def test_a_case_without_a_measure_of_its_own_still_moves_the_whole() -> None:
    total = np.array([4.0, 2.0, 2.0])  # tp, fp, fn
    false_on_clean, quiet = np.array([[0.0, 1.0, 0.0]]), np.zeros((1, 3))
    with_it = measure_with(Micro(), ("tp", "fp", "fn"), total[None], 5, "f1")[0]
    without = measure_with(Micro(), ("tp", "fp", "fn"), swapped(total, false_on_clean, quiet), 5, "f1")[0]
    assert with_it == pytest.approx(8 / 12)
    assert without == pytest.approx(8 / 11)


def test_an_unknown_measure_is_refused_and_undefined_is_not_zero() -> None:
    with pytest.raises(UserError, match="there is no measure 'f3'"):
        measure_with(Micro(), ("tp", "fp", "fn"), np.zeros((1, 3)), 1, "f3")
    assert no_measure(Micro(), "recal", ["f1", "recall"]).remedy == "did you mean recall?"
    assert no_measure(Micro(), "q", ["f1", "recall"]).remedy == "there are: f1, recall"
    words = "set headline in Micro to one of: a, b"
    assert no_measure(Micro(), Micro.headline, ["a", "b"]).remedy == words
    assert np.isnan(measure_with(Micro(), ("tp", "fp", "fn"), np.zeros((1, 3)), 1, "f1")).all()
