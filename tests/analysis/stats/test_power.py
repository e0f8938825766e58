from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis_toys import Mean, Micro, review_counts
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import Clusters, Resampler, resampled_measures
from reviewgauge.analysis.stats.power import (
    Attempts,
    Components,
    Spread,
    case_means,
    clusters_needed,
    clusters_to_find,
    detectable_difference,
    influences,
    split,
    standard_error,
)

NAMES = ("tp", "fp", "fn")


def each_once(rows: Numbers) -> Attempts:
    return Attempts(rows, np.arange(len(rows)), len(rows))


def by_change(n: int) -> Clusters:
    return Clusters("change", tuple(f"{i:05d}" for i in range(n)), np.arange(n), n)


def parts(gap: Numbers, spreads: list[Spread], clusters: Clusters | None = None) -> Components:
    groups = clusters or by_change(len(gap))
    return split(gap, spreads, groups)


def influence(metric: Mean | Micro, names: tuple[str, ...], attempts: Attempts, measure: str) -> Numbers:
    found = influences(metric, names, attempts, measure)
    assert found is not None
    return found


def test_the_influence_on_a_mean_is_the_distance_from_it() -> None:
    values = np.array([0.1, 0.4, 0.9, 0.2])
    found = influence(Mean(), ("value",), each_once(values[:, None]), "value")
    assert found == pytest.approx(values - values.mean(), abs=1e-9)


def test_the_influence_on_a_quotient_is_its_linear_form() -> None:
    rows = review_counts(np.random.default_rng(1), 40, 0.5, 0.4)
    total = rows.sum(axis=0)
    recall = total[0] / (total[0] + total[2])
    expected = 40 * (rows[:, 0] - recall * (rows[:, 0] + rows[:, 2])) / (total[0] + total[2])
    assert influence(Micro(), NAMES, each_once(rows), "recall") == pytest.approx(expected, abs=1e-7)


@given(st.lists(st.tuples(*[st.integers(0, 6)] * 3), min_size=3, max_size=12))
def test_influences_are_what_leaving_a_change_out_shows(counts: list[tuple[int, int, int]]) -> None:
    """The jackknife on many copies of the same changes: a change of thousands is a small step."""
    rows = np.array(counts, dtype=np.float64)
    copies = 3_000
    many = rows.sum(axis=0) * copies
    if many[0] == 0:
        return

    def f1(total: Numbers) -> Numbers:
        return np.asarray(2 * total[..., 0] / (2 * total[..., 0] + total[..., 1] + total[..., 2]))

    n = len(rows) * copies
    jackknife = (n - 1) * (f1(many) - f1(many - rows))
    assert influence(Micro(), NAMES, each_once(rows), "f1") == pytest.approx(jackknife, abs=0.02)


@pytest.mark.parametrize("measure", ["precision", "recall", "f1", "comments"])
def test_their_standard_error_is_that_of_the_bootstrap(measure: str) -> None:
    generator = np.random.default_rng(4)
    one, two = review_counts(generator, 150, 0.55, 0.5), review_counts(generator, 150, 0.3, 0.6)
    draws = resampled_measures(Micro(), NAMES, np.stack([one, two]), np.ones((2, 150)), Resampler(150, 4_000, 0))
    bootstrap = standard_error(draws.of(measure, 0) - draws.of(measure, 1), 150)
    gap = influence(Micro(), NAMES, each_once(one), measure) - influence(Micro(), NAMES, each_once(two), measure)
    spreads = [Spread(np.full(150, np.nan), np.ones(150))] * 2
    assert np.sqrt(parts(gap, spreads).variance(1) / 150) == pytest.approx(bootstrap, rel=0.04)


def test_attempts_at_one_change_count_as_one_change() -> None:
    rows = np.array([[2.0, 0, 1], [0, 2, 3], [1, 1, 1]])
    attempts = Attempts(rows, np.array([0, 0, 1]), 2)
    averaged = each_once(np.array([[1.0, 1, 2], [1, 1, 1]]))
    both = case_means(influence(Micro(), NAMES, attempts, "f1"), attempts)
    assert both == pytest.approx(influence(Micro(), NAMES, averaged, "f1"), abs=1e-7)


def test_a_measure_that_is_undefined_has_no_influences() -> None:
    rows = np.array([[0.0, 0, 1], [0, 0, 2]])
    assert influences(Micro(), NAMES, each_once(rows), "precision") is None
    assert influences(Micro(), NAMES, each_once(rows), "no such measure") is None


def made(
    n: int, k: int, between: float, within: float, seed: int, unbalanced: bool = False
) -> tuple[Numbers, Attempts]:
    generator = np.random.default_rng(seed)
    counts = generator.integers(1, k + 1, n) if unbalanced else np.full(n, k)
    case = np.repeat(np.arange(n), counts)
    values = generator.normal(0, between, n)[case] + generator.normal(0, within, case.size)
    return values, Attempts(values[:, None], case, n)


def test_a_balanced_split_is_the_analysis_of_variance() -> None:
    values, attempts = made(30, 4, 0.3, 0.2, seed=5)
    table = values.reshape(30, 4)
    within = table.var(axis=1, ddof=1).mean()
    between = (4 * table.mean(axis=1).var(ddof=1) - within) / 4
    found = parts(case_means(values, attempts), [Spread.of(values, attempts)])
    assert found.within[0] == pytest.approx(within)
    assert found.within[1] is None
    assert found.between == pytest.approx(between)


@pytest.mark.parametrize("unbalanced", [False, True])
def test_the_split_finds_the_variances_that_were_put_in(unbalanced: bool) -> None:
    one, first = made(6_000, 4, 0.3, 0.2, 6, unbalanced)
    two, second = made(6_000, 3, 0.1, 0.5, 7, unbalanced)
    gap = case_means(one, first) - case_means(two, second)
    found = parts(gap, [Spread.of(one, first), Spread.of(two, second)])
    assert found.within[0] == pytest.approx(0.04, rel=0.06)
    assert found.within[1] == pytest.approx(0.25, rel=0.06)
    assert found.between == pytest.approx(0.3**2 + 0.1**2, rel=0.12)
    assert found.variance(2) == pytest.approx(found.between + (0.04 + 0.25) / 2, rel=0.06)


def test_whatever_the_split_the_whole_is_the_variance_of_the_difference() -> None:
    one, first = made(25, 3, 0.3, 0.2, 8)
    two, second = made(25, 1, 0.1, 0.5, 9)
    gap = case_means(one, first) - case_means(two, second)
    found = parts(gap, [Spread.of(one, first), Spread.of(two, second)])
    assert found.within[1] is None, "one attempt shows no variance of its own"
    assert found.between + (found.within[0] or 0) / 3 == pytest.approx(gap.var(ddof=1))


def test_what_changes_of_one_repository_share_counts_between() -> None:
    generator = np.random.default_rng(10)
    shared = np.repeat(generator.normal(0, 0.4, 400), 5)
    values = shared + generator.normal(0, 0.3, 2_000)
    spread = Spread(np.full(2_000, np.nan), np.ones(2_000))
    repositories = Clusters("repository", tuple(map(str, range(400))), np.repeat(np.arange(400), 5), 400)
    found = parts(values, [spread], repositories)
    assert found.between == pytest.approx(5 * 0.16 + 0.09, rel=0.12), "n times the variance of a mean of 400 clusters"
    assert parts(values, [spread]).between == pytest.approx(0.25, rel=0.1)


def test_chance_gives_no_negative_variance() -> None:
    values, attempts = made(12, 2, 0.0, 1.0, seed=3)
    found = parts(case_means(values, attempts), [Spread.of(values, attempts)])
    assert found.between >= 0


def test_eighty_percent_power_takes_two_point_eight_standard_errors() -> None:
    assert detectable_difference(0.01, 1_000_000) == pytest.approx(0.0280158, abs=1e-6)
    assert detectable_difference(0.01, 1_000_000, power=0.5) == pytest.approx(0.0195996, abs=1e-6)
    assert detectable_difference(0.01, 20) == pytest.approx(0.0280158 * np.sqrt(20 / 18), abs=1e-6)


def test_it_is_the_difference_that_is_found_four_times_in_five() -> None:
    generator = np.random.default_rng(1)
    error = 0.03
    true = detectable_difference(error, 10_000)
    assert true is not None
    seen = generator.normal(true, error, 20_000)
    assert 0.79 < (np.abs(seen) > 1.959964 * error).mean() < 0.81


@pytest.mark.parametrize("error", [None, 0.0, float("nan")])
def test_nothing_can_be_said_without_variation(error: float | None) -> None:
    assert detectable_difference(error, 20) is None
    assert detectable_difference(0.01, 2) is None, "two clusters do not show their spread"


def test_the_standard_error_of_a_mean_is_the_textbook_one() -> None:
    generator = np.random.default_rng(2)
    sample = generator.normal(size=10)
    draws = sample[generator.integers(0, 10, (40_000, 10))].mean(axis=1)
    found = standard_error(np.append(draws, np.nan), 10)
    assert found == pytest.approx(np.std(sample, ddof=1) / np.sqrt(10), rel=0.02)
    assert standard_error(draws, 1) is None
    assert standard_error(np.array([np.nan, 1.0]), 5) is None


def test_half_the_difference_takes_four_times_the_changes() -> None:
    known = detectable_difference(0.03, 50)
    assert known is not None
    assert clusters_needed(0.03, 50, known) == clusters_needed(0.03, 50, -known) == 50
    assert clusters_needed(0.03, 50, known / 2) == 2 + 4 * 48
    with pytest.raises(ValueError, match="must not be 0"):
        clusters_needed(0.08, 50, 0)


@pytest.mark.parametrize("difference", [0.02, 0.05, 0.3])
def test_what_many_changes_detect_says_how_many_another_difference_takes(difference: float) -> None:
    known = detectable_difference(0.03, 50)
    assert known is not None
    assert clusters_to_find(difference, known, 50) == clusters_needed(0.03, 50, difference)
    with pytest.raises(ValueError, match="must not be 0"):
        clusters_to_find(0, known, 50)
