"""Packed n-grams count what a plain count of every n-gram gives, however the batch falls into chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.metrics.texts import ngrams

Rows = Sequence[tuple[Sequence[int], Sequence[int]]]
few = st.lists(st.integers(0, 3), max_size=12)
many = st.lists(st.integers(0, 2**32 - 1), max_size=12)


def matches(rows: Rows, orders: int) -> list[list[int]]:
    said = [np.array(row[0], dtype=np.uint32) for row in rows]
    wanted = [np.array(row[1], dtype=np.uint32) for row in rows]
    found: list[list[int]] = ngrams.matches(said, wanted, orders).T.tolist()
    return found


def counted(rows: Rows, orders: int) -> list[list[int]]:
    def grams(one: Sequence[int], n: int) -> Counter[tuple[int, ...]]:
        return Counter(tuple(one[i : i + n]) for i in range(len(one) - n + 1))

    return [[(grams(a, n) & grams(b, n)).total() for n in range(1, orders + 1)] for a, b in rows]


@given(st.lists(st.tuples(few, few), max_size=8), st.integers(1, 12))
def test_few_symbols(rows: Rows, orders: int) -> None:
    assert matches(rows, orders) == counted(rows, orders)


@given(st.lists(st.tuples(many, many), max_size=5), st.integers(1, 40))
def test_any_symbols_and_more_orders_than_fit(rows: Rows, orders: int) -> None:
    rows = [(a, [*b, *a[2:]]) for a, b in rows]
    assert matches(rows, orders) == counted(rows, orders)


@pytest.mark.parametrize("symbols", [2, 300, 50_000])
@pytest.mark.slow
def test_batches_larger_than_a_chunk(symbols: int) -> None:
    generator = np.random.default_rng(0)
    lengths = [0, 5, ngrams.CHUNK // 2, 9, ngrams.CHUNK // 2, 1, 0, 40_000, 3]
    rows = [(generator.integers(0, symbols, n).tolist(), generator.integers(0, symbols, 50).tolist()) for n in lengths]
    assert matches(rows, 4) == counted(rows, 4)
