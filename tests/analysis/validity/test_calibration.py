from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize
from scipy.stats import spearmanr
from sklearn import metrics
from sklearn.linear_model import LogisticRegression

from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.stats.folds import grouped_folds
from reviewgauge.analysis.validity.calibration import (
    OWN_GRADE,
    WARNING,
    WITHIN,
    Ordinal,
    Segments,
    best_floor,
    fit_ordinal,
    floored,
    heat_map,
    out_of_fold,
    own_heat_map,
)
from reviewgauge.analysis.validity.sample import RowSample
from reviewgauge.core.labels import Scale


def made(seed: int, n: int = 600, *, less_is_better: bool = False, shuffled: bool = False) -> RowSample:
    """Mostly ones, scores that tell the better grades from each other but are noise among the ones."""
    generator = np.random.default_rng(seed)
    human = generator.choice([1.0, 2.0, 3.0], n, p=[0.85, 0.1, 0.05])
    score = np.where(human == 1, generator.random(n) * 0.4, 0.2 + human / 5 + generator.random(n) * 0.1)
    if shuffled:
        human = generator.permutation(human)
    cluster = np.arange(n) // 2
    resampler = Resampler(n // 2, 60, 0)
    return RowSample(-score if less_is_better else score, human, human, cluster, resampler, less_is_better)


def test_calibration_gains_what_the_noise_took() -> None:
    sample = made(0)
    found = out_of_fold(sample, folds=5)
    methods = {one.method: one for one in found.calibrated}
    assert list(methods) == ["floor", "ordinal"]
    raw = sample.spearman().value
    assert raw is not None
    floor = methods["floor"].spearman
    assert floor.value is not None and floor.low is not None and floor.high is not None
    assert floor.value > raw + 0.1
    assert floor.low <= floor.value <= floor.high
    assert all(one.folds == 5 and one.warning == WARNING for one in found.calibrated)
    assert "scores below" in methods["floor"].learned
    assert found.heat_map is not None
    assert sum(map(sum, found.heat_map.counts)) == sample.n
    assert found.heat_map.exact.value is not None and found.heat_map.exact.value > 0.85
    assert found.heat_map.kappa_quadratic.value is not None and found.heat_map.kappa_quadratic.value > 0.5


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.drill
def test_shuffled_labels_leave_no_correlation_so_nothing_leaks(seed: int) -> None:
    for one in out_of_fold(made(seed, 2000, shuffled=True)).calibrated:
        assert one.spearman.value is None or one.spearman.value < 0.05


def test_rows_of_one_cluster_never_teach_each_other() -> None:
    generator = np.random.default_rng(0)
    cluster = np.repeat(np.arange(200), 5)
    human = generator.integers(1, 4, 200).astype(np.float64)[cluster]
    score = generator.random(200)[cluster]  # each cluster has its own score, which says nothing of its grade
    found = out_of_fold(RowSample(score, human, human, cluster, Resampler(200, 20, 0)))
    for one in found.calibrated:
        assert one.spearman.value is None or one.spearman.value < 0.1


def test_less_is_better_is_the_same_with_the_sign_turned() -> None:
    more, less = (out_of_fold(made(0, less_is_better=turned), folds=4) for turned in (False, True))
    assert [one.spearman for one in more.calibrated] == [one.spearman for one in less.calibrated]
    assert more.heat_map == less.heat_map
    assert "scores above -0." in less.calibrated[0].learned


def test_what_cannot_be_fitted_says_why() -> None:
    few = made(0, 10)
    assert "too few" in out_of_fold(few).reason
    sample = made(0)
    one_value = RowSample(sample.score, np.ones(600), np.ones(600), sample.cluster, sample.resampler)
    assert "all human values are equal" in out_of_fold(one_value).reason
    one_cluster = RowSample(sample.score, sample.human, sample.human, np.zeros(600, dtype=np.int64), Resampler(1, 5, 0))
    assert "1 clusters" in out_of_fold(one_cluster).reason


def test_fewer_clusters_than_folds_are_fewer_folds() -> None:
    sample = made(0)
    cluster = np.arange(600) % 4
    few = RowSample(sample.score, sample.human, sample.human, cluster, Resampler(4, 20, 0))
    assert {one.folds for one in out_of_fold(few).calibrated} == {4}


def test_constant_scores_and_values_without_steps() -> None:
    sample = made(0)
    constant = RowSample(np.ones(600), sample.human, sample.human, sample.cluster, sample.resampler)
    found = out_of_fold(constant)
    assert all(one.spearman.value is None or abs(one.spearman.value) < 0.2 for one in found.calibrated)
    assert found.calibrated[0].spearman.reason, "a floor leaves equal scores equal: undefined, and it says so"
    continuous = RowSample(sample.score, sample.human + sample.score, None, sample.cluster, sample.resampler)
    found = out_of_fold(continuous)
    assert [one.method for one in found.calibrated] == ["floor"]
    assert found.heat_map is None


def test_a_mean_within_folds_stands_beside_what_the_score_itself_has_there() -> None:
    sample = made(2)
    _, ordinal = out_of_fold(sample, folds=5).calibrated
    fold = grouped_folds(sample.cluster.tolist(), 5, 0)
    there = [stats.spearmanr(sample.score[fold == k], sample.human[fold == k])[0] for k in range(5)]
    mean = np.average(there, weights=[(fold == k).sum() for k in range(5)])
    assert ordinal.learned.endswith(f"{WITHIN}; the uncalibrated score has {mean:.3f} there")


FIVE = Scale(low=1, high=5)


def graded(score: list[float], human: list[float]) -> RowSample:
    cluster = np.arange(len(score))
    return RowSample(np.array(score), np.array(human), np.array(human), cluster, Resampler(len(score), 50, 0))


def test_scores_that_are_grades_are_rounded_and_nothing_is_fitted() -> None:
    found = own_heat_map(graded([1.0, 1.4, 1.5, 2.6, 4.4, 5.2], [1, 1, 1, 3, 5, 5]), FIVE)
    assert found is not None and found.predicted_by == OWN_GRADE == "the score itself, rounded"
    assert found.grades == (1, 2, 3, 4, 5), "2 and 4 were predicted, though nobody gave them; 5.2 is a 5"
    assert found.counts == ((2, 0, 0, 0, 0), (1, 0, 0, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 0, 1), (0, 0, 0, 0, 1))
    assert found.exact.value == pytest.approx(4 / 6) and found.exact.n == 6
    kappa = metrics.cohen_kappa_score([1, 1, 1, 3, 5, 5], [1, 1, 2, 3, 4, 5], weights="quadratic")
    assert found.kappa_quadratic.value == pytest.approx(kappa)
    assert found.kappa_quadratic.low is not None


def test_grades_of_another_scale_are_not_taken_for_grades_of_this_one() -> None:
    assert own_heat_map(graded([1.0, 4.0], [0, 1]), Scale(low=0, high=1)) is None
    assert own_heat_map(graded([0.4, 2.0], [1, 2]), FIVE) is None
    sample = made(0)
    assert own_heat_map(RowSample(sample.score, sample.human, None, sample.cluster, sample.resampler), FIVE) is None


def test_one_grade_on_both_sides_is_agreement_without_a_kappa() -> None:
    found = heat_map(graded([1.1, 1.2, 0.9], [1, 1, 1]), np.array([1.1, 1.2, 0.9]), np.ones(3), "so", FIVE)
    assert found.exact.value == 1.0
    assert found.kappa_quadratic.value is None and "one and the same grade" in found.kappa_quadratic.reason


rows = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4)), min_size=3, max_size=40)


def spearman(score: object, human: object) -> float:
    with np.errstate(all="ignore"):
        found = spearmanr(score, human).statistic
    return float(found) if np.isfinite(found) else -2.0


@pytest.mark.filterwarnings("ignore:An input array is constant")
@given(rows)
def test_the_best_floor_is_the_one_that_trying_all_finds(found: list[tuple[int, int]]) -> None:
    score, human = (np.array(values, dtype=np.float64) for values in zip(*found, strict=True))
    tried = {floor: spearman(floored(score, floor, -1.0), human) for floor in np.unique(score)}
    floor = best_floor(score, human)
    assert floor in tried
    if len(set(human)) > 1 and len(set(score)) > 1:
        assert tried[floor] == pytest.approx(max(tried.values()))
        assert tried[floor] >= spearman(score, human) - 1e-9, "the lowest floor changes nothing"


def test_a_floor_removes_noise_among_the_bad_ones() -> None:
    generator = np.random.default_rng(0)
    human = np.repeat([1.0, 2.0, 3.0], [900, 60, 40])
    score = np.where(human == 1, generator.random(1000) * 0.5, 0.45 + human / 10)
    floor = best_floor(score, human)
    assert 0.4 < floor <= 0.66
    assert spearman(floored(score, floor, 0.0), human) > spearman(score, human) + 0.2


@pytest.mark.parametrize(("seed", "grades", "rising"), [(0, 2, True), (1, 4, True), (2, 4, False), (3, 5, True)])
def test_the_minimum_is_the_one_of_a_general_solver(seed: int, grades: int, rising: bool) -> None:
    generator = np.random.default_rng(seed)
    features = generator.random((50, 3))
    human = generator.integers(1, grades + 1, 50).astype(np.float64)
    levels, code = np.unique(human, return_inverse=True)
    free = levels.size - 1
    mine = fit_ordinal(features, human, ridge=0.5, rising=rising)

    def loss(x: np.ndarray) -> float:
        if (np.diff(x[:free]) <= 0).any():
            return 1e9
        own = Ordinal(levels, x[:free], x[free:]).probabilities(features)[np.arange(50), code]
        return float(-np.log(own).sum() + 0.25 * (x[free:] ** 2).sum())

    start = np.concatenate([np.linspace(-1, 1, free) if free > 1 else [0.0], np.zeros(3)])
    bounds = [(None, None)] * free + [(0 if rising else None, None)] * 3
    other = minimize(loss, start, bounds=bounds, method="Powell", options={"maxiter": 3000})
    assert loss(np.concatenate([mine.cuts, mine.weights])) <= other.fun + 1e-6, "nothing better was found"
    assert (mine.weights >= 0).all() or not rising
    assert (np.diff(mine.cuts) > 0).all()


def test_with_two_grades_it_is_logistic_regression() -> None:
    generator = np.random.default_rng(2)
    features = generator.random((400, 2))
    good = generator.random(400) < 1 / (1 + np.exp(2 - 3 * features[:, 0] + features[:, 1]))
    human = np.where(good, 2.0, 1.0)
    mine = fit_ordinal(features, human, ridge=2.0, rising=False)
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(features, human)
    assert mine.weights == pytest.approx(theirs.coef_[0], abs=2e-3)
    assert mine.probabilities(features)[:, 1] == pytest.approx(theirs.predict_proba(features)[:, 1], abs=1e-3)


def test_ordinal_finds_the_parameters_that_made_the_grades() -> None:
    generator = np.random.default_rng(3)
    features = generator.random((20_000, 1))
    noise = generator.logistic(size=20_000)
    human = np.searchsorted([1.0, 2.5, 4.0], 3 * features[:, 0] + noise).astype(np.float64) + 1
    model = fit_ordinal(features, human, ridge=1e-6)
    assert model.weights == pytest.approx([3.0], abs=0.15)
    assert model.cuts == pytest.approx([1.0, 2.5, 4.0], abs=0.15)
    assert model.probabilities(features).sum(axis=1) == pytest.approx(np.ones(20_000))
    assert model.expected(features).mean() == pytest.approx(human.mean(), abs=0.02)


def test_a_rising_model_never_lowers_the_grade_for_more() -> None:
    generator = np.random.default_rng(4)
    score = generator.random(500)
    human = np.where(score < 0.5, 3.0, 1.0)  # the wrong way round
    segments = Segments.of(score)
    model = fit_ordinal(segments.features(score), human)
    expected = model.expected(segments.features(np.linspace(0, 1, 50)))
    assert (np.diff(expected) >= -1e-9).all()
    assert expected[-1] == pytest.approx(expected[0], abs=1e-6), "and what goes down is told as nothing"


def test_one_grade_is_always_said() -> None:
    model = fit_ordinal(np.random.default_rng(0).random((5, 2)), np.full(5, 4.0))
    assert model.expected(np.random.default_rng(1).random((3, 2))).tolist() == [4.0, 4.0, 4.0]


def test_segments_rise_with_the_score_and_are_flat_beyond_what_was_seen() -> None:
    segments = Segments.of(np.arange(101.0))
    features = segments.features(np.array([-5.0, 0.0, 25.0, 50.0, 100.0, 900.0]))
    total = features.sum(axis=1)
    assert (np.diff(total) >= 0).all()
    assert total[0] == total[1] == 0.0
    assert total[-1] == total[-2] == features.shape[1]
    assert Segments.of(np.ones(9)).features(np.array([0.0, 2.0])).tolist() == [[0.0], [0.0]], "all scores were equal"
