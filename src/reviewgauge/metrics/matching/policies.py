"""Policies: which comment is credited for which finding, given the strength of every pair.

All take `strength` (comments x findings; 0 where a pair is not admissible) and return the credited
(comment, finding) pairs. `optimal` and `strongest_first` are one-to-one, `any_hit` is many-to-many. The two published
greedy orders need more than a matrix and live in `_published.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reviewgauge.judges.pairs.assignment import assign as optimal

Matrix = np.ndarray[Any, np.dtype[np.float64]]
Credits = Sequence[tuple[int, int]]

__all__ = ["Credits", "Matrix", "any_hit", "optimal", "strongest_first"]


def strongest_first(strength: Matrix) -> Credits:
    """One-to-one, taking the strongest free pair again and again; ties in the order of the rows and columns."""
    credited: list[tuple[int, int]] = []
    order = np.argsort(-strength, axis=None, kind="stable")
    comments: set[int] = set()
    findings: set[int] = set()
    for flat in order:
        c, g = divmod(int(flat), strength.shape[1])
        if strength[c, g] <= 0:
            break
        if c not in comments and g not in findings:
            comments.add(c)
            findings.add(g)
            credited.append((c, g))
    return credited


def any_hit(strength: Matrix) -> Credits:
    """Many-to-many: one comment may hit several findings.

    Comments are taken strongest first, and are credited for every finding that no comment before them hit: a comment
    that adds no finding is a duplicate. So repeating oneself gains nothing here either.
    """
    credited: list[tuple[int, int]] = []
    found: set[int] = set()
    if not strength.size:
        return credited
    for c in np.argsort(-strength.max(axis=1), kind="stable"):
        new = [int(g) for g in np.flatnonzero(strength[c] > 0) if int(g) not in found]
        found.update(new)
        credited.extend((int(c), g) for g in new)
    return credited
