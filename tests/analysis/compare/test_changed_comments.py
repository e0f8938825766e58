"""A comment is new where no attempt of the other says the same thing or stands in its place."""

from __future__ import annotations

import pytest

from analysis_toys import BENCHMARK, Mean
from reviewgauge.analysis.compare.changed_comments import changed_comments
from reviewgauge.core.records import Case, Change, Comment, Review, Side, Span
from reviewgauge.core.results import CommentOutcome, CommentState, GroupOutcome, Matching, Outcome, Score
from reviewgauge.engine.run.scored_run import ScoredRun

LEAK = Comment(id="r", body="the handle leaks", span=Span(path="a.py", start=9))
Said = dict[str, list[list[Comment]]]  # the comments of each attempt of a system


def said(body: str, line: int = 0, path: str = "a.py", side: Side = Side.NEW) -> Comment:
    return Comment(id=f"{body} {line}", body=body, span=Span(path=path, start=line or None, side=side))


def scored(reviews: Said, states: dict[str, CommentState]) -> ScoredRun:
    """One change; a comment that says `leak` hits the finding, any other is what `states` says, else false."""
    case = Case(id="c", change=Change(repo="shop"), references=(LEAK,))
    scores, outcomes = [], []
    for system, attempts in reviews.items():
        for attempt, comments in enumerate(attempts, 1):
            hits = tuple(one.id for one in comments if "leak" in one.body)
            counted = tuple(
                CommentOutcome(
                    comment=one.id,
                    state=CommentState.MATCHED if one.id in hits else states.get(one.body, CommentState.FALSE),
                )
                for one in comments
            )
            group = GroupOutcome(group="r", members=("r",), hit=bool(hits), comments=hits)
            matching = Matching(policy="line", comments=counted, groups=(group,))
            at = {"case": "c", "system": system, "attempt": attempt}
            scores.append(Score(**at, metric="m", benchmark=BENCHMARK, parts={}, matching=matching))
            review = Review(**at, comments=tuple(comments))
            outcomes.append(Outcome(**at, review=review))
    return ScoredRun(Mean(), [case], scores, outcomes=outcomes)


@pytest.mark.parametrize(("new", "old", "gained", "lost"), [
    ([[said("odd name", 3)]], [[]], ["odd name"], []),
    ([[said("odd name", 3)]], [[said("odd  name", 80)]], [], []),  # the same words
    ([[said("odd name", 3)]], [[said("call it otherwise", 6)]], [], []),  # the same place
    ([[said("odd name", 3)]], [[said("call it otherwise", 7)]], ["odd name"], ["call it otherwise"]),
    ([[said("odd", 3)]], [[said("even", 3, "b.py")]], ["odd"], ["even"]),
    ([[said("odd", 3)]], [[said("even", 3, side=Side.OLD)]], ["odd"], ["even"]),
    ([[said("odd")]], [[said("even")]], ["odd"], ["even"]),  # about the file: no place to tell by
    ([[said("odd", 3)]], [[], [said("even", 3)]], [], []),  # some attempt of the other makes it
    ([[], [said("odd", 3)]], [[]], [], []),  # only the first attempt is looked at
    ([[said("dup", 3)]], [[]], [], []),  # repeats a comment that hits
    ([[said("leak", 9)]], [[said("a leak", 9)]], [], []),  # both hit the finding
])  # fmt: skip
def test_comments_beside_the_findings(
    new: list[list[Comment]], old: list[list[Comment]], gained: list[str], lost: list[str]
) -> None:
    run = scored({"new": new, "old": old}, {"dup": CommentState.DUPLICATE})
    found = changed_comments(run, ["new", "old"], {"c"})
    assert [one.text for one in found["comments_gained"]] == gained
    assert [one.text for one in found["comments_lost"]] == lost
    assert not found["gained"]
    assert not found["lost"]


def test_a_finding_goes_with_the_words_that_hit_it_in_most_attempts() -> None:
    run = scored({"new": [[said("odd", 3)]] * 3, "old": [[], [said("a leak " + "x" * 200, 9)], [said("leak", 9)]]}, {})
    (lost,) = changed_comments(run, ["new", "old"], {"c"})["lost"]
    assert (lost.place, lost.text) == ("a.py:9", "the handle leaks")
    assert lost.comment.startswith("a leak xx")
    assert len(lost.comment) == 160


def test_changes_that_one_of_them_was_not_scored_on_are_left_out() -> None:
    run = scored({"new": [[said("odd", 3)]]}, {})
    assert not any(changed_comments(run, ["new", "old"], {"c"}).values())
    assert not any(changed_comments(run, ["new", "old"], set()).values())
