"""The counts behind precision and recall, of a whole matching and by a fact of its comments or findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from reviewgauge.core.protocols import Aggregate
from reviewgauge.core.results import NOT_STATED, CommentState, GroupOutcome, Matching

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

Facet = dict[str, dict[str, float]]  # parts by the value of a fact of comments or findings; see `Metric.combine`


def add_parts(facet: dict[str, dict[str, float]], value: str | None, parts: Mapping[str, float]) -> None:
    """Add the parts to those of a value; None is what does not say."""
    sums = facet.setdefault(NOT_STATED if value is None else value, {})
    for name, number in parts.items():
        sums[name] = sums.get(name, 0.0) + number


def counted_states(matching: Matching, duplicates: str = "apart") -> frozenset[CommentState]:
    """The states of the comments that count for precision: all of them in a published variant."""
    if ":" in matching.policy:  # both published matchers divide the hits by all comments
        return frozenset(CommentState)
    apart = {CommentState.NEUTRAL} | ({CommentState.DUPLICATE} if duplicates == "apart" else set())
    return frozenset(CommentState) - apart


def comment_parts(matching: Matching, values: Mapping[str, str | None], duplicates: str = "apart") -> Facet:
    """Parts for precision, by the value of each comment (by its id)."""
    published = ":" in matching.policy
    credits = Counter(comment for group in matching.groups for comment in group.comments)
    facet: Facet = {}
    for outcome in matching.comments:
        parts = {"comments": 1.0, outcome.state.value: 1.0}
        parts |= precision_parts(matching.model_copy(update={"comments": (outcome,)}), duplicates)
        if published:
            parts |= dict.fromkeys(("right", "right_least", "right_most"), float(credits[outcome.comment]))
        add_parts(facet, values.get(outcome.comment), parts)
    return facet


def precision_parts(matching: Matching, duplicates: str) -> dict[str, float]:
    """Of the comments: how many count, how many are right, and how many if all that is unsure is wrong, or right."""
    counted = counted_states(matching, duplicates)
    said = [outcome for outcome in matching.comments if outcome.state in counted]
    spare = sum(outcome.state is CommentState.UNSURE and not outcome.probability for outcome in said)
    return {
        "said": float(len(said)),
        "right": sum(outcome.credit for outcome in said),
        "right_least": float(sum(outcome.state is CommentState.MATCHED and not outcome.unsure for outcome in said)),
        "right_most": float(sum(outcome.state in (CommentState.MATCHED, CommentState.UNSURE) for outcome in said))
        - spare,
        "said_most": float(len(said) - spare * (duplicates == "apart")),  # one finding is raised by one comment
    }


def recall_parts(groups: Sequence[GroupOutcome]) -> dict[str, float]:
    """Of the findings: how many were hit, and how many if all that is unsure is missed, or hit."""
    hit = sum(group.credit for group in groups)
    return {
        "references": float(len(groups)),
        "hit": hit,
        "missed": len(groups) - hit,
        "hit_least": float(sum(group.hit and not group.unsure for group in groups)),
        "hit_most": float(sum(group.hit or group.unsure for group in groups)),
    }


def finding_parts(matching: Matching, values: Mapping[str, str | None]) -> Facet:
    """Parts for recall, by the value of each finding: the first that one of its phrasings (by id) has."""
    facet: Facet = {}
    for group in matching.groups:
        value = next((value for name in group.members if (value := values.get(name)) is not None), None)
        add_parts(facet, value, recall_parts([group]))
    return facet


def both_parts(comments: Facet, findings: Facet) -> Facet:
    """Both under one value, so that F1 is defined too: precision of the comments, recall of the findings of a kind.

    A comment may be right about a finding of another kind, so the two numerators differ. `changes` counts 1 where the
    value occurs at all: the changes of the values do not add up to those of the whole, everything else does.
    """
    facet: Facet = {}
    for side in (comments, findings):
        for value, parts in side.items():
            facet[value] = {**facet.get(value, {"changes": 1.0}), **parts}
    return facet


def f_measure(
    aggregate: Aggregate, right: str, hit: str, *, beta: float = 1.0, said: str = "said", references: str = "references"
) -> Numbers:
    """F-beta of precision (`right` / `said`) and recall (`hit` / `references`), whose numerators may differ.

    No right comment where there was something to find is an F of 0, also for silence, whose precision is undefined.
    """
    square = beta * beta
    precision = aggregate.ratio(aggregate.total(right), aggregate.total(said))
    recall = aggregate.ratio(aggregate.total(hit), aggregate.total(references))
    harmonic = aggregate.ratio((1 + square) * precision * recall, square * precision + recall)
    nothing_right = (aggregate.total(hit) == 0) & (aggregate.total(references) > 0)
    return np.where(nothing_right, 0.0, harmonic)
