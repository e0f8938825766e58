"""Phrasings joined by `same_as` are one finding, whatever way they point."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.findings import findings, groups_of
from reviewgauge.core.records import Comment


def test_phrasings_of_one_finding_are_one_group_in_order_of_first_appearance() -> None:
    links = {"a1": None, "b1": None, "a2": "a1", "b2": "b1", "a3": "a2", "c1": None}
    references = [Comment(id=name, body="b", same_as=link) for name, link in links.items()]
    assert groups_of(references) == [[0, 2, 4], [1, 3], [5]]
    assert [[member.id for member in group] for group in findings(references)] == [
        ["a1", "a2", "a3"],
        ["b1", "b2"],
        ["c1"],
    ]


@given(st.lists(st.one_of(st.none(), st.integers(0, 12)), min_size=1, max_size=10))
def test_every_reference_is_in_one_group_even_where_same_as_runs_in_circles(links: list[int | None]) -> None:
    references = [
        Comment(id=f"r{n}", body="b", same_as=None if link is None else f"r{link}") for n, link in enumerate(links)
    ]
    groups = findings(references)
    assert sorted(member.id for group in groups for member in group) == sorted(r.id for r in references)
    home = {member.id: n for n, group in enumerate(groups) for member in group}
    assert all(home[r.id] == home[r.same_as] for r in references if r.same_as in home)
    joined = sum(len(group) - 1 for group in groups)
    assert joined <= sum(r.same_as in home for r in references)  # nothing is joined that nobody joined
