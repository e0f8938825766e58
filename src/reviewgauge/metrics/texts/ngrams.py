"""How many n-grams two sequences share, for many pairs of sequences and all n at once.

An n-gram is packed into one integer: the number of its pair, then its symbols, the first one highest. Sorting the
longest n-grams once sorts all their beginnings too, so one sort serves every n, and equal n-grams stand in runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

Symbols = np.ndarray[Any, np.dtype[np.uint32]]
Counts = np.ndarray[Any, np.dtype[np.int64]]

BITS = 63  # of a packed n-gram
CHUNK = 300_000  # symbols that are sorted together: what memory grows with


def matches(hypotheses: Sequence[Symbols], references: Sequence[Symbols], orders: int) -> Counts:
    """Shared n-grams of each pair, clipped: sum of the smaller count. Shape orders x pairs, for n of 1 to `orders`."""
    parts, start, weight = [], 0, 0
    for end, (mine, theirs) in enumerate(zip(hypotheses, references, strict=True)):
        if weight and weight + len(mine) + len(theirs) > CHUNK:
            parts.append(_chunk(hypotheses[start:end], references[start:end], orders))
            start, weight = end, 0
        weight += len(mine) + len(theirs)
    parts.append(_chunk(hypotheses[start:], references[start:], orders))
    return np.concatenate(parts, axis=1)


def _chunk(hypotheses: Sequence[Symbols], references: Sequence[Symbols], orders: int) -> Counts:
    if not hypotheses:
        return np.zeros((orders, 0), dtype=np.int64)
    sequences = [one for pair in zip(hypotheses, references, strict=True) for one in pair]
    lengths = np.array([len(one) for one in sequences])
    symbols = _dense(np.concatenate(sequences))
    width = max(1, int(symbols.max(initial=0)).bit_length())
    if orders * width + len(hypotheses).bit_length() + 1 > BITS:
        if len(hypotheses) == 1:
            return _counted(hypotheses[0], references[0], orders)
        half = len(hypotheses) // 2
        return np.concatenate(
            [
                _chunk(hypotheses[:half], references[:half], orders),
                _chunk(hypotheses[half:], references[half:], orders),
            ],
            axis=1,
        )
    return _packed(symbols, lengths, orders, width)


def _dense(symbols: Symbols) -> Counts:
    """The symbols renumbered from 1 in order of size, so that they take few bits; 0 stands for the end of a text."""
    most = int(symbols.max(initial=0))
    if most > 1 << 21:
        return np.unique(symbols, return_inverse=True)[1] + 1
    seen = np.zeros(most + 1, dtype=np.int64)
    seen[symbols] = 1
    return np.cumsum(seen)[symbols]


def _packed(symbols: Counts, lengths: Counts, orders: int, width: int) -> Counts:
    """The matches by runs of equal n-grams. Even sequences are hypotheses, odd ones references."""
    owner = np.repeat(np.arange(len(lengths)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(symbols))  # symbols to the end, this one included
    padded = np.concatenate([symbols, np.zeros(orders, dtype=np.int64)])
    keys = owner >> 1
    for n in range(orders):
        keys = (keys << width) | np.where(left > n, padded[n : n + len(symbols)], 0)
    keys = np.sort((keys << 1) | (owner & 1))
    reference = np.concatenate([[0], np.cumsum(keys & 1)])
    keys >>= 1
    found = np.zeros((orders, len(lengths) // 2), dtype=np.int64)
    for n in range(orders, 0, -1):
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else keys
        runs = keys[first]
        ends = np.append(first[1:], len(keys))
        theirs = reference[ends] - reference[first]
        shared = np.minimum(theirs, ends - first - theirs)
        shared[(runs & ((1 << width) - 1)) == 0] = 0  # cut off by the end of the text
        found[n - 1] = np.bincount(runs >> (width * n), weights=shared, minlength=found.shape[1])
        keys >>= width
    return found


def _counted(hypotheses: Symbols, references: Symbols, orders: int) -> Counts:
    """The same for one pair with more distinct symbols than fit, one n at a time."""
    mine, theirs = hypotheses.tolist(), references.tolist()
    found = np.zeros((orders, 1), dtype=np.int64)
    for n in range(1, orders + 1):
        counts = Counter(zip(*(mine[i:] for i in range(n)), strict=False))
        other = Counter(zip(*(theirs[i:] for i in range(n)), strict=False))
        found[n - 1] = sum(min(count, other[gram]) for gram, count in counts.items() if gram in other)
    return found
