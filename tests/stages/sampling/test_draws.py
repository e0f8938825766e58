"""How far two distributions are from each other, said without a word on the terminal."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from reviewgauge.stages.sampling.draws import kolmogorov_smirnov

VALUES = st.lists(st.integers(0, 30), min_size=1, max_size=120)


def test_where_the_exact_p_value_fails_the_asymptotic_one_stands_and_nothing_is_warned_of() -> None:
    one, other = list(range(34)), [-1, *range(1, 34)]  # with 34 of each, rounding brings the exact one over 1
    with pytest.warns(RuntimeWarning, match="Exact calculation unsuccessful"):
        ks_2samp(one, other, method="exact")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kolmogorov_smirnov(one, other)
    assert found.statistic == pytest.approx(1 / 34)
    assert found.method == "asymptotic"
    assert found.p == pytest.approx(1.0)


@given(VALUES, VALUES)
def test_it_is_scipys_test_and_never_warns(one: list[int], other: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kolmogorov_smirnov(one, other)
    expected = ks_2samp(one, other, method="exact" if found.method == "exact" else "asymp")
    assert (found.statistic, found.p) == (expected.statistic, expected.pvalue)
    assert found.method == "asymptotic" if len(one) * len(other) > 10_000 else found.p <= 1
