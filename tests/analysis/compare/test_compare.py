from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis_toys import (
    BENCHMARK,
    Errors,
    Mean,
    Micro,
    failed,
    make_cases,
    mean_scores,
    micro_scores,
    review_counts,
    score,
)
from reviewgauge.analysis.compare.compare import Pairs, compare
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case
from reviewgauge.core.reports.leaderboard import ComparisonTable
from reviewgauge.core.results import Score
from reviewgauge.engine.run.scored_run import ScoredRun


def table(
    scores: Sequence[Score],
    cases: Sequence[Case],
    metric: Metric | None = None,
    pairs: Pairs = None,
    measures: Sequence[str] | None = None,
    seed: int = 0,
) -> ComparisonTable:
    return compare(
        ScoredRun(metric or Mean(), cases, scores, dataset="made", benchmark=BENCHMARK),
        pairs=pairs,
        measures=measures,
        resamples=500,
        seed=seed,
    )


def three(n: int = 40) -> tuple[list[Score], list[Case]]:
    generator = np.random.default_rng(0)
    cases = make_cases(n)
    quality = {"good": 0.7, "fair": 0.5, "poor": 0.2}
    return [
        s for name, p in quality.items() for s in micro_scores(name, cases, review_counts(generator, n, p, p))
    ], cases


def test_the_leader_meets_every_other_system_and_all_pairs_on_request() -> None:
    scores, cases = three()
    found = table(scores, cases, Micro())
    assert [(c.first, c.second, c.measure) for c in found.comparisons] == [
        ("good", "fair", "f1"),
        ("good", "poor", "f1"),
    ]
    assert found.clustered_by == "repository"
    every = table(scores, cases, Micro(), pairs="all", measures=["precision", "recall"])
    assert len(every.comparisons) == 6
    named = table(scores, cases, Micro(), pairs=[("poor", "good")])
    assert named.comparisons[0].difference == -(found.comparisons[1].difference or 0)


def test_the_difference_is_that_of_the_leaderboard_and_its_interval_holds_it() -> None:
    scores, cases = three()
    board = leaderboard(ScoredRun(Micro(), cases, scores, dataset="made", benchmark=BENCHMARK), resamples=10)
    values = {row.system: row.estimate("f1") for row in board.systems}
    for c in table(scores, cases, Micro(), pairs="all").comparisons:
        first, second = values[c.first], values[c.second]
        assert first is not None and second is not None
        assert (c.first_value, c.second_value) == (first.value, second.value)
        assert c.low is not None and c.high is not None and c.difference is not None
        assert c.low < c.difference < c.high
        assert (c.worst, c.best) == (c.difference, c.difference)
        assert c.p is not None and c.p_holm is not None and c.p <= c.p_holm <= 1
        assert (c.n, c.clusters) == (40, 40)
        # The half width of the interval is about 1.96 standard errors, what can be detected 2.80.
        assert c.detectable == pytest.approx((c.high - c.low) / 2 * 2.8016 / 1.96, rel=0.15)


@given(st.integers(0, 10**6), st.integers(2, 30))
def test_a_system_against_itself(seed: int, n: int) -> None:
    cases = make_cases(n)
    rows = review_counts(np.random.default_rng(seed), n, 0.5, 0.5)
    rows[0] += 1
    found = table(micro_scores("a", cases, rows) + micro_scores("b", cases, rows), cases, Micro()).comparisons[0]
    assert found.difference == 0
    assert found.p == 1
    assert found.detectable is None
    assert (found.low, found.high) in {(0.0, 0.0), (None, None)}


@given(st.randoms(use_true_random=False))
def test_the_order_of_scores_and_cases_does_not_matter(random: object) -> None:
    scores, cases = three(15)
    expected = table(scores, cases, Micro(), pairs="all")
    random.shuffle(scores)  # type: ignore[attr-defined]
    random.shuffle(cases)  # type: ignore[attr-defined]
    assert table(scores, cases, Micro(), pairs="all") == expected


def test_only_common_cases_count_and_failures_are_bounded_both_ways() -> None:
    cases = make_cases(5)
    scores = mean_scores("a", cases[:3], [1, 1, 0]) + mean_scores("b", cases[:4], [0, 1, 0, 1])
    scores += [failed(Mean(), "a", cases[3]), failed(Mean(), "b", cases[4])]
    found = table(scores, cases, pairs=[("a", "b")]).comparisons[0]
    assert found.n == 3
    assert [found.first_value, found.second_value] == pytest.approx([2 / 3, 1 / 3])
    # On the fourth case a failed and b scored 1; nobody ran a on the fifth.
    assert [found.worst, found.best] == pytest.approx([2 / 4 - 2 / 4, 3 / 4 - 2 / 4])
    assert found.test == "paired sign flips, exact, all 2"


def test_bounds_turn_round_where_less_is_better() -> None:
    cases = make_cases(2)
    metric = Errors()
    scores = mean_scores("a", cases, [0, 1], metric) + mean_scores("b", cases[:1], [0], metric)
    scores.append(failed(metric, "b", cases[1]))
    found = table(scores, cases, metric, pairs=[("a", "b")]).comparisons[0]
    assert (found.worst, found.best) == (0.5, 0.0)


def test_failures_that_nobody_bounds_leave_the_difference_open() -> None:
    cases = make_cases(3)
    scores = [*micro_scores("a", cases, np.ones((3, 3))), *micro_scores("b", cases[1:], np.ones((2, 3)))]
    found = table([*scores, failed(Micro(), "b", cases[0])], cases, Micro()).comparisons[0]
    assert found.difference == 0
    assert (found.worst, found.best) == (None, None)


def test_systems_without_a_common_case_are_not_compared() -> None:
    cases = make_cases(4)
    found = table(mean_scores("a", cases[:2], [1, 1]) + mean_scores("b", cases[2:], [0, 1]), cases)
    only = found.comparisons[0]
    assert (only.n, only.clusters, only.difference, only.p, only.p_holm, only.detectable) == (0, 0) + (None,) * 4
    assert "a against b: no case was scored for both" in found.warnings


def test_pairs_in_repositories_swap_whole_repositories() -> None:
    cases = make_cases(40, repositories=20)
    generator = np.random.default_rng(2)
    scores = mean_scores("a", cases, generator.normal(size=40)) + mean_scores("b", cases, generator.normal(size=40))
    found = table(scores, cases)
    assert (found.clustered_by, found.comparisons[0].clusters, found.comparisons[0].n) == ("repository", 20, 40)
    fewer = mean_scores("a", cases, generator.normal(size=40)) + mean_scores("b", cases[:10], generator.normal(size=10))
    warned = table(fewer, cases)
    assert warned.comparisons[0].clusters == 10
    assert any("common cases in 10 repositories only" in text for text in warned.warnings)


def test_a_single_hit_does_not_tell_a_quiet_system_from_a_noisy_one() -> None:
    cases = make_cases(24)
    generator = np.random.default_rng(4)
    quiet = np.stack([np.zeros(24), generator.poisson(0.7, 24), np.full(24, 2.0)], axis=1)
    quiet[5] += [1, 0, -1]
    noisy = np.stack([np.zeros(24), generator.poisson(6, 24), np.full(24, 2.0)], axis=1)
    scores = micro_scores("quiet", cases, quiet) + micro_scores("noisy", cases, noisy)
    for found in table(scores, cases, Micro(), measures=["f1", "precision", "recall"]).comparisons:
        assert (found.first, found.second) == ("quiet", "noisy")
        assert found.difference is not None and found.difference > 0
        assert found.p is not None and found.p >= 0.5


def test_what_cannot_be_compared_is_refused() -> None:
    cases = make_cases(3)
    scores = mean_scores("a", cases, [1, 0, 1])
    with pytest.raises(UserError, match="a comparison takes two"):
        table(scores, cases)
    both = scores + mean_scores("b", cases, [0, 0, 1])
    with pytest.raises(UserError, match="there is no system 'c'") as raised:
        table(both, cases, pairs=[("a", "c")])
    assert raised.value.remedy == "there are: a, b"
    with pytest.raises(UserError, match="there is no measure 'f1'"):
        table(both, cases, measures=["f1"])
    with pytest.raises(UserError, match="no case was scored"):
        table([score(Mean(), name, cases[0], None, reason="does not apply") for name in ("a", "b")], cases)


def test_holm_is_taken_over_everything_compared_in_one_call() -> None:
    scores, cases = three()
    alone = table(scores, cases, Micro(), pairs=[("good", "fair")]).comparisons[0]
    assert alone.p == alone.p_holm
    together = table(scores, cases, Micro(), pairs="all", measures=["f1", "recall"]).comparisons
    assert all(c.p is not None and c.p_holm is not None and c.p_holm >= c.p for c in together)
    same = next(c for c in together if (c.first, c.second, c.measure) == ("good", "fair", "f1"))
    assert same.p == alone.p
    assert (same.p_holm or 0) > (same.p or 0)


def test_a_fake_system_is_named() -> None:
    cases = make_cases(3)
    scores = mean_scores("a", cases, [1, 0, 1]) + [
        score(Mean(), "b", case, {"value": 0.0}, fake=True) for case in cases
    ]
    assert any(text.startswith("b: fake") for text in table(scores, cases).warnings)
    fakes = [one.model_copy(update={"fake": True}) for one in scores]
    assert sum("fake" in text for text in table(fakes, cases).warnings) == 1


def test_the_seed_decides_and_the_result_survives_json() -> None:
    scores, cases = three()
    found = table(scores, cases, Micro())
    assert found == table(scores, cases, Micro())
    assert found.comparisons[0].low != table(scores, cases, Micro(), seed=1).comparisons[0].low
    assert ComparisonTable.model_validate_json(found.model_dump_json()) == found


def test_a_share_cannot_differ_by_more_than_one_so_no_such_difference_is_called_detectable() -> None:
    cases = make_cases(2)
    rows = {"a": [{"tp": 1, "fp": 0, "fn": 0}, {"tp": 0, "fp": 0, "fn": 1}]}
    rows["b"] = [{"tp": 0, "fp": 0, "fn": 1}, {"tp": 1, "fp": 0, "fn": 0}]
    scores = [
        score(Micro(), s, case, parts) for s, cells in rows.items() for case, parts in zip(cases, cells, strict=True)
    ]
    found = table(scores, cases, Micro(), measures=["recall"])
    assert [c.detectable for c in found.comparisons] == [None]
    assert any("however large" in text for text in found.warnings)


def test_where_interval_and_p_disagree_it_says_which_to_believe() -> None:
    cases = make_cases(8)
    found = table(mean_scores("a", cases, [1] * 5 + [0] * 3) + mean_scores("b", cases, [0] * 8), cases)
    (pair,) = found.comparisons
    assert pair.low is not None and pair.low > 0 and pair.p == 2 / 2**5
    assert any("leaves out 0, but p is 0.06: believe p" in text for text in found.warnings)
