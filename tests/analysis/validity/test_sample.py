from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from sklearn import metrics

from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.validity.sample import STEPS, RowSample, _rank_correlations, ranking, sweeps
from reviewgauge.core.labels import Scale


def sample(score: list[float], grade: list[int], *, less_is_better: bool = False) -> RowSample:
    n = len(score)
    values = np.array(grade, dtype=np.float64)
    return RowSample(
        np.array(score, dtype=np.float64), values, values, np.arange(n), Resampler(n, 50, 0), less_is_better
    )


scored_rows = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=2, max_size=40)


@given(scored_rows)
def test_every_point_is_what_counting_gives(found: list[tuple[int, int]]) -> None:
    score, grade = [float(s) for s, _ in found], [g for _, g in found]
    made = sweeps(sample(score, grade))
    assert [sweep.cut for sweep in made] == sorted(set(map(float, grade)))[1:]
    for sweep in made:
        positive = [g >= sweep.cut for g in grade]
        assert sweep.positives == sum(positive)
        assert len(sweep.points) == len(set(score)), "few points are all shown"
        for point in sweep.points:
            taken = [s >= point.threshold for s in score]
            precision, recall, f1, _ = metrics.precision_recall_fscore_support(
                positive, taken, average="binary", zero_division=0
            )
            assert (point.precision, point.recall, point.f1) == pytest.approx((precision, recall, f1))
        assert sweep.best is not None
        assert sweep.best.f1 == max(point.f1 for point in sweep.points)
        assert sweep.auc.value == pytest.approx(metrics.roc_auc_score(positive, score))


@pytest.mark.slow
def test_all_aucs_at_once_are_those_of_resampled_clusters_one_by_one() -> None:
    generator = np.random.default_rng(0)
    grade = generator.integers(1, 5, 80).astype(np.float64)
    scores = generator.integers(0, 20, 80).astype(np.float64)
    cluster = np.arange(80) // 2
    made = RowSample(scores, grade, grade, cluster, Resampler(40, 80, 3))
    for sweep in sweeps(made):
        often = np.concatenate(list(made.resampler.weights()))[:, cluster].astype(np.int64)
        rows = [np.repeat(np.arange(80), weight) for weight in often]
        drawn = [metrics.roc_auc_score(grade[at] >= sweep.cut, scores[at]) for at in rows]
        assert sweep.auc.value == pytest.approx(metrics.roc_auc_score(grade >= sweep.cut, scores))
        assert (sweep.auc.low, sweep.auc.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))


def test_less_is_better_turns_the_scores_and_keeps_thresholds_as_they_are() -> None:
    grade = [1, 1, 2, 2]
    (sweep,) = sweeps(sample([9.0, 8.0, 3.0, 2.0], grade, less_is_better=True))
    assert sweep.auc.value == 1.0
    assert sweep.best is not None
    assert (sweep.best.threshold, sweep.best.f1) == (3.0, 1.0), "scores up to 3 are taken"
    (wrong,) = sweeps(sample([9.0, 8.0, 3.0, 2.0], grade))
    assert wrong.auc.value == 0.0


def test_many_thresholds_are_thinned_and_keep_both_ends() -> None:
    generator = np.random.default_rng(0)
    score = generator.random(3000).tolist()
    (sweep,) = sweeps(sample(score, (generator.random(3000) < 0.2).astype(int).tolist()))
    assert len(sweep.points) <= 2 * STEPS + 2
    assert sweep.points[0].threshold == max(score)
    assert sweep.points[-1].recall == 1.0
    recalls = [point.recall for point in sweep.points]
    assert recalls == sorted(recalls)


def test_one_grade_has_no_cut_and_no_grades_no_sweep() -> None:
    assert sweeps(sample([1.0, 2.0], [3, 3])) == ()
    continuous = RowSample(np.arange(3.0), np.arange(3.0), None, np.arange(3), Resampler(3, 5, 0))
    assert sweeps(continuous) == ()


@pytest.mark.parametrize("less_is_better", [False, True])
def test_the_best_f1_has_the_interval_of_resamples_at_its_threshold(less_is_better: bool) -> None:
    generator = np.random.default_rng(4)
    grade = generator.integers(1, 3, 60)
    score = generator.normal(-grade if less_is_better else grade).round(1)
    cluster, resampler = generator.integers(0, 25, 60), Resampler(25, 40, 0)
    values = grade.astype(np.float64)
    (sweep,) = sweeps(RowSample(score, values, values, cluster, resampler, less_is_better))
    assert sweep.best is not None and sweep.best_f1 is not None
    taken = score <= sweep.best.threshold if less_is_better else score >= sweep.best.threshold
    draws = []
    for weights in resampler.weights():
        for drawn in weights[:, cluster].astype(int):
            draws.append(metrics.f1_score(np.repeat(values == 2, drawn), np.repeat(taken, drawn)))
    low, high = np.quantile(draws, [0.025, 0.975])
    assert (sweep.best_f1.value, sweep.best_f1.n) == (sweep.best.f1, 60)
    assert (sweep.best_f1.low, sweep.best_f1.high) == pytest.approx((low, high))


LIKERT = Scale(low=1, high=5)


def rows(
    human: dict[str, float], score: dict[str, float], per: int = 20, *, less: bool = False
) -> tuple[RowSample, list[str]]:
    """`per` cases, every system on each; values lie around those that are given."""
    generator = np.random.default_rng(0)
    system = [name for _ in range(per) for name in human]
    cluster = np.repeat(np.arange(per), len(human))
    values = np.array([human[name] for name in system])
    scores = np.array([score[name] for name in system]) + generator.normal(size=len(system)) * 0.001
    return RowSample(scores, values, values, cluster, Resampler(per, 100, 0), less), system


def test_systems_stand_in_the_order_of_people_with_both_ranks() -> None:
    human = {"a": 1.0, "b": 3.0, "c": 5.0, "d": 2.0}
    sample, system = rows(human, {"a": 0.1, "b": 0.2, "c": 0.9, "d": 0.3})
    found = ranking(sample, system, LIKERT, left_out=["msg"])
    assert found is not None
    assert [(p.system, p.human.value, p.human_rank, p.metric_rank) for p in found.systems] == [
        ("c", 1.0, 1.0, 1.0),
        ("b", 0.5, 2.0, 3.0),
        ("d", 0.25, 3.0, 2.0),
        ("a", 0.0, 4.0, 4.0),
    ], "human values as (x - 1) / 4: CRScore, Table 10"
    assert found.spearman.value == pytest.approx(0.8)
    assert found.spearman.p == pytest.approx(8 / 24), "four systems: of all orders, not Student's .2"
    assert found.kendall.value == pytest.approx(2 / 3)
    assert found.left_out == ("msg",)
    assert all(p.human.n == 20 for p in found.systems)


def test_less_is_better_ranks_the_lowest_first() -> None:
    human = {"a": 1.0, "b": 3.0, "c": 5.0}
    sample, system = rows(human, {"a": 0.9, "b": 0.5, "c": 0.1}, less=True)
    found = ranking(sample, system, LIKERT)
    assert found is not None
    assert found.spearman.value == pytest.approx(1.0)
    assert [p.metric_rank for p in found.systems] == [1.0, 2.0, 3.0]
    assert found.systems[0].metric.value == pytest.approx(0.1, abs=0.01), "the mean itself keeps its sign"


def test_p_values_are_those_of_the_paper() -> None:
    """CRScore, Table 2: of 9 systems, Spearman .95 has p 8.7e-5 and Kendall .8889 has p 2.4e-4."""
    human = {name: 1 + at / 2 for at, name in enumerate("abcdefghi")}
    sample, system = rows(human, {name: float(at) for at, name in enumerate("badcefghi")})
    found = ranking(sample, system, LIKERT)
    assert found is not None
    assert found.kendall.value == pytest.approx(0.8889, abs=5e-5)
    assert found.kendall.p == pytest.approx(2.4e-4, rel=0.02)
    assert found.spearman.value == pytest.approx(0.9667, abs=5e-5)
    close, system = rows(human, {name: float(at) for at, name in enumerate("bcadefghi")})
    found = ranking(close, system, LIKERT)
    assert found is not None
    assert found.spearman.value == pytest.approx(0.95)
    assert found.spearman.p == pytest.approx(8.7e-5, rel=0.02)


def test_two_systems_are_no_ranking_and_equal_means_have_none() -> None:
    sample, system = rows({"a": 1.0}, {"a": 1.0})
    assert ranking(sample, system, LIKERT) is None
    sample, system = rows({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0})
    found = ranking(sample, system, LIKERT)
    assert found is not None and found.spearman.value is None
    assert "2 systems" in found.spearman.reason
    sample, system = rows({"a": 2.0, "b": 2.0, "c": 2.0}, {"a": 1.0, "b": 2.0, "c": 3.0})
    found = ranking(sample, system, LIKERT)
    assert found is not None
    assert found.kendall.reason == "the human means of all systems are equal"


@given(
    st.integers(3, 6).flatmap(
        lambda n: st.lists(
            st.tuples(
                st.lists(st.integers(0, 3), min_size=n, max_size=n), st.lists(st.integers(0, 3), min_size=n, max_size=n)
            ),
            min_size=1,
            max_size=5,
        )
    )
)
@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_correlations_of_many_resamples_are_scipys(draws: list[tuple[list[int], list[int]]]) -> None:
    first, second = (np.array([pair[at] for pair in draws], dtype=np.float64) for at in (0, 1))
    for name, function in (("spearman", spearmanr), ("kendall", kendalltau)):
        expected = [function(a, b).statistic for a, b in zip(first, second, strict=True)]
        np.testing.assert_allclose(_rank_correlations(name, first, second), expected, atol=1e-12)
