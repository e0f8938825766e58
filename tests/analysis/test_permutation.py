from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from analysis_toys import Mean, Micro, review_counts
from reviewbench.analysis.bag import Numbers
from reviewbench.analysis.permutation import holm, swap_test

NAMES = ("tp", "fp", "fn")
TABLES = st.integers(0, 10**6).map(np.random.default_rng)


def micro_p(first: Numbers, second: Numbers, draws: int = 999, seed: int = 0) -> float | None:
    sizes = np.ones(len(first))
    return swap_test(Micro(), NAMES, first, second, sizes, readings=["f1"], draws=draws, seed=seed).p["f1"]


def mean_p(first: Numbers, second: Numbers, draws: int = 999) -> float | None:
    columns = (first[:, None], second[:, None])
    return swap_test(Mean(), ["value"], *columns, np.ones(len(first)), readings=["value"], draws=draws, seed=0).p[
        "value"
    ]


def f1_slopes(total: Numbers) -> tuple[float, Numbers]:
    """F1 and its slopes in tp, fp and fn, by hand."""
    bottom = 2 * total[0] + total[1] + total[2]
    value = 2 * total[0] / bottom
    return value, np.array([2 * (1 - value), -value, -value]) / bottom


def brute_force(first: Numbers, second: Numbers) -> float:
    """The same test as plain loops, with F1's slopes by hand."""
    found = []
    for swaps in product((0, 1), repeat=len(first)):
        swapped = np.array(swaps, dtype=bool)[:, None]
        one, two = np.where(swapped, second, first), np.where(swapped, first, second)
        if min(one.sum(), two.sum()) == 0:
            found.append(np.inf)
            continue
        (a, slope_a), (b, slope_b) = f1_slopes(one.sum(axis=0)), f1_slopes(two.sum(axis=0))
        influence = one @ slope_a - two @ slope_b
        error = np.sqrt(((influence - influence.mean()) ** 2).sum())
        found.append(0.0 if abs(a - b) < 1e-12 else np.inf if error < 1e-7 else abs(a - b) / error)
    return float(np.mean([value >= found[0] * (1 - 1e-6) for value in found]))


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 7), TABLES)
def test_the_exact_test_is_the_brute_force_one(clusters: int, generator: np.random.Generator) -> None:
    first, second = (generator.integers(0, 4, (clusters, 3)).astype(float) for _ in range(2))
    first[0] += 1
    second[0] += 1
    assert micro_p(first, second) == pytest.approx(brute_force(first, second))


@settings(max_examples=20, deadline=None)
@given(st.integers(3, 9), TABLES)
def test_the_exact_test_of_a_mean_is_scipys(n: int, generator: np.random.Generator) -> None:
    first, second = generator.normal(size=n), generator.normal(size=n)
    peer = permutation_test(
        (first, second), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert mean_p(first, second) == pytest.approx(peer.pvalue)


def test_random_swaps_come_close_to_scipy() -> None:
    generator = np.random.default_rng(5)
    first = generator.normal(size=50)
    second = first + generator.normal(0.2, 0.8, size=50)
    peer = permutation_test(
        (first, second),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    assert mean_p(first, second, draws=20_000) == pytest.approx(peer.pvalue, abs=0.012)


def test_clusters_without_a_difference_keep_the_test_exact() -> None:
    generator = np.random.default_rng(6)
    first = review_counts(generator, 500, 0.5, 0.5)
    second = first.copy()
    second[:5, 0] += 1
    result = swap_test(Micro(), NAMES, first, second, np.ones(500), readings=["f1"], draws=999, seed=0)
    assert result.test == "paired permutation, exact, all 32 swaps"
    assert result.p["f1"] == pytest.approx(2 / 32)


def test_a_system_against_itself_is_no_different() -> None:
    table = review_counts(np.random.default_rng(7), 30, 0.5, 0.5)
    assert micro_p(table, table.copy()) == 1


def test_p_is_never_zero_and_a_large_difference_is_as_rare_as_can_be() -> None:
    first = np.tile([5.0, 0.0, 0.0], (40, 1))
    second = np.tile([0.0, 5.0, 5.0], (40, 1))
    assert micro_p(first, second, draws=999) == pytest.approx(1 / 1000)


def test_an_undefined_difference_has_no_p() -> None:
    silent = np.tile([0.0, 0.0, 2.0], (15, 1))
    said = np.tile([1.0, 1.0, 1.0], (15, 1))
    both = swap_test(Micro(), NAMES, silent, said, np.ones(15), readings=["precision", "recall"], draws=999, seed=0)
    assert both.p["precision"] is None
    assert both.p["recall"] == pytest.approx(1 / 1000)
    none = swap_test(Micro(), NAMES, silent[:0], said[:0], np.ones(0), readings=["f1"], draws=999, seed=0)
    assert none.p["f1"] is None


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 30), TABLES)
def test_neither_the_order_of_systems_nor_an_exact_order_of_clusters_matters(
    clusters: int, generator: np.random.Generator
) -> None:
    first, second = review_counts(generator, clusters, 0.5, 0.5), review_counts(generator, clusters, 0.4, 0.6)
    assert micro_p(first, second) == micro_p(second, first)
    if clusters <= 12:
        order = generator.permutation(clusters)
        assert micro_p(first[order], second[order]) == micro_p(first, second)


def rejected(precision: tuple[float, float], recall: tuple[float, float], trials: int = 400) -> float:
    """How often two made reviewers on 40 changes are called different at the 5% level."""
    generator = np.random.default_rng(8)
    called = 0
    for trial in range(trials):
        first, second = (review_counts(generator, 40, p, r) for p, r in zip(precision, recall, strict=True))
        p = micro_p(first, second, draws=399, seed=trial)
        called += p is not None and p <= 0.05
    return called / trials


def test_equal_systems_are_called_different_one_time_in_twenty() -> None:
    assert 0.02 <= rejected((0.5, 0.5), (0.5, 0.5)) <= 0.085


def test_a_noisy_and_a_quiet_system_of_equal_f1_are_not_called_different_more_often() -> None:
    """The bare difference, not divided by its standard error, calls more than 10% of these different."""
    assert 0.02 <= rejected((0.25, 0.3913), (0.9, 0.3913)) <= 0.085


def test_a_real_difference_is_found() -> None:
    assert rejected((0.6, 0.4), (0.6, 0.4), trials=60) >= 0.8


def test_holm_on_known_values() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([None, 0.02, None]) == [None, 0.02, None]


@given(st.lists(st.none() | st.floats(0, 1), max_size=12))
def test_holm_is_monotone_and_never_below_p(values: list[float | None]) -> None:
    corrected = holm(values)
    assert [p is None for p in values] == [p is None for p in corrected]
    pairs = sorted((p, q) for p, q in zip(values, corrected, strict=True) if p is not None and q is not None)
    assert all(p <= q <= 1 for p, q in pairs)
    assert all(one[1] <= two[1] for one, two in pairwise(pairs))
