from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from reviewgauge.analysis.stats.confusion import accuracy, balanced_accuracy, confusion, quadratic_kappa, rates

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
