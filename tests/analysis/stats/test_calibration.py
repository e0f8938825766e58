from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, isotonic_regression, minimize
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression

from reviewgauge.analysis.stats.calibration import Isotonic, Segments, _OrdinalLoss, best_floor, fit_ordinal, floored

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


@given(rows)
def test_isotonic_is_scipys_on_distinct_scores(found: list[tuple[int, int]]) -> None:
    score, human = (np.array(values, dtype=np.float64) for values in zip(*found, strict=True))
    fitted = Isotonic.fitted(score, human)
    scores = np.unique(score)
    means = np.array([human[score == s].mean() for s in scores])
    sizes = np.array([(score == s).sum() for s in scores], dtype=np.float64)
    assert fitted.predict(scores) == pytest.approx(isotonic_regression(means, weights=sizes).x)
    asked = np.linspace(-5, 20, 60)
    assert (np.diff(fitted.predict(asked)) >= -1e-12).all()
    assert fitted.predict(np.array([-99.0]))[0] == pytest.approx(fitted.values[0]), "flat beyond what was seen"


def test_gradient_and_curvature_are_the_slopes_of_the_loss() -> None:
    generator = np.random.default_rng(1)
    features = generator.random((60, 3))
    loss = _OrdinalLoss(features, np.arange(60) % 4, 3, 0.7)
    for _ in range(5):
        at = np.concatenate([np.sort(generator.normal(size=3)), generator.normal(size=3)])
        _, gradient, curvature = loss(at)
        assert gradient == pytest.approx(approx_fprime(at, lambda x: loss(x)[0], 1e-6), abs=1e-3)
        assert curvature == pytest.approx(approx_fprime(at, lambda x: loss(x)[1], 1e-6), rel=1e-3, abs=1e-3)


@given(st.integers(0, 10_000), st.integers(2, 5), st.booleans())
@pytest.mark.slow
def test_the_minimum_is_the_one_of_a_general_solver(seed: int, grades: int, rising: bool) -> None:
    generator = np.random.default_rng(seed)
    features = generator.random((50, 3))
    human = generator.integers(1, grades + 1, 50).astype(np.float64)
    levels, code = np.unique(human, return_inverse=True)
    mine = fit_ordinal(features, human, ridge=0.5, rising=rising)
    loss = _OrdinalLoss(features, code.astype(np.int64), levels.size - 1, 0.5)
    found = loss(np.concatenate([mine.cuts, mine.weights]))[0]
    start = np.concatenate([np.linspace(-1, 1, levels.size - 1) if levels.size > 2 else [0.0], np.zeros(3)])
    bounds = [(None, None)] * (levels.size - 1) + [(0 if rising else None, None)] * 3
    other = minimize(lambda x: min(loss(x)[0], 1e9), start, bounds=bounds, method="Powell", options={"maxiter": 3000})
    assert found <= other.fun + 1e-6, "nothing better was found"
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
