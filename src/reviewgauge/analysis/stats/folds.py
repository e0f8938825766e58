"""Folds that keep rows of one reference, and of near-duplicate references, together.

A fit that has seen one copy of a text knows the other, so copies must not be on both sides of a split. Near-duplicates
are found exactly, by prefix filtering. Source: Xiao, Wang, Lin, Yu: Efficient similarity joins for near duplicate
detection, WWW 2008.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers
from reviewgauge.core.errors import UserError
from reviewgauge.models.text.words import STOP_WORDS, tokens

NEAR = 0.8  # least Jaccard similarity of the stemmed content words of near-duplicates
_ENOUGH_WORDS = 4  # texts with fewer content words must have all their words in common


def grouped_folds(groups: Sequence[str | int], k: int, seed: int) -> Integers:
    """The fold, 0 to k-1, of each row: rows of one group share a fold, and folds are about equally large.

    Groups are shuffled by `seed`, then assigned from the largest to the smallest, each to the smallest fold. Raises
    UserError for fewer groups than folds.
    """
    sizes = Counter(groups)
    if k < 2:
        raise UserError(f"folds must be at least 2, got {k}")
    if len(sizes) < k:
        raise UserError(f"{k} folds need {k} groups of rows, but there are {len(sizes)}", remedy="use fewer folds")
    names = list(sizes)
    order = [names[i] for i in np.random.default_rng(seed).permutation(len(names))]
    fold: dict[str | int, int] = {}
    load = [0] * k
    for name in sorted(order, key=lambda name: -sizes[name]):  # stable: equal sizes stay shuffled
        fold[name] = smallest = load.index(min(load))
        load[smallest] += sizes[name]
    return np.array([fold[name] for name in groups], dtype=np.int64)


def duplicate_groups(texts: Sequence[str], near: float = NEAR) -> Integers:
    """The group of each text, counted from 0 in order of first appearance: copies and near-copies share one.

    Copies are equal but for case, blanks and punctuation. Near-copies have stemmed content words with a Jaccard
    similarity of `near` or more; texts with few content words must have all words in common. Groups are transitive.
    A blank text is a copy of no other.
    """
    number_of: dict[str, int] = {}
    first: dict[tuple[str, bytes] | int, int] = {}
    of_key = array("L")
    for row, text in enumerate(texts):
        bare, words = _words(text)
        numbers = array("I", sorted(number_of.setdefault(word, len(number_of)) for word in words))
        of_key.append(first.setdefault((bare, numbers.tobytes()) if words else -1 - row, len(first)))
    packed = (b"" if isinstance(key, int) or key[0] else key[1] for key in first)
    sets = [memoryview(words).cast("I") for words in packed]  # a tenth of what sets of words take
    joined = _Union(len(first))
    for a, b in _near_pairs(sets, near):
        joined.join(a, b)
    number: dict[int, int] = {}
    return np.array([number.setdefault(joined.find(at), len(number)) for at in of_key], dtype=np.int64)


def near_groups(items: Sequence[Iterable[str]], near: float = NEAR) -> list[int]:
    """The group of each set of words or lines: those with a Jaccard similarity of `near` or more share one.

    Groups are transitive. An empty set is like no other.
    """
    number_of: dict[str, int] = {}
    first: dict[frozenset[int] | int, int] = {}
    of_key = []
    for row, item in enumerate(items):
        key = frozenset(number_of.setdefault(one, len(number_of)) for one in item)
        of_key.append(first.setdefault(key or -1 - row, len(first)))
    joined = _Union(len(first))
    for a, b in _near_pairs([() if isinstance(key, int) else sorted(key) for key in first], near):
        joined.join(a, b)
    return [joined.find(at) for at in of_key]


def _words(text: str) -> tuple[str, frozenset[str]]:
    """(the plain words of a text with too few content words to compare, else ""; the set of words)."""
    every = tokens(text)
    content = frozenset(word for word in every if word not in STOP_WORDS)
    if len(content) >= _ENOUGH_WORDS:
        return "", content
    if every:
        return " ".join(sorted(set(every))), frozenset(every)
    bare = "".join(text.casefold().split())  # emoji, punctuation or code fences only
    return bare, frozenset({bare} if bare else ())


def _near_pairs(sets: Sequence[Collection[int]], near: float) -> Iterable[tuple[int, int]]:
    """Every pair of non-empty sets of different numbers with a Jaccard similarity of `near` or more.

    Two such sets of sizes a <= b share one of the rarest a - ceil(near * a) + 1 words of each, in a common order.
    """
    seen = Counter(word for words in sets for word in words)
    holders: defaultdict[int, list[int]] = defaultdict(list)
    for at in sorted((i for i, words in enumerate(sets) if words), key=lambda i: len(sets[i])):
        words = set(sets[at])
        ordered = sorted(words, key=lambda word: (seen[word], word))
        prefix = ordered[: len(words) - math.ceil(near * len(words) - 1e-9) + 1]
        for other in {other for word in prefix for other in holders[word]}:
            shared = len(words.intersection(sets[other]))
            if shared >= near * (len(words) + len(sets[other]) - shared) - 1e-9:
                yield other, at
        for word in prefix:
            holders[word].append(at)


class _Union:
    """Disjoint sets of the numbers below `n`."""

    def __init__(self, n: int) -> None:
        self._root = list(range(n))

    def find(self, at: int) -> int:
        while self._root[at] != at:
            self._root[at] = self._root[self._root[at]]
            at = self._root[at]
        return at

    def join(self, a: int, b: int) -> None:
        a, b = self.find(a), self.find(b)
        self._root[max(a, b)] = min(a, b)
