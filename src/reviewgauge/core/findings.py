"""Findings: references joined by `same_as` are one finding, and count once."""

from __future__ import annotations

from collections.abc import Sequence

from reviewgauge.core.records import Comment


def groups_of(references: Sequence[Comment]) -> list[list[int]]:
    """Indices of the references, one list a finding, in order of first appearance.

    `same_as` may name any other phrasing, in chains or circles; ids outside `references` are ignored.
    """
    index = {reference.id: i for i, reference in enumerate(references)}
    root = list(range(len(references)))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for i, reference in enumerate(references):
        if reference.same_as in index:
            a, b = find(i), find(index[reference.same_as])
            root[max(a, b)] = min(a, b)
    members: dict[int, list[int]] = {}
    for i in range(len(references)):
        members.setdefault(find(i), []).append(i)
    return list(members.values())


def findings(references: Sequence[Comment]) -> list[tuple[Comment, ...]]:
    """The references themselves, one tuple a finding, in order of first appearance."""
    return [tuple(references[i] for i in indices) for indices in groups_of(references)]
