from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline.logistic_fit import best_threshold, fit_logistic, fit_platt, grouped_folds, kappa, sigmoid


def test_as_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    random = np.random.default_rng(1)
    x = random.normal(size=(300, 5)) * [1, 5, 0.1, 2, 1] + 3
    score = x @ [1, 0.2, -8, 0, 0.5] + random.normal(size=300)
    y = score > np.median(score)
    ours = fit_logistic(x, y, c=0.3)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    theirs = linear.LogisticRegression(C=0.3, tol=1e-10, max_iter=5000).fit(z, y)
    assert ours.coefficients == pytest.approx(theirs.coef_[0], abs=2e-3)
    assert ours.logits(x) == pytest.approx(theirs.decision_function(z), abs=0.02)


def test_a_constant_column_does_no_harm() -> None:
    model = fit_logistic(np.array([[1.0, 0], [1, 1], [1, 2], [1, 3]]), np.array([False, False, True, True]))
    assert np.isfinite(model.logits(np.array([[1.0, 5.0]]))).all()


def test_platt_brings_overconfident_logits_back() -> None:
    random = np.random.default_rng(2)
    true = random.normal(size=4000)
    y = random.random(4000) < sigmoid(true)
    slope, intercept = fit_platt(3 * true + 1, y)
    assert slope == pytest.approx(1 / 3, abs=0.04)
    assert intercept == pytest.approx(-1 / 3, abs=0.1)


def test_kappa_by_hand() -> None:
    # agreement .7, chance .5 * .6 + .5 * .4 = .5
    one = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], dtype=bool)
    other = np.array([1, 1, 1, 1, 0, 1, 1, 0, 0, 0], dtype=bool)
    assert kappa(one, other) == pytest.approx((0.7 - 0.5) / 0.5)
    assert np.isnan(kappa(np.ones(3, dtype=bool), np.ones(3, dtype=bool)))


def test_the_threshold_parts_what_can_be_parted() -> None:
    scores = np.concatenate([np.linspace(0, 0.3, 50), np.linspace(0.6, 1, 50)])
    assert 0.3 < best_threshold(scores, np.repeat([False, True], 50)) <= 0.6


@given(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=40), st.integers(1, 6))
def test_folds_keep_groups_together_and_hold_each_row_out_once(groups: list[str], folds: int) -> None:
    masks = grouped_folds(groups, folds)
    assert (np.sum(masks, axis=0) == 1).all()
    for mask in masks:
        held = {g for g, out in zip(groups, mask, strict=True) if out}
        assert not held & {g for g, out in zip(groups, mask, strict=True) if not out}


def test_sigmoid_does_not_overflow() -> None:
    assert sigmoid(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]
