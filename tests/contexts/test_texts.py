"""`none`, `pr` and `issue`: what people wrote about the change."""

from __future__ import annotations

from reviewgauge.core.protocols import Context
from reviewgauge.core.records import Change, Issue
from reviewgauge.core.specs import load

CHANGE = Change(
    repo="o/r",
    title="Add b ",
    description="because",
    issues=(Issue(number=7, title="b is missing", body="Please."), Issue(number=8), Issue(number=9, body="Only this")),
)


def said(spec: str, change: Change = CHANGE) -> list[tuple[str, str]]:
    return [(one.name, one.text) for one in load(Context, spec).excerpts(change, change)]


def test_what_people_wrote() -> None:
    assert said("none") == []
    assert said("pr") == [("the pull request", "Add b\n\nbecause")]
    assert said("issue") == [("issue #7", "b is missing\n\nPlease."), ("issue #9", "Only this")]


def test_nothing_was_written() -> None:
    bare = Change(repo="o/r", title=" ")
    assert said("pr", bare) == said("issue", bare) == []
    assert said("pr", bare.model_copy(update={"description": "x\n"})) == [("the pull request", "x")]
