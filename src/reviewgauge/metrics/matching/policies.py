"""Policies: which comment is credited for which finding, given the strength of every pair.

All take `strength` (comments x findings; 0 where a pair is not admissible) and return the credited (comment, finding)
pairs. `assign` (the optimal one) and `strongest_first` are one-to-one, `any_hit` is many-to-many. `aacr` and `martian`
are published matchers with their quirks, so that their figures can be told from ours: AACR-Bench
`evaluator_runner/core/evaluator.py` (commit 540dd9b, January 2026), `aacr_evaluation` its successor
`evaluation/judge.py` (later in 2026), and Martian's code-review-benchmark
`offline/code_review_benchmark/step3_judge_comments.py` (commit 012d682), written anew from their behaviour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from reviewgauge.core.records import Comment

Matrix = np.ndarray[Any, np.dtype[np.float64]]
Credits = Sequence[tuple[int, int]]


def assign(probabilities: Matrix) -> list[tuple[int, int]]:
    """(row, column) pairs, at most one per row and per column, with the largest sum of probabilities.

    `probabilities` has one row per comment and one column per reference; NaN is a pair that nobody judged and is
    never assigned, nor is a pair of probability 0. Kuhn-Munkres by `scipy.optimize.linear_sum_assignment`.
    """
    if probabilities.size == 0:
        return []
    from scipy.optimize import linear_sum_assignment

    known = np.nan_to_num(probabilities, nan=0.0)
    rows, columns = linear_sum_assignment(known, maximize=True)
    return [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if known[r, c] > 0]


def golden_scores(probabilities: Matrix, penalty: float) -> Matrix:
    """The probability that each reference was raised, once comments are shared out: one number per column.

    A reference that is assigned its best comment keeps that probability. One that loses its best comment to another
    reference falls below its own maximum: to that maximum minus `penalty`, or to what it was assigned if that is
    more. It does not fall to 0, because one comment can raise two findings. `penalty` is in units of probability.
    """
    scores = assigned_scores(probabilities)
    if probabilities.size == 0:
        return scores
    best = np.nan_to_num(probabilities, nan=0.0).max(axis=0)
    return np.asarray(np.maximum(scores, np.where(scores < best, best - penalty, best)), dtype=float)


def assigned_scores(probabilities: Matrix) -> Matrix:
    """The probability of each reference's assigned comment, 0 without one: one number per column."""
    scores = np.zeros(probabilities.shape[1])
    for row, column in assign(probabilities):
        scores[column] = probabilities[row, column]
    return scores


def shared_out(probabilities: Matrix) -> Matrix:
    """The probability of each comment's assigned reference, 0 without one: one number per row."""
    return assigned_scores(probabilities.T)


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


class Published(NamedTuple):
    """The result of a published matcher.

    `seen` are comments that matched at some time and lost their finding again; `line_hits` is AACR's line count.
    """

    credits: Credits
    seen: frozenset[int]
    line_hits: int


def _lines(comment: Comment) -> tuple[int, int] | None:
    """The lines as the published files have them, a reversed range included."""
    claimed, span = comment.claimed, comment.span
    if claimed is not None and claimed.start is not None and claimed.end is not None:
        return claimed.start, claimed.end
    if span is not None and span.start is not None and span.end is not None:
        return span.start, span.end
    return None


def _located(comment: Comment, reference: Comment, tolerance: int, *, turned: bool = False) -> bool:
    """AACR's rule: what is missing cannot contradict. `turned` puts reversed ranges right."""
    if comment.span is None or reference.span is None:
        return True
    if comment.span.path != reference.span.path or comment.span.side != reference.span.side:
        return False
    here, there = _lines(comment), _lines(reference)
    if here is None or there is None:
        return True
    if turned:
        here, there = (min(here), max(here)), (min(there), max(there))
    if not (here[0] > there[1] or here[1] < there[0]):
        return True
    return min(abs(here[0] - there[1]), abs(here[1] - there[0])) <= tolerance


def aacr(
    same: Matrix | None, comments: Sequence[Comment], references: Sequence[Comment], tolerance: int, *, ids: bool
) -> Published:
    """First come, first served: comments in their order, references in theirs, location before meaning.

    `ids=False` is the evaluator on the published files: their comments have no id, so every reference is known as
    "no id" and at most one is ever matched in a change. A comment takes *every* reference at its place out of the
    line count, though it counts as one line match. Its tag parser reads an absent side as "", which equals no side:
    such a comment never matches. `same=None` switches meaning off, as the evaluator can: then line matches are the
    credits.
    """
    credits: list[tuple[int, int]] = []
    taken_lines: set[int | None] = set()
    taken: set[int | None] = set()
    line_hits = 0
    for c, comment in enumerate(comments):
        counted = False
        sideless = comment.claimed is not None and comment.claimed.side is None
        for r, reference in enumerate(references):
            if not _located(comment, reference, tolerance) or (sideless and comment.span and reference.span):
                continue
            key = r if ids else None
            if key not in taken_lines:
                taken_lines.add(key)
                if not counted and same is None:
                    credits.append((c, r))
                line_hits += not counted
                counted = True
            if same is not None and key not in taken and same[c, r] > 0:
                taken.add(key)
                credits.append((c, r))
                break
    return Published(credits, frozenset(), line_hits)


def aacr_evaluation(
    same: Matrix | None, comments: Sequence[Comment], references: Sequence[Comment], tolerance: int
) -> Published:
    """One-to-one, first come, first served: references in their order, comments in theirs, location before meaning.

    A comment is matched once by lines and once by meaning. `same=None`: line matches are the credits.
    """
    lines: dict[int, int] = {}  # comment -> the reference that it matches by lines
    meant: dict[int, int] = {}
    for r, reference in enumerate(references):
        near = [c for c, comment in enumerate(comments) if _located(comment, reference, tolerance, turned=True)]
        found = next((c for c in near if same is not None and c not in meant and same[c, r] > 0), None)
        looked_at = near if found is None else near[: near.index(found) + 1]
        if (first := next((c for c in looked_at if c not in lines), None)) is not None:
            lines[first] = r
        if found is not None:
            meant[found] = r
    return Published([*(lines if same is None else meant).items()], frozenset(), len(lines))


def martian(same: Matrix) -> Published:
    """For each golden comment, the most confident candidate; a candidate may be credited for several goldens.

    A candidate that held a golden for a while and lost it to a more confident one is neither a true nor a false
    positive.
    """
    credits: list[tuple[int, int]] = []
    seen: set[int] = set()
    for g in range(same.shape[1]):
        best, holder = 0.0, -1
        for c in range(same.shape[0]):
            if same[c, g] > best:
                best, holder = float(same[c, g]), c
                seen.add(c)
        if holder >= 0:
            credits.append((holder, g))
    return Published(credits, frozenset(seen - {c for c, _ in credits}), 0)
