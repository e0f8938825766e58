from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.tree import DecisionTreeClassifier

from reviewgauge.analysis.stats.classification import (
    MAJORITY,
    TREE,
    OneScoreTree,
    accuracy,
    balanced_accuracy,
    classifiers,
    confusion,
    quadratic_kappa,
    rates,
    smote,
)

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@given(pairs)
def test_every_figure_is_the_one_of_scikit_learn(rows: list[tuple[int, int]]) -> None:
    predicted, true = np.array(rows).T
    table = confusion(predicted, true, 4)
    assert table.sum() == len(rows)
    assert accuracy(table) == pytest.approx(metrics.accuracy_score(true, predicted))
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(
        true, predicted, labels=range(4), zero_division=np.nan
    )
    np.testing.assert_allclose(rates(table).precision, precision)
    np.testing.assert_allclose(rates(table).recall, recall)
    np.testing.assert_allclose(rates(table).f1, f1)
    assert balanced_accuracy(table) == pytest.approx(np.nanmean(recall))
    kappa = quadratic_kappa(table, np.arange(4.0))
    if len({*predicted.tolist(), *true.tolist()}) == 1:
        assert np.isnan(kappa)
    else:
        expected = metrics.cohen_kappa_score(true, predicted, labels=range(4), weights="quadratic")
        assert kappa == pytest.approx(expected)


def test_many_tables_at_once_are_the_tables_one_by_one() -> None:
    tables = np.random.default_rng(0).integers(0, 9, (5, 3, 3)).astype(np.float64)
    grades = np.array([1.0, 2.0, 4.0])
    assert quadratic_kappa(tables, grades) == pytest.approx([float(quadratic_kappa(t, grades)) for t in tables])
    assert balanced_accuracy(tables) == pytest.approx([float(balanced_accuracy(t)) for t in tables])


def test_kappa_weighs_by_the_distance_of_the_grades() -> None:
    table = np.array([[8.0, 1.0, 0.0], [1.0, 8.0, 1.0], [0.0, 1.0, 8.0]])
    even, far = (quadratic_kappa(table, np.array(grades)) for grades in ([1.0, 2.0, 3.0], [1.0, 2.0, 9.0]))
    assert even != pytest.approx(float(far))


scores = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-100, 100, width=32),
    st.integers(-9, 9).map(lambda i: i * 0.7e-7),  # closer than scikit-learn tells apart
)
rows = st.lists(st.tuples(scores, st.integers(0, 3)), min_size=1, max_size=40)


@given(rows, st.lists(scores, min_size=1, max_size=30), st.integers(0, 3))
def test_the_tree_is_the_one_of_scikit_learn(train: list[tuple[float, int]], asked: list[float], seed: int) -> None:
    x, y = np.array([score for score, _ in train]), np.array([label for _, label in train])
    questions = np.array(asked)
    theirs = DecisionTreeClassifier(random_state=seed).fit(x[:, None], y).predict(questions[:, None])
    assert OneScoreTree.grown(x, y).predict(questions).tolist() == theirs.tolist()


@given(rows, st.integers(0, 5))
def test_smote_makes_labels_equally_frequent_between_rows_of_one_label(
    given_rows: list[tuple[float, int]], seed: int
) -> None:
    x, y = np.array([score for score, _ in given_rows]), np.array([label for _, label in given_rows])
    made_x, made_y = smote(x, y, np.random.default_rng(seed))
    assert (made_x[: x.size] == x).all() and (made_y[: y.size] == y).all(), "the rows themselves come first"
    sizes = np.bincount(made_y)
    assert set(sizes[sizes > 0]) == {np.bincount(y).max()}
    for label in np.unique(y):
        own = x[y == label]
        new = made_x[made_y == label]
        assert own.min() - 1e-9 <= new.min() and new.max() <= own.max() + 1e-9


def test_smote_goes_to_one_of_the_nearest_five_only() -> None:
    x = np.concatenate([np.zeros(50), [0.0, 1, 2, 3, 4, 5, 1000, 1001, 1002, 1003, 1004, 1005]])
    y = np.array([0] * 50 + [1] * 12)
    made, labels = smote(x, y, np.random.default_rng(0))
    assert not ((made > 5) & (made < 1000) & (labels == 1)).any(), "the other bunch is never among the nearest"


def test_a_single_row_of_a_label_is_repeated() -> None:
    made, labels = smote(np.array([1.0, 2.0, 3.0, 9.0]), np.array([0, 0, 0, 1]), np.random.default_rng(0))
    assert made[labels == 1].tolist() == [9.0, 9.0, 9.0]


def test_perfect_scores_are_told_apart_and_the_majority_class_stands_beside() -> None:
    grade = np.repeat([1.0, 2.0, 3.0], [80, 30, 10])
    (tree, majority), reason = classifiers(grade * 10, grade, splits=5, seed=1)
    assert reason == ""
    assert (tree.name, majority.name) == (TREE, MAJORITY)
    assert (tree.n_train, tree.n_test, tree.splits) == (60, 60, 5)
    assert tree.accuracy.value == tree.kappa_quadratic.value == tree.macro.f1 == 1.0
    assert majority.accuracy.value is not None
    assert majority.accuracy.value == pytest.approx(2 / 3, abs=0.07)
    assert majority.balanced_accuracy.value == pytest.approx(1 / 3)
    assert majority.kappa_quadratic.value == 0.0
    assert majority.rows[1].precision is None, "grade 2 was never predicted"
    assert majority.rows[1].recall == 0.0
    assert majority.macro.precision == pytest.approx(majority.accuracy.value / 3), "as 0, as is usual in macro averages"
    assert tree.accuracy.low is not None and tree.accuracy.high is not None


def test_a_score_without_information_does_no_better_than_chance() -> None:
    generator = np.random.default_rng(0)
    grade = np.repeat([1.0, 2.0], [900, 100])
    (tree, majority), _ = classifiers(generator.random(1000), grade, seed=0)
    assert tree.balanced_accuracy.value == pytest.approx(0.5, abs=0.05)
    assert tree.kappa_quadratic.value == pytest.approx(0.0, abs=0.05)
    assert tree.accuracy.value is not None and majority.accuracy.value is not None
    assert tree.accuracy.value < majority.accuracy.value, "which is why the two stand beside each other"


def test_the_same_seed_gives_the_same_splits() -> None:
    generator = np.random.default_rng(0)
    score, grade = generator.random(200), generator.integers(1, 4, 200).astype(np.float64)
    assert classifiers(score, grade, seed=3) == classifiers(score, grade, seed=3)
    assert classifiers(score, grade, seed=3) != classifiers(score, grade, seed=4)


def test_what_cannot_be_classified_says_why() -> None:
    assert classifiers(np.arange(4.0), np.ones(4))[1].startswith("all human values are equal")
    assert "too few" in classifiers(np.arange(3.0), np.array([1.0, 2.0, 3.0]))[1]


def test_figures_by_grade_stand_with_their_range_over_the_splits() -> None:
    generator = np.random.default_rng(3)
    grade = generator.choice([1.0, 2.0], 200, p=[0.7, 0.3])
    (tree, majority), _ = classifiers(generator.normal(grade), grade, splits=6)
    for row in (*tree.rows, tree.macro):
        assert row.f1 is not None and row.f1_low is not None and row.f1_high is not None
        assert row.f1_low < row.f1 < row.f1_high
        assert row.recall is not None and row.recall_low is not None and row.recall_high is not None
        assert row.recall_low < row.recall < row.recall_high
    one = classifiers(generator.normal(grade), grade, splits=1)[0][0].rows[0]
    assert one.f1_low == one.f1 == one.f1_high, "one split has no range"
    never = majority.rows[1]
    assert (never.precision, never.precision_low, never.precision_high) == (None, None, None)
