from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from analysis_toys import Mean, Micro, review_counts
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.sign_flip import FlipTest, flip_test, holm
from reviewgauge.core.protocols import Aggregate, Metric

NAMES = ("tp", "fp", "fn")


@dataclass(frozen=True)
class Harmonic(Micro):
    """F1 as the harmonic mean of precision and recall, 0 where nothing was hit; and a plain sum."""

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        found = super().combine(aggregate)
        precision, recall = found["precision"], found["recall"]
        f1 = aggregate.ratio(2 * precision * recall, precision + recall)
        missed_all = (aggregate.total("tp") == 0) & (aggregate.total("fn") > 0)
        return {"f1": np.where(missed_all, 0.0, f1), "hits": aggregate.total("tp")}


TABLES = st.integers(0, 10**6).map(np.random.default_rng)


def micro_test(
    first: Numbers, second: Numbers, draws: int = 999, seed: int = 0, measure: str = "f1", metric: Metric | None = None
) -> FlipTest:
    sizes = np.ones(len(first))
    found = flip_test(metric or Micro(), NAMES, first, second, sizes, measures=[measure], draws=draws, seed=seed)
    return found[measure]


def micro_p(first: Numbers, second: Numbers, draws: int = 999, seed: int = 0) -> float:
    p = micro_test(first, second, draws, seed).p
    assert p is not None
    return p


def mean_p(first: Numbers, second: Numbers, draws: int = 999) -> float | None:
    columns = (first[:, None], second[:, None])
    sizes = np.ones(len(first))
    return flip_test(Mean(), ["value"], *columns, sizes, measures=["value"], draws=draws, seed=0)["value"].p


def brute_force(first: Numbers, second: Numbers, top: Numbers, bottom: Numbers) -> float:
    """The same test as plain loops, for a quotient of sums with these weights of tp, fp and fn above and below."""
    numerators, denominators = (first @ top, second @ top), (first @ bottom, second @ bottom)
    volume = [d.sum() for d in denominators]
    value = [n.sum() / d.sum() for n, d in zip(numerators, denominators, strict=True)]
    difference = value[0] - value[1]
    if abs(difference) < 1e-12:
        return 1.0
    both = (numerators[0].sum() + numerators[1].sum()) / sum(volume)
    common = math.sqrt(volume[0] * volume[1])
    ways = [(value[0], *volume), (value[1], *volume), (both, *volume), (both, common, common)]
    found = []
    for shared, size_one, size_two in ways:
        one, two = (n - shared * d for n, d in zip(numerators, denominators, strict=True))
        contribution = one / size_one - two / size_two
        flipped = [abs(np.dot(signs, contribution)) for signs in product((1, -1), repeat=len(first))]
        found.append(np.mean([total >= abs(difference) * (1 - 1e-6) for total in flipped]))
    return float(max(found))


@given(st.integers(2, 8), TABLES, st.sampled_from(["f1", "precision", "recall"]))
def test_the_exact_test_is_the_brute_force_one(clusters: int, generator: np.random.Generator, measure: str) -> None:
    first, second = (generator.integers(0, 4, (clusters, 3)).astype(float) for _ in range(2))
    first[0] += 1
    second[0] += 1
    weights = {"f1": ((2, 0, 0), (2, 1, 1)), "precision": ((1, 0, 0), (1, 1, 0)), "recall": ((1, 0, 0), (1, 0, 1))}
    top, bottom = (np.array(w, dtype=float) for w in weights[measure])
    assert micro_test(first, second, measure=measure).p == pytest.approx(brute_force(first, second, top, bottom))


@given(st.integers(3, 9), TABLES)
def test_the_exact_test_of_a_mean_is_scipys(n: int, generator: np.random.Generator) -> None:
    first, second = generator.normal(size=n), generator.normal(size=n)
    peer = permutation_test(
        (first, second), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert mean_p(first, second) == pytest.approx(peer.pvalue)


def test_random_flips_come_close_to_scipy() -> None:
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


def test_clusters_without_a_difference_keep_the_test_of_a_mean_exact() -> None:
    first = np.random.default_rng(6).normal(size=500)
    second = first.copy()
    second[:5] += 1
    sizes = np.ones(500)
    found = flip_test(Mean(), ["value"], first[:, None], second[:, None], sizes, measures=["value"], draws=999, seed=0)
    assert found["value"].test == "paired sign flips, exact, all 32"
    assert found["value"].p == pytest.approx(2 / 32)


def few_hits(hits: int, changes: int = 24) -> tuple[Numbers, Numbers]:
    """A quiet system with a hit in each of `hits` changes, and one with many comments that hits nothing."""
    generator = np.random.default_rng(9)
    findings = generator.integers(1, 4, changes).astype(float)
    quiet = np.stack([np.zeros(changes), generator.poisson(0.7, changes), findings], axis=1)
    quiet[:hits] += [1, 0, -1]
    noisy = np.stack([np.zeros(changes), generator.poisson(6, changes), findings], axis=1)
    return quiet, noisy


@pytest.mark.parametrize("measure", ["precision", "recall", "f1"])
def test_one_hit_in_all_tells_nothing(measure: str) -> None:
    """It could equally have been the other's, however unlike the numbers of comments are."""
    quiet, noisy = few_hits(1)
    for first, second in ((quiet, noisy), (noisy, quiet)):
        found = micro_test(first, second, measure=measure)
        assert found.p is not None
        assert found.p >= 0.5
    quiet[:, :2] = 0
    quiet[0, 0] = 1  # one comment, and it is right
    found = micro_test(quiet, noisy, measure=measure)
    assert found.p is not None
    assert found.p >= 0.5


@pytest.mark.parametrize("hits", [2, 3, 4, 5, 8])
def test_hits_of_one_system_alone_are_no_surer_than_as_many_coins(hits: int) -> None:
    quiet, noisy = few_hits(hits)
    assert micro_p(quiet, noisy) >= 2 / 2**hits
    if hits == 8:
        assert micro_p(quiet, noisy, draws=9999) < 0.05


def test_a_system_against_itself_is_no_different() -> None:
    table = review_counts(np.random.default_rng(7), 30, 0.5, 0.5)
    assert micro_p(table, table.copy()) == 1


def test_no_hit_on_either_side_is_no_difference() -> None:
    quiet, noisy = few_hits(0)
    assert micro_p(quiet, noisy) == 1


def test_p_is_never_zero_and_a_large_difference_is_as_rare_as_can_be() -> None:
    first = np.tile([5.0, 0.0, 0.0], (40, 1))
    second = np.tile([0.0, 5.0, 5.0], (40, 1))
    assert micro_p(first, second, draws=999) == pytest.approx(1 / 1000)


def test_an_undefined_difference_has_no_p() -> None:
    silent = np.tile([0.0, 0.0, 2.0], (15, 1))
    said = np.tile([1.0, 1.0, 1.0], (15, 1))
    both = flip_test(Micro(), NAMES, silent, said, np.ones(15), measures=["precision", "recall"], draws=999, seed=0)
    assert both["precision"] == FlipTest(None, "none: the difference is undefined")
    assert both["recall"].p == pytest.approx(1 / 1000)
    none = flip_test(Micro(), NAMES, silent[:0], said[:0], np.ones(0), measures=["f1"], draws=999, seed=0)
    assert none["f1"].p is None


@given(st.integers(2, 30), TABLES)
def test_neither_the_order_of_systems_nor_an_exact_order_of_clusters_matters(
    clusters: int, generator: np.random.Generator
) -> None:
    first, second = review_counts(generator, clusters, 0.5, 0.5), review_counts(generator, clusters, 0.4, 0.6)
    assert micro_p(first, second) == micro_p(second, first)
    if clusters <= 12:
        order = generator.permutation(clusters)
        assert micro_p(first[order], second[order]) == micro_p(first, second)


@given(st.integers(2, 10), TABLES)
def test_an_f1_made_of_precision_and_recall_is_the_same_f1(clusters: int, generator: np.random.Generator) -> None:
    """It has a kink where nothing was hit, which is where many a small benchmark is."""
    first, second = (generator.integers(0, 4, (clusters, 3)).astype(float) for _ in range(2))
    first[:, 0] *= generator.integers(0, 2)
    first[0, 2] += 1
    second[0] += 1
    assert micro_test(first, second, metric=Harmonic()).p == pytest.approx(micro_test(first, second).p)


def test_a_measure_that_is_no_quotient_uses_its_own_slopes() -> None:
    """A sum, such as a cost: the flips of the plain differences."""
    generator = np.random.default_rng(3)
    first, second = (generator.integers(0, 9, (9, 3)).astype(float) for _ in range(2))
    gap = first[:, 0] - second[:, 0]
    flipped = [abs(np.dot(signs, gap)) for signs in product((1, -1), repeat=9)]
    expected = np.mean([total >= abs(gap.sum()) for total in flipped])
    assert micro_test(first, second, measure="hits", metric=Harmonic()).p == pytest.approx(expected)


def rejected(precision: tuple[float, float], recall: tuple[float, float], trials: int = 400) -> float:
    """How often two made reviewers on 40 changes are called different at the 5% level."""
    generator = np.random.default_rng(8)
    called = 0
    for trial in range(trials):
        first, second = (review_counts(generator, 40, p, r) for p, r in zip(precision, recall, strict=True))
        called += micro_p(first, second, draws=399, seed=trial) <= 0.05
    return called / trials


@pytest.mark.slow
def test_equal_systems_are_called_different_one_time_in_twenty() -> None:
    assert 0.02 <= rejected((0.5, 0.5), (0.5, 0.5)) <= 0.085


@pytest.mark.slow
def test_a_noisy_and_a_quiet_system_of_equal_f1_are_not_called_different_more_often() -> None:
    """Swapping what they said calls more than 10% of these different."""
    assert 0.02 <= rejected((0.25, 0.3913), (0.9, 0.3913)) <= 0.085


@pytest.mark.slow
def test_rare_hits_of_a_noisy_and_a_very_quiet_system_raise_few_alarms() -> None:
    """6 hits expected on 30 changes, equal F1, 0 and 20 false comments a change. Each own spread alone: over 20%."""
    generator = np.random.default_rng(10)
    f1 = 2 * 6 / (30 * 26)
    called = 0
    for trial in range(300):
        findings = generator.integers(1, 6, 30)
        rows = []
        for false in (0, 20):
            hit = generator.binomial(findings, f1 * (false + 3) / (3 * (2 - f1)))
            rows.append(np.stack([hit, generator.poisson(false, 30), findings - hit], axis=1).astype(float))
        called += micro_p(rows[0], rows[1], draws=199, seed=trial) <= 0.05
    assert called / 300 <= 0.05


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
