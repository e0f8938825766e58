"""The overlap of people and of the reviewers that were asked to propose, on the card of a build."""

from __future__ import annotations

from reviewgauge.core.records import Case, Change, Comment
from reviewgauge.engine.build.finders import Finders


def said(name: str, by: str = "", same_as: str | None = None) -> Comment:
    extra = {"source": "generated", "proposed": True} if by else {}
    return Comment(id=name, body=name, author=by or "alice", same_as=same_as, extra=extra)


def counted(*cases: Case) -> Finders:
    found = Finders()
    for case in cases:
        found.add(case)
    return found


def test_each_source_is_counted_alone_and_together_before_merging() -> None:
    first = Case(
        id="shop#1",
        change=Change(repo="acme/shop"),
        references=(said("leak"), said("race")),
        neutral=(
            said("leak too", "gpt", same_as="leak"),
            said("leak again", "gpt", same_as="leak"),
            said("leak as well", "claude", same_as="leak"),
            said("slow", "gpt"),
        ),
    )
    second = Case(id="shop#2", change=Change(repo="acme/shop"), references=(said("typo", "claude"),))
    section = counted(first, second).section()
    assert section is not None
    assert section.columns == (
        "source", "comments", "findings", "alone", "with others", "references", "references alone",
    )  # fmt: skip
    assert section.rows == (("people", 2, 2, 1, 1, 2, 1), ("claude", 2, 2, 1, 1, 2, 1), ("gpt", 3, 2, 1, 1, 1, 0))
    assert section.figures == {
        "references that 0 reviewers proposed": 1,
        "references that 1 reviewers proposed": 1,
        "references that 2 reviewers proposed": 1,
    }


def test_a_build_that_asked_nobody_to_propose_has_no_such_section() -> None:
    assert counted(Case(id="shop#1", change=Change(repo="acme/shop"), references=(said("leak"),))).section() is None
