"""Fits over several metrics: what they learn, what they must not learn, and how folds are kept apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import text_metrics as tm
from graded_pairs import grades, pairs
from reviewgauge.analysis.stats.folds import duplicate_groups
from reviewgauge.analysis.validity.combination import features_of, fit, fit_in_folds, matching_floor, shuffled
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.results import Failure, FailureKind, Score
from reviewgauge.core.specs import load, signature
from reviewgauge.metrics.combined import graded, measures_by_row
from reviewgauge.metrics.texts.text_metric import TextPair


def noisy(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two features, of which one tells the grade; rows come in pairs of one reference."""
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 4, n).astype(float)
    table = np.stack([human + rng.normal(0, 0.7, n), rng.normal(0, 1, n)], axis=1)
    return table, human, np.arange(n) // 2


def test_it_learns_the_feature_that_tells() -> None:
    table, human, groups = noisy()
    found = fit(table, human, groups, seed=0)
    assert found.weights[0] > 10 * abs(found.weights[1])
    assert list(found.cuts) == sorted(found.cuts)
    assert spearmanr(graded(found, [1, 2, 3], table)[1], human)[0] > 0.7


def test_folds_keep_groups_and_give_about_what_all_rows_give() -> None:
    table, human, groups = noisy()
    held = fit_in_folds(table, human, groups, folds=5, seed=0)
    assert all(np.unique(held.fold[groups == group]).size == 1 for group in groups)
    assert 0.65 < spearmanr(held.expected, human)[0] < 0.85


@pytest.mark.slow
def test_shuffled_labels_reach_nothing() -> None:
    table, human, groups = noisy()
    dealt = shuffled(human, groups, 0)
    assert sorted(dealt) == sorted(human)
    held = fit_in_folds(table, dealt, groups, folds=5, seed=0)
    assert abs(spearmanr(held.expected, dealt)[0]) < 0.15


@pytest.mark.drill
def test_a_copied_row_across_folds_would_leak_and_groups_stop_it() -> None:
    """A feature that names the reference: within groups it tells the label, out of group it tells nothing."""
    rng = np.random.default_rng(3)
    label = rng.integers(1, 3, 60).astype(float)
    marks = np.eye(60)[np.repeat(np.arange(60), 4)]
    human, groups = np.repeat(label, 4), np.repeat(np.arange(60), 4)
    apart = fit_in_folds(marks, human, groups, folds=5, seed=0, ridge=0.1)
    leaking = fit_in_folds(marks, human, np.arange(240), folds=5, seed=0, ridge=0.1)
    assert spearmanr(leaking.expected, human)[0] > 0.8
    assert abs(np.nan_to_num(spearmanr(apart.expected, human)[0])) < 0.5
    dealt = shuffled(human, groups, 0)  # the check that calibrate prints sees that leak, and none where there is none
    seen = fit_in_folds(marks, dealt, np.arange(240), folds=5, seed=0, ridge=0.1)
    assert spearmanr(seen.expected, dealt)[0] > 0.8
    unseen = fit_in_folds(marks, dealt, groups, folds=5, seed=0, ridge=0.1)
    assert np.nan_to_num(spearmanr(unseen.expected, dealt)[0]) < 0.05


def test_a_grade_that_a_fold_lacks_gets_a_cut_of_its_own() -> None:
    table, human, groups = noisy(40)
    human[:2] = 9.0
    held = fit_in_folds(table, human, groups, folds=4, seed=0)
    assert {len(one.cuts) for one in held.fits} == {np.unique(human).size - 1}
    assert np.isfinite(held.grade).all()


def test_the_floor_leaves_the_share_that_people_graded_above_the_lowest() -> None:
    human = np.array([1.0] * 8 + [2.0] * 2)
    expected = np.linspace(1, 2, 10)
    assert (expected >= matching_floor(expected, human)).sum() == 2


def test_undefined_measures_count_as_the_mean() -> None:
    table, human, groups = noisy()
    table[::7, 0] = np.nan
    found = fit(table, human, groups, seed=0)
    grade, expected, above = graded(found, [1, 2, 3], table)
    assert np.isfinite(grade).all() and np.isfinite(expected).all() and np.isfinite(above).all()


def test_features_are_of_reviews_that_all_metrics_measured() -> None:
    metric = load(Metric, "jaccard")
    blank = Score(case="a", system="s", metric=signature(metric), benchmark="b")
    scores = [blank.model_copy(update={"case": name, "parts": {"value": at / 4}}) for at, name in enumerate("abc")]
    failed = blank.model_copy(
        update={"case": "c", "failure": Failure(kind=FailureKind.CRASH, message="x"), "reason": "the metric failed"}
    )
    found = features_of({"jaccard": (metric, scores), "other": (metric, [*scores[:2], failed])})
    assert [key[0] for key in found.keys] == ["a", "b"]
    assert found.names == (("jaccard", "mean"), ("other", "mean"))
    assert found.table.tolist() == [[0.0, 0.0], [0.25, 0.25]]
    assert dict(found.left_out) == {"other: the metric failed": 1}


@pytest.mark.drill
def test_shuffled_grades_of_graded_reviews_reach_nothing(shared_data: Path) -> None:
    """The leakage test of the model card: labels dealt out at random must not be told, to .05 of Spearman."""
    items = [tm.item(TextPair(pair.hypothesis, (pair.reference,))) for pair in pairs(shared_data)]
    columns = []
    for spec in ("jaccard", "chrf", "rouge", "edit"):
        metric = load(Metric, spec)
        parts = [found.parts for found in metric.parts_many(items) if isinstance(found, Measured)]
        columns.append(measures_by_row(metric, parts)[metric.headline])
    table, human = np.stack(columns, axis=1), np.array(grades(shared_data), dtype=np.float64)
    groups = duplicate_groups([pair.reference for pair in pairs(shared_data)])
    dealt = shuffled(human, groups, 0)
    assert abs(spearmanr(fit_in_folds(table, dealt, groups, folds=10, seed=0).grade, dealt)[0]) < 0.05
    real = spearmanr(fit_in_folds(table, human, groups, folds=10, seed=0).grade, human)[0]
    assert real == pytest.approx(0.43, abs=0.05)
