from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import bootstrap

from analysis_toys import BENCHMARK, Mean, Micro, make_cases, mean_scores, micro_scores, review_counts
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import (
    Clusters,
    Resampler,
    cluster_cases,
    difference_interval,
    percentile_interval,
    resampled_measures,
    student_t,
    sum_by_cluster,
)
from reviewgauge.core.records import Case
from reviewgauge.engine.run.scored_run import ScoredRun


def test_twenty_repositories_are_resampled_and_nineteen_are_not() -> None:
    every = np.ones(60, dtype=np.bool_)
    enough = cluster_cases(make_cases(60, repositories=20), every)
    assert (enough.by, enough.count, enough.warnings()) == ("repository", 20, [])
    few = cluster_cases(make_cases(60, repositories=19), every)
    assert (few.by, few.count) == ("change", 60)
    assert few.warnings() == ["19 repositories, too few to say how far the result holds for others"]
    assert few.warnings(expanded=True) == []
    assert cluster_cases(make_cases(60, repositories=1), every).warnings() == [], "one's own repository"


def test_repositories_without_a_score_do_not_count() -> None:
    cases = make_cases(40, repositories=20)
    used = np.array([i % 20 != 0 for i in range(40)])
    assert cluster_cases(cases, used).by == "change"


def parts_of_pulls(n: int, each: int, repositories: int = 1) -> list[Case]:
    """`n` cases, every `each` of which are parts of one pull request."""
    cases = make_cases(n, repositories=repositories)
    return [case.model_copy(update={"facts": {"pull": f"#{i // each:03}"}}) for i, case in enumerate(cases)]


def test_what_is_part_of_one_pull_request_is_resampled_together() -> None:
    every = np.ones(60, dtype=np.bool_)
    clusters = cluster_cases(parts_of_pulls(60, each=3), every)
    assert (clusters.by, clusters.count) == ("pull request", 20)
    assert np.bincount(clusters.index).tolist() == [3] * 20
    few = cluster_cases(parts_of_pulls(9, each=3), every[:9]).warnings()
    assert any("only 3 pull requests with a score" in text for text in few)
    assert cluster_cases(parts_of_pulls(60, each=3, repositories=20), every).by == "repository"
    alone = cluster_cases(parts_of_pulls(60, each=1), every)
    assert (alone.by, alone.count) == ("change", 60), "a pull request with one case is a change"
    one_each = np.array([i % 3 == 0 for i in range(60)])
    assert cluster_cases(parts_of_pulls(60, each=3), one_each).by == "change"
    apart = cluster_cases(parts_of_pulls(8, each=4, repositories=2), every[:8])
    assert apart.count == 4, "a number alone is another pull request in another repository"


def test_an_interval_over_like_states_of_pull_requests_is_not_too_narrow() -> None:
    """Four states of each pull request that say the same tell no more than one: the interval stays as wide."""
    one = make_cases(40, repositories=1)
    four = parts_of_pulls(160, each=4)
    values = ([float(i % 2) for i in range(40)], [float(i // 4 % 2) for i in range(160)])
    wide, same = (
        leaderboard(
            ScoredRun(Mean(), cases, mean_scores("a", cases, said), dataset="d", benchmark=BENCHMARK), resamples=300
        )
        for cases, said in zip((one, four), values, strict=True)
    )
    first, second = (board.systems[0].estimates[0] for board in (wide, same))
    assert (first.low, first.high) == (second.low, second.high)
    assert (same.clusters, same.clustered_by) == (40, "pull request")


def test_few_changes_are_warned_of() -> None:
    clusters = cluster_cases(make_cases(5, repositories=1), np.ones(5, dtype=np.bool_))
    assert any("only 5 changes" in text and "too narrow" in text for text in clusters.warnings())
    assert any("at least 2" in t for t in cluster_cases(make_cases(1), np.ones(1, dtype=np.bool_)).warnings())


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=30))
def test_cluster_sums_are_those_of_a_plain_loop(index: list[int]) -> None:
    labels = sorted({i for i in index if i >= 0})
    dense = np.array([labels.index(i) if i >= 0 else -1 for i in index], dtype=np.int64)
    values = np.random.default_rng(0).integers(0, 9, (2, len(index), 3)).astype(np.float64)
    found = sum_by_cluster(values, Clusters("change", tuple(map(str, labels)), dense, 1))
    assert found.shape == (2, len(labels), 3)
    for at in range(len(labels)):
        assert (found[:, at] == values[:, dense == at].sum(axis=1)).all()


def test_every_resample_draws_as_many_clusters_as_there_are_whatever_the_chunk() -> None:
    for clusters in (1, 7, 70_000):
        resampler = Resampler(clusters, 20, 5)
        rows = np.concatenate(list(resampler.weights()))
        assert rows.shape == (20, clusters)
        assert (rows.sum(axis=1) == clusters).all()
        again = np.concatenate(list(Resampler(clusters, 20, 5).weights()))
        assert (rows == again).all()
        assert clusters == 1 or (rows != np.concatenate(list(Resampler(clusters, 20, 6).weights()))).any()


@pytest.mark.slow
def test_draws_that_are_not_kept_are_the_same_when_drawn_anew() -> None:
    large = Resampler(1_000_000, 17, 3)
    first, second = ([chunk[:, :50].copy() for chunk in large.weights()] for _ in range(2))
    assert len(first) == 2
    assert all((one == two).all() for one, two in zip(first, second, strict=True))


def test_a_measure_undefined_in_too_many_resamples_has_no_interval() -> None:
    draws = np.arange(100.0)
    draws[:5] = np.nan
    found = percentile_interval(draws, 0.9)
    assert found.low == pytest.approx(np.quantile(draws[5:], 0.05))
    assert found.undefined == pytest.approx(0.05)
    draws[5] = np.nan
    assert percentile_interval(draws, 0.9)[:2] == (None, None)
    assert percentile_interval(np.array([]), 0.9)[:2] == (None, None)


def test_all_systems_meet_the_same_draws() -> None:
    sums = np.random.default_rng(0).normal(size=(1, 30, 1)).repeat(2, axis=0)
    found = resampled_measures(Mean(), ["value"], sums, np.ones((2, 30)), Resampler(30, 200, 0))
    assert (found.of("value", 0) == found.of("value", 1)).all()
    assert np.std(found.of("value", 0)) > 0


def test_the_interval_of_a_mean_agrees_with_scipy() -> None:
    values = np.random.default_rng(3).gamma(2.0, size=80)
    cases = make_cases(80, repositories=1)
    board = leaderboard(ScoredRun(Mean(), cases, mean_scores("a", cases, values), dataset="d", benchmark=BENCHMARK))
    estimate = board.systems[0].estimates[0]
    peer = bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(9))
    spread = peer.standard_error
    assert estimate.value == pytest.approx(values.mean())
    assert estimate.low == pytest.approx(peer.confidence_interval.low, abs=0.06 * spread)
    assert estimate.high == pytest.approx(peer.confidence_interval.high, abs=0.06 * spread)


def test_the_interval_of_a_ratio_agrees_with_scipy() -> None:
    table = review_counts(np.random.default_rng(4), 60, 0.5, 0.4)
    cases = make_cases(60, repositories=1)
    board = leaderboard(ScoredRun(Micro(), cases, micro_scores("a", cases, table), dataset="d", benchmark=BENCHMARK))
    estimate = board.systems[0].estimate("f1")

    def f1(tp: Numbers, fp: Numbers, fn: Numbers, axis: int) -> Numbers:
        hits = tp.sum(axis=axis)
        found: Numbers = 2 * hits / (2 * hits + fp.sum(axis=axis) + fn.sum(axis=axis))
        return found

    peer = bootstrap(
        tuple(table.T), f1, n_resamples=10_000, paired=True, method="percentile", rng=np.random.default_rng(9)
    )
    assert estimate is not None
    assert estimate.low == pytest.approx(peer.confidence_interval.low, abs=0.06 * peer.standard_error)
    assert estimate.high == pytest.approx(peer.confidence_interval.high, abs=0.06 * peer.standard_error)


@given(st.integers(0, 10**6))
def test_the_interval_of_a_large_sample_holds_its_own_value(seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=300)
    cases = make_cases(300)
    board = leaderboard(
        ScoredRun(Mean(), cases, mean_scores("a", cases, values), dataset="d", benchmark=BENCHMARK), resamples=300
    )
    estimate = board.systems[0].estimates[0]
    assert estimate.low is not None and estimate.value is not None and estimate.high is not None
    assert estimate.low < estimate.value < estimate.high


@pytest.mark.slow
def test_ninety_five_percent_intervals_hold_the_truth_about_that_often() -> None:
    """300 made benchmarks of 60 repositories with unequal numbers of changes; the true F1 is known."""
    generator = np.random.default_rng(11)
    precision, recall = 0.5, 0.4
    truth = 2 * precision * recall / (precision + recall)
    held = 0
    for trial in range(300):
        sizes = generator.integers(1, 4, 60)
        rows = np.stack([review_counts(generator, size, precision, recall).sum(axis=0) for size in sizes])
        draws = resampled_measures(
            Micro(), ("tp", "fp", "fn"), rows[None], sizes[None].astype(float), Resampler(60, 1000, trial)
        )
        low, high, _ = percentile_interval(draws.of("f1", 0), 0.95)
        assert low is not None and high is not None
        held += low <= truth <= high
    assert 0.90 <= held / 300 <= 0.98


@given(st.integers(2, 5000))
def test_the_interval_of_a_difference_is_wider_with_few_clusters_and_tends_to_the_asked_one(clusters: int) -> None:
    draws = np.linspace(0, 1, 100_001)
    found, plain = difference_interval(draws, clusters), percentile_interval(draws)
    assert found.low is not None and found.high is not None and plain.low is not None and plain.high is not None
    assert found.low < plain.low and plain.high < found.high
    assert clusters < 1000 or plain.low - found.low < 0.001


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 10, 29, 30, 999, 20_000])
def test_students_quantile_is_that_of_scipy(degrees: int) -> None:
    assert student_t(degrees) == pytest.approx(stdtrit(degrees, 0.975), rel=1e-11)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=300), st.floats(0.5, 1))
def test_the_ends_of_an_interval_are_the_quantiles_of_numpy(draws: list[float], level: float) -> None:
    expected = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    assert percentile_interval(np.array(draws), level)[:2] == pytest.approx(tuple(expected), abs=1e-12)
