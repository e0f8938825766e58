"""Slices of a stored matching: parts by a property of its comments or its findings.

The same parts as those of `hits` and its own facets, so precision and recall of the slices are read by the same
`combine`. What has no value is the slice `NOT_STATED`: the slices add up to the whole.
"""

from __future__ import annotations

from collections.abc import Mapping

from reviewgauge.core.results import NOT_STATED, CommentState, Matching

Facet = dict[str, dict[str, float]]


def counted_states(matching: Matching, duplicates: str = "apart") -> frozenset[CommentState]:
    """The states of the comments that count for precision: all of them in a published variant."""
    if ":" in matching.policy:
        return frozenset(CommentState)
    apart = {CommentState.NEUTRAL} | ({CommentState.DUPLICATE} if duplicates == "apart" else set())
    return frozenset(CommentState) - apart


def comment_parts(matching: Matching, values: Mapping[str, str | None], duplicates: str = "apart") -> Facet:
    """Parts for precision, by the value of each comment (by its id)."""
    counted, published = counted_states(matching, duplicates), ":" in matching.policy
    credits: dict[str, int] = {}
    for group in matching.groups:
        for comment in group.comments:
            credits[comment] = credits.get(comment, 0) + 1
    facet: Facet = {}
    for outcome in matching.comments:
        is_counted, matched = outcome.state in counted, outcome.state is CommentState.MATCHED
        right = credits.get(outcome.comment, 0) if published else matched
        parts = {"comments": 1.0, outcome.state.value: 1.0, "right": float(right), "said": float(is_counted)}
        parts["soft_right"] = is_counted * (outcome.probability or 0.0)
        _add(facet, values.get(outcome.comment), parts)
    return facet


def finding_parts(matching: Matching, values: Mapping[str, str | None]) -> Facet:
    """Parts for recall, by the value of each finding: the first that one of its phrasings (by id) has."""
    facet: Facet = {}
    for group in matching.groups:
        parts = {"references": 1.0, "hit": float(group.hit), "missed": float(not group.hit)}
        parts |= {"soft_hit": group.probability or 0.0, "unsure": float(group.unsure)}
        _add(facet, next((value for name in group.members if (value := values.get(name)) is not None), None), parts)
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


def _add(facet: Facet, value: str | None, parts: Mapping[str, float]) -> None:
    sums = facet.setdefault(NOT_STATED if value is None else value, {})
    for name, number in parts.items():
        sums[name] = sums.get(name, 0.0) + number
