from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.metrics.matching.policies import Matrix, assign, assigned_scores, golden_scores

TABLES = st.integers(0, 4).flatmap(
    lambda rows: st.integers(0, 4).flatmap(
        lambda columns: st.lists(st.floats(0, 1), min_size=rows * columns, max_size=rows * columns).map(
            lambda cells: np.array(cells, dtype=float).reshape(rows, columns)
        )
    )
)


def test_by_hand() -> None:
    # Comment 0 is best for both references. Giving it to reference 0 and comment 1 to reference 1 sums to 1.4;
    # the other way round to .8 + .1.
    table = np.array([[0.9, 0.8], [0.1, 0.5]])
    assert assign(table) == [(0, 0), (1, 1)]
    assert assigned_scores(table).tolist() == [0.9, 0.5]
    assert golden_scores(table, penalty=0.2).tolist() == [0.9, pytest.approx(0.6)]
    assert golden_scores(table, penalty=0.4).tolist() == [0.9, 0.5]


def test_one_comment_and_two_references() -> None:
    assert golden_scores(np.array([[0.9, 0.8]]), penalty=0.3).tolist() == [0.9, pytest.approx(0.5)]


def test_unknown_pairs_are_never_assigned() -> None:
    assert assign(np.array([[np.nan, 0.2]])) == [(0, 1)]
    assert golden_scores(np.array([[np.nan], [np.nan]]), 0.1).tolist() == [0.0]


def test_nothing_said_is_nothing_found() -> None:
    assert golden_scores(np.zeros((0, 3)), 0.15).tolist() == [0, 0, 0]
    assert golden_scores(np.zeros((3, 0)), 0.15).tolist() == []


def _best_sum(table: Matrix) -> float:
    rows, columns = table.shape
    if rows > columns:
        return _best_sum(table.T)
    return max(
        sum(float(table[r, c]) for r, c in enumerate(chosen)) for chosen in itertools.permutations(range(columns), rows)
    )


@given(TABLES)
def test_the_sum_is_the_largest_and_nothing_is_used_twice(table: Matrix) -> None:
    found = assign(table)
    assert len({r for r, _ in found}) == len({c for _, c in found}) == len(found)
    if table.size:
        assert sum(table[r, c] for r, c in found) == pytest.approx(_best_sum(table))


@given(TABLES, st.floats(0.01, 1))
def test_scores_stay_between_what_was_assigned_and_the_maximum(table: Matrix, penalty: float) -> None:
    scores = golden_scores(table, penalty)
    assert (scores >= assigned_scores(table) - 1e-12).all()
    if table.size:
        assert (scores <= table.max(axis=0) + 1e-12).all()
        lost = assigned_scores(table) < table.max(axis=0)
        assert (scores[lost] < table.max(axis=0)[lost]).all()
