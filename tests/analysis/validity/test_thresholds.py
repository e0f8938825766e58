from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.validity.sample import RowSample
from reviewgauge.analysis.validity.thresholds import STEPS, sweeps


def sample(score: list[float], grade: list[int], *, less_is_better: bool = False) -> RowSample:
    n = len(score)
    values = np.array(grade, dtype=np.float64)
    return RowSample(
        np.array(score, dtype=np.float64), values, values, np.arange(n), Resampler(n, 50, 0), 0.95, less_is_better
    )


rows = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=2, max_size=40)


@given(rows)
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
    (sweep,) = sweeps(RowSample(score, values, values, cluster, resampler, 0.95, less_is_better))
    assert sweep.best is not None and sweep.best_f1 is not None
    taken = score <= sweep.best.threshold if less_is_better else score >= sweep.best.threshold
    draws = []
    for weights in resampler.weights():
        for drawn in weights[:, cluster].astype(int):
            draws.append(metrics.f1_score(np.repeat(values == 2, drawn), np.repeat(taken, drawn)))
    low, high = np.quantile(draws, [0.025, 0.975])
    assert (sweep.best_f1.value, sweep.best_f1.n) == (sweep.best.f1, 60)
    assert (sweep.best_f1.low, sweep.best_f1.high) == pytest.approx((low, high))
