from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reviewgauge.analysis.stats.rank_correlation import spearman_p


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
