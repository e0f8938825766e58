from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.analysis.stats.folds import _near_pairs, duplicate_groups, grouped_folds, near_groups
from reviewgauge.core.errors import UserError


@given(st.lists(st.integers(0, 40), min_size=1, max_size=200), st.integers(2, 6), st.integers(0, 3))
def test_a_group_lies_in_one_fold_and_folds_are_balanced(groups: list[int], k: int, seed: int) -> None:
    sizes = Counter(groups)
    if len(sizes) < k:
        with pytest.raises(UserError, match="fewer folds"):
            grouped_folds(groups, k, seed)
        return
    folds = grouped_folds(groups, k, seed)
    assert (folds == grouped_folds(groups, k, seed)).all(), "the same seed gives the same folds"
    of_group = {(group, fold) for group, fold in zip(groups, folds.tolist(), strict=True)}
    assert len(of_group) == len(sizes)
    loads = Counter(folds.tolist())
    assert set(loads) == set(range(k)), "no fold is empty"
    assert max(loads.values()) - min(loads.values()) <= max(sizes.values())


def test_another_seed_deals_the_groups_otherwise() -> None:
    groups = [f"group {i}" for i in range(100)]
    assert (grouped_folds(groups, 5, 0) != grouped_folds(groups, 5, 1)).any()


def test_one_fold_is_refused() -> None:
    with pytest.raises(UserError, match="at least 2, got 1"):
        grouped_folds([1, 2, 3], 1, 0)


@pytest.mark.parametrize(("first", "second", "same"), [
    ("Why is this removed?", "why is this REMOVED", True),
    ("Please rename the variable `userCount` to total", "please rename variable `user_count` to `total`.", True),
    ("This method should check the argument for null before it calls the service",
        "This method should check the arguments for null before calling the service", True),
    ("Please add a space here", "Please add a test here", False),
    ("nit: blank line", "nit: white space", False),
    ("why not the list?", "the list, why not?", True),
    ("👍", "👍", True), ("👍", "👎", False), ("", "", False), ("  ", "\n", False),
    ("为什么删除这一行?", "为什么删除这一行", True),
])  # fmt: skip
def test_what_counts_as_a_copy(first: str, second: str, same: bool) -> None:
    groups = duplicate_groups([first, second])
    assert (groups[0] == groups[1]) == same


def test_groups_are_numbered_as_they_appear() -> None:
    assert duplicate_groups(["b here", "a there", "B here!", ""]).tolist() == [0, 1, 0, 2]
    assert duplicate_groups([]).tolist() == []


words = st.integers(0, 11)


@given(st.lists(st.frozensets(words, min_size=0, max_size=12), max_size=25), st.sampled_from([0.5, 0.6, 0.8, 1.0]))
def test_prefix_filtering_finds_every_near_pair(sets: list[frozenset[int]], near: float) -> None:
    slow = {
        (a, b)
        for a in range(len(sets))
        for b in range(a)
        if sets[a] and sets[b] and len(sets[a] & sets[b]) / len(sets[a] | sets[b]) >= near - 1e-12
    }
    fast = {(max(pair), min(pair)) for pair in _near_pairs(sets, near)}
    assert fast == slow


def test_a_copy_never_lies_on_both_sides_of_a_split() -> None:
    texts = [f"the {word} of item {n} is never closed properly" for n in range(40) for word in ("handle", "handle!")]
    folds = grouped_folds(duplicate_groups(texts).tolist(), 4, 0)
    assert (folds[::2] == folds[1::2]).all()
    assert np.unique(folds).size == 4


def test_sets_that_share_most_of_their_lines_are_one_group() -> None:
    lines = [f"line {number}" for number in range(10)]
    found = near_groups([lines, [], lines[:9], ["other"], [], lines[::-1], [*lines[:5], *"abcde"]])
    assert found[0] == found[2] == found[5]
    assert len({found[at] for at in (0, 1, 3, 4, 6)}) == 5
