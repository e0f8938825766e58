"""Prediction-powered intervals hold the truth as often as they say, whatever the judge is worth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.analysis.judge_check.correction import Sums, estimates, half_width, powered_ratio
from reviewgauge.analysis.stats.arrays import Numbers

SETS = 2_000


def simulated(n: int, others: int, miss: float, false: float, seed: int = 0) -> tuple[Sums, Numbers, Numbers, float]:
    """Data sets of changes with 1 to 6 comments, right by chance; the judge errs at two rates. Last: the true share."""
    random = np.random.default_rng(seed)
    shape = (SETS, n + others)
    size = random.integers(1, 7, shape).astype(np.float64)
    chance = random.beta(2, 3, shape)  # a change is easy or hard, so comments of one change are alike
    right = random.binomial(size.astype(int), chance).astype(np.float64)
    judge = random.binomial(right.astype(int), 1 - miss) + random.binomial((size - right).astype(int), false)
    judged = judge.astype(np.float64)
    checked = Sums(right[:, :n], judged[:, :n], size[:, :n])
    return checked, judged[:, n:], size[:, n:], 0.4


@pytest.mark.parametrize(("miss", "false"), [(0.05, 0.05), (0.4, 0.0), (0.0, 0.5), (0.5, 0.5)])
@pytest.mark.parametrize("n", [20, 60])
def test_the_intervals_cover_and_the_estimate_is_not_biased(n: int, miss: float, false: float) -> None:
    checked, judge, size, truth = simulated(n, 300, miss, false)
    value, error, trust = estimates(checked, judge, size)
    covered = np.abs(value - truth) <= half_width(n) * error
    assert 0.92 <= covered.mean() <= 0.98
    assert abs(value.mean() - truth) < 0.01
    raw = (judge.sum() + checked.judge.sum()) / (size.sum() + checked.size.sum())
    if (miss, false) in ((0.4, 0.0), (0.0, 0.5)):
        assert abs(raw - truth) > 0.1, "the judge alone is far off, or nothing was shown"
    alone, alone_error, _ = estimates(checked, np.zeros((SETS, 0)), np.zeros((SETS, 0)))
    assert error.mean() <= alone_error.mean() * 1.02
    if miss == false == 0.05:
        assert error.mean() < 0.65 * alone_error.mean()
        assert trust.mean() > 0.7
    if miss == false == 0.5:
        assert trust.mean() < 0.3
    assert abs(alone.mean() - truth) < 0.01


def test_a_mean_is_ppi_plus_plus_by_hand() -> None:
    people, judge = np.array([1.0, 0.0, 1.0, 1.0]), np.array([1.0, 0.0, 1.0, 0.0])
    others = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    found = powered_ratio(Sums(people, judge, np.ones(4)), others, np.ones(6))
    n, m = 4, 6
    cov = np.cov(people, judge)[0, 1]
    trust = (cov / n) / (judge.var(ddof=1) / n + others.var(ddof=1) / m)
    expected = trust * others.mean() + people.mean() - trust * judge.mean()
    spread = (people - trust * judge).var(ddof=1) / n + trust**2 * others.var(ddof=1) / m
    assert found.trust == pytest.approx(trust)
    assert found.corrected.value == pytest.approx(expected)
    assert found.corrected.high == pytest.approx(expected + half_width(4) * np.sqrt(spread))
    assert "rough" in found.corrected.reason
    assert found.raw == pytest.approx(6 / 10)


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_checked_is_said(n: int) -> None:
    found = powered_ratio(Sums(np.ones(n), np.ones(n), np.ones(n)), np.ones(5), np.ones(5))
    assert found.corrected.value is None
    assert "at least 2 are needed" in found.corrected.reason
    assert found.raw == 1.0


@given(st.integers(2, 12), st.integers(0, 12), st.integers(0, 10_000))
def test_everything_is_finite_and_in_order(n: int, m: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    size, rest = random.integers(1, 5, n).astype(float), random.integers(1, 5, m).astype(float)
    people, judge = random.binomial(size.astype(int), 0.5), random.binomial(size.astype(int), 0.5)
    others = random.binomial(rest.astype(int), 0.5).astype(float)
    found = powered_ratio(Sums(people.astype(float), judge.astype(float), size), others, rest)
    assert found.corrected.value is not None
    assert np.isfinite(found.corrected.value)
    assert found.trust is not None
    assert 0 <= found.trust <= 1
    if found.corrected.low is not None and found.corrected.high is not None:
        assert found.corrected.low <= max(found.corrected.value, 0) <= max(found.corrected.high, 0)


def test_an_estimate_of_a_share_stays_one() -> None:
    people, judge = np.array([3.0, 2.0, 3.0]), np.array([2.0, 0.0, 3.0])
    found = powered_ratio(Sums(people, judge, np.full(3, 3.0)), np.full(9, 3.0), np.full(9, 3.0), limits=(0.0, 1.0))
    assert found.corrected.value == 1.0
    assert found.people.high == 1.0
    below = powered_ratio(Sums(-people, -judge, np.full(3, 3.0)), np.full(9, -3.0), np.full(9, 3.0))
    assert below.people.value == pytest.approx(-8 / 9), "a grade may lie below 0"
    assert below.people.low is not None
    assert below.people.low < -8 / 9


def test_silent_reviews_are_known_without_anybody_s_word() -> None:
    """Half of the reviews are silent and find nothing; people checked some of the others. 400 data sets of 120."""
    random = np.random.default_rng(3)
    values, covered = [], []
    for _ in range(400):
        size = random.integers(1, 5, 120).astype(np.float64)
        loud = random.random(120) < 0.5
        right = random.binomial(size.astype(int), 0.8) * loud
        judge = random.binomial(right, 0.7).astype(np.float64)
        seen = np.flatnonzero(loud)[:25]
        rest = np.flatnonzero(loud)[25:]
        checked = Sums(right[seen].astype(np.float64), judge[seen], size[seen])
        found = powered_ratio(checked, judge[rest], size[rest], silent=size[~loud]).corrected
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        values.append(found.value)
        covered.append(found.low <= 0.4 <= found.high)
    assert np.mean(values) == pytest.approx(0.4, abs=0.01)
    assert 0.92 <= np.mean(covered) <= 0.98
