from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.stats.correlation import (
    Rows,
    correlate,
    row_weights,
    spearman_only,
    spearman_p,
    spearman_within,
)

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
small = st.lists(
    st.tuples(st.integers(-3, 9), st.integers(1, 7), st.integers(0, 3)), min_size=3, max_size=40
)  # score, grade, how often the row is drawn


def _columns(rows: list[tuple[int, int, int]]) -> tuple[Numbers, Numbers, Numbers]:
    score, human, weight = np.array(rows, dtype=np.float64).T
    return score, human, weight


def _constant(values: Numbers) -> bool:
    return bool(values.size == 0 or (values == values[0]).all())


@given(small)
def test_with_every_weight_one_a_draw_is_what_scipy_says(rows: list[tuple[int, int, int]]) -> None:
    score, human, _ = _columns(rows)
    found = Rows(score, human, np.arange(score.size)).drawn
    for name, function in SCIPY.items():
        drawn = found[name](np.ones((1, score.size)))[0]
        if _constant(score) or _constant(human):
            assert np.isnan(drawn)
        else:
            assert drawn == pytest.approx(function(score, human).statistic, abs=1e-9)


@given(small)
def test_a_weight_is_the_same_as_repeating_the_row(rows: list[tuple[int, int, int]]) -> None:
    score, human, weight = _columns(rows)
    often = weight.astype(int)
    repeated = np.repeat(score, often), np.repeat(human, often)
    two = np.stack([weight, np.ones_like(weight)])  # a second resample beside it changes nothing
    for name, drawn in Rows(score, human, np.arange(score.size)).drawn.items():
        if _constant(repeated[0]) or _constant(repeated[1]):
            assert np.isnan(drawn(two)[0])
        else:
            assert drawn(two)[0] == pytest.approx(SCIPY[name](*repeated).statistic, abs=1e-9)


@pytest.mark.parametrize("grades", [2, 5, 400])
def test_many_grades_and_many_scores_are_counted_as_exactly_as_few(grades: int) -> None:
    rng = np.random.default_rng(grades)
    score, human = rng.normal(size=400), rng.integers(0, grades, 400).astype(np.float64)
    weight = rng.integers(0, 3, 400)
    again = np.repeat(score, weight), np.repeat(human, weight)
    for one, two in ((score, human), (human, score)):
        drawn = Rows(one, two, np.arange(400)).kendall(weight[None].astype(np.float64))[0]
        assert drawn == pytest.approx(stats.kendalltau(*again).statistic, abs=1e-12)


@pytest.mark.drill
def test_value_p_and_interval_of_a_figure() -> None:
    rng = np.random.default_rng(1)
    human = rng.integers(1, 6, 200).astype(float)
    score = human + rng.normal(0, 2, 200)
    found = correlate(score, human, np.arange(200), Resampler(200, 2000, 0))
    for name, function in SCIPY.items():
        expected = function(score, human)
        figure = found[name]
        assert figure.value == pytest.approx(expected.statistic)
        assert figure.p == pytest.approx(expected.pvalue)
        assert (figure.n, figure.reason) == (200, "")
        assert figure.low is not None and figure.high is not None and figure.low < expected.statistic < figure.high

    def pearson(x: Numbers, y: Numbers) -> float:
        return float(stats.pearsonr(x, y).statistic)

    peer: Any = stats.bootstrap(
        (score, human), pearson, paired=True, vectorized=False, n_resamples=2000, method="percentile", rng=0
    )
    assert found["pearson"].low == pytest.approx(peer.confidence_interval.low, abs=0.02)
    assert found["pearson"].high == pytest.approx(peer.confidence_interval.high, abs=0.02)


def test_rows_of_one_cluster_are_drawn_together() -> None:
    cluster = np.array([0, 0, 1, 2, 2, 2])
    weights = np.concatenate(list(row_weights(cluster, Resampler(3, 50, 0))))
    assert weights.shape == (50, 6)
    assert (weights[:, 0] == weights[:, 1]).all() and (weights[:, 3] == weights[:, 5]).all()
    assert ((weights[:, 0] + weights[:, 2] + weights[:, 3]) == 3).all()
    four = np.repeat(np.arange(50), 4)
    rng = np.random.default_rng(2)
    human = np.repeat(rng.normal(size=50), 4)
    score = human + np.repeat(rng.normal(size=50), 4)  # four copies of each row carry no more than one
    whole = correlate(score, human, four, Resampler(50, 1000, 0))["spearman"]
    alone = correlate(score, human, np.arange(200), Resampler(200, 1000, 0))["spearman"]
    assert whole.low is not None and whole.high is not None and alone.low is not None and alone.high is not None
    assert whole.high - whole.low > 1.5 * (alone.high - alone.low)


def test_the_slice_door_gives_the_same_figure() -> None:
    rng = np.random.default_rng(3)
    score, human, cluster = rng.normal(size=90), rng.integers(1, 5, 90).astype(float), np.arange(90) // 3
    resampler = Resampler(30, 200, 5)
    assert spearman_only(score, human, cluster, resampler) == correlate(score, human, cluster, resampler)["spearman"]


def test_constant_input_has_a_reason_and_no_value() -> None:
    human = np.arange(90.0)
    for figure in correlate(np.full(90, 0.5), human, np.arange(90), Resampler(90, 50, 0)).values():
        assert (figure.value, figure.low, figure.p, figure.n) == (None, None, None, 90)
        assert figure.reason == "all 90 scores are equal, so a correlation is undefined"
    turned = spearman_only(human, np.full(90, 0.5), np.arange(90), Resampler(90, 50, 0))
    assert turned.reason == "all 90 human values are equal, so a correlation is undefined"
    rounding = correlate(
        1.0 + 1e-16 * np.arange(90) + np.tile([0, 3e-16], 45), human, np.arange(90), Resampler(90, 50, 0)
    )
    assert rounding["pearson"].value is None and "rounding" in rounding["pearson"].reason


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_rows_have_a_reason(n: int) -> None:
    values = np.arange(n, dtype=np.float64)
    found = correlate(values, values, np.arange(n), Resampler(n, 10, 0))["kendall"]
    assert (found.value, found.n, found.reason) == (None, n, f"{n} rows: a correlation needs at least 3")


def test_no_interval_from_one_cluster_and_none_where_resamples_are_undefined() -> None:
    rising = np.arange(10.0)
    one = correlate(rising, rising, np.zeros(10, dtype=np.int64), Resampler(1, 10, 0))["pearson"]
    assert one.value == pytest.approx(1)
    assert (one.low, one.reason) == (None, "only one cluster, so no interval")
    rare = np.zeros(30)
    rare[0] = 1.0  # a third of the resamples do not hold it
    lone = correlate(rare, np.arange(30.0), np.arange(30), Resampler(30, 1000, 0))["spearman"]
    assert lone.value is not None and lone.low is None
    assert lone.reason.startswith("no interval: undefined in 3")


def test_rows_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="must be finite"):
        correlate(np.array([1.0, np.nan, 2.0]), np.arange(3.0), np.arange(3), Resampler(3, 10, 0))
    with pytest.raises(ValueError, match="3 scores, 2 human values"):
        correlate(np.arange(3.0), np.arange(2.0), np.arange(3), Resampler(3, 10, 0))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_size_of_the_scores_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(4)
    score, human = rng.normal(size=50), rng.integers(1, 4, 50).astype(float)
    weights = np.stack([np.ones(50), rng.integers(0, 3, 50).astype(float)])
    one, two = (Rows(values, human, np.arange(50)).pearson(weights) for values in (score, score * scale))
    assert two == pytest.approx(one)


def test_within_groups_a_shift_of_each_group_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    human = rng.integers(1, 4, 200).astype(float)
    score, group = human + rng.normal(0, 1, 200), np.arange(200) % 4
    cluster, resampler = np.arange(200), Resampler(200, 200, 0)
    apart = spearman_within(score + 10 * group, human, cluster, group, resampler)
    together = spearman_within(score, human, cluster, group, resampler)
    assert apart == together
    assert together.value == pytest.approx(
        np.mean([stats.spearmanr(score[group == g], human[group == g])[0] for g in range(4)])
    )
    assert apart.low is not None and apart.high is not None and apart.value is not None
    assert apart.low < apart.value < apart.high
    alone = spearman_within(score, human, cluster, np.zeros(200, dtype=int), resampler)
    plain = spearman_only(score, human, cluster, resampler)
    assert (alone.value, alone.low, alone.high) == pytest.approx((plain.value, plain.low, plain.high))


def test_groups_too_small_to_correlate_are_not_read_and_their_rows_not_counted() -> None:
    score = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0, 2.0])
    human = np.array([1.0, 3.0, 2.0, 4.0, 5.0, 6.0, 2.0, 1.0])
    group = np.array([0, 0, 0, 0, 0, 0, 1, 1])  # the second says -1, of two rows
    found = spearman_within(score, human, np.arange(8), group, Resampler(8, 100, 0))
    assert found.n == 6
    assert found.value == pytest.approx(stats.spearmanr(score[:6], human[:6])[0])


def test_a_few_rows_that_can_be_ordered_do_not_speak_for_the_others() -> None:
    score = np.concatenate([[1.0, 2.0, 3.0], np.zeros(27)])  # a map that is flat in nine folds of ten
    human, group = np.tile([3.0, 2.0, 1.0], 10), np.repeat(np.arange(10), 3)
    found = spearman_within(score, human, np.arange(30), group, Resampler(30, 100, 0))
    assert (found.value, found.low, found.n) == (None, None, 3)
    assert found.reason == "defined in only 1 of 10 groups of rows, 3 of 30 rows"
    flat = spearman_within(np.repeat(np.arange(10.0), 3), human, np.arange(30), group, Resampler(30, 100, 0))
    assert (flat.value, flat.reason) == (None, "undefined within every group of rows")


@pytest.mark.parametrize(("n", "p"), [(3, 2 / 6), (4, 2 / 24), (5, 2 / 120), (8, 2 / 40320)])
def test_one_order_has_the_share_of_the_two_rarest(n: int, p: float) -> None:
    """Student's distribution says 0 here."""
    values = np.arange(n, dtype=np.float64)
    assert spearman_p(values, values) == pytest.approx(p)
    assert spearman_p(values, -values) == pytest.approx(p)


def test_the_tables_of_critical_values() -> None:
    """Zar, Significance testing of the Spearman rank correlation coefficient, JASA 67 (1972): n = 6, .886 is p < .05
    and .829 is not; n = 8, .738 is and .714 is not."""
    for order, rho, small in (([0, 1, 2, 4, 5, 3], 0.829, False), ([1, 0, 3, 2, 4, 5], 0.886, True)):
        values = np.array(order, dtype=np.float64)
        assert stats.spearmanr(np.arange(6), values).statistic == pytest.approx(rho, abs=0.0005)
        found = spearman_p(np.arange(6.0), values)
        assert found is not None and (found <= 0.05) is small
    for order, rho, small in (([1, 0, 2, 3, 7, 4, 5, 6], 0.833, True), ([2, 0, 3, 1, 4, 7, 6, 5], 0.786, True)):
        values = np.array(order, dtype=np.float64)
        assert stats.spearmanr(np.arange(8), values).statistic == pytest.approx(rho, abs=0.0005)
        found = spearman_p(np.arange(8.0), values)
        assert found is not None and (found <= 0.05) is small


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=5))
def test_it_is_scipys_permutation_test(rows: list[tuple[int, int]]) -> None:
    first, second = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    found = spearman_p(first, second)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert found is None
        return

    def rho(moved: np.ndarray) -> float:
        return float(stats.spearmanr(moved, second).statistic)

    peer = stats.permutation_test((first,), rho, permutation_type="pairings", n_resamples=np.inf)
    doubled = np.abs(peer.null_distribution) >= abs(peer.statistic) - 1e-9
    assert found == pytest.approx(doubled.mean())


def test_many_values_have_students() -> None:
    draw = np.random.default_rng(0)
    first, second = draw.normal(size=30), draw.normal(size=30)
    assert spearman_p(first, second) == pytest.approx(stats.spearmanr(first, second).pvalue)
    assert spearman_p(np.arange(9.0), np.arange(9.0)) == pytest.approx(2 / 362880)
    assert spearman_p(np.ones(20), np.arange(20.0)) is None
