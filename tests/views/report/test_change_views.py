from __future__ import annotations

from collections import Counter

import pytest

from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.results import (
    CommentOutcome,
    CommentState,
    Failure,
    FailureKind,
    GroupOutcome,
    Matching,
    Outcome,
    Score,
)
from reviewgauge.views.report.change_views import ChangeView, view_changes
from reviewgauge.views.report.report import ReportData


def views(data: ReportData) -> list[ChangeView]:
    systems = [s.system for s in data.leaderboards[0].systems]
    return list(view_changes(data.cases, data.outcomes, data.scores, systems, data.leaderboards[0].metric))


def test_every_comment_and_finding_is_shown_once(small: ReportData) -> None:
    shown = views(small)
    said = Counter((o.case, o.system, c.id) for o in small.outcomes if o.review for c in o.review.comments)
    assert said == Counter(
        (v.case.id, c.system, m.comment.id) for v in shown for c in v.columns for m in c.said if m.comment
    )
    known = Counter((case.id, r.id) for case in small.cases for r in case.references)
    assert known == Counter((v.case.id, row[1]) for v in shown for g in v.findings for row in g.members)


@pytest.mark.slow
def test_anchors_are_unique(big: ReportData) -> None:
    anchors = []
    for view in views(big):
        anchors += [view.anchor, *(row[0] for g in view.findings for row in g.members)]
        anchors += [m.anchor for g in view.findings for m in g.missed]
        for column in view.columns:
            anchors += [column.anchor, *(m.anchor for m in column.said)]
    assert len(anchors) == len(set(anchors))


def test_hits_and_misses_add_up_for_each_scored_review(small: ReportData) -> None:
    for view in views(small):
        scored = {s.system for s in small.scores if s.case == view.case.id and s.matching}
        for one in view.findings:
            assert {*(name for name, _ in one.hit), *(m.system for m in one.missed)} == scored
            assert len(one.hit) + len(one.missed) == len(scored)


def test_ids_that_look_alike_get_their_own_anchor() -> None:
    cases = [Case(id=i, change=Change(repo="r")) for i in ("a b", "a-b", "a/b", "☃")]
    anchors = [v.anchor for v in view_changes(cases, [], [], [], "m")]
    assert anchors == ["case-a-b", "case-a-b~2", "case-a-b~3", "case-x"]


def test_a_failure_is_shown_as_such_and_unscored_is_not_false() -> None:
    case = Case(id="k", change=Change(repo="r"), references=(Comment(id="g", body="b"),))
    broken = Outcome(case="k", system="a", failure=Failure(kind=FailureKind.REFUSAL, message="no"))
    review = Review(case="k", system="b", comments=(Comment(id="c", body="x"),))
    (view,) = view_changes([case], [broken, Outcome(case="k", system="b", review=review)], [], ["a", "b"], "m")
    first, second = view.columns
    assert "refusal" in first.trouble
    assert [c.state for c in second.said] == ["unscored"]
    assert second.note == "Not scored."
    assert view.findings[0].missed == []


def test_one_comment_may_stand_for_several_findings() -> None:
    references = (Comment(id="g1", body="b"), Comment(id="g2", body="b"))
    case = Case(id="k", change=Change(repo="r"), references=references)
    review = Review(case="k", system="a", comments=(Comment(id="c", body="x"),))
    matching = Matching(
        policy="any",
        comments=(CommentOutcome(comment="c", state=CommentState.MATCHED, group="g1"),),
        groups=tuple(GroupOutcome(group=g, members=(g,), hit=True, comments=("c",)) for g in ("g1", "g2")),
    )
    score = Score(case="k", system="a", metric="m", benchmark="b", matching=matching)
    (view,) = view_changes([case], [Outcome(case="k", system="a", review=review)], [score], ["a"], "m")
    assert [name for _, name in view.columns[0].said[0].links] == ["g1", "g2"]


def test_a_comment_of_which_several_points_were_counted_stands_once_for_each() -> None:
    """As `points` counts them: `report#1` and `report#2` are points of the comment `report`."""
    case = Case(id="k", change=Change(repo="r"), references=(Comment(id="g", body="b"),))
    review = Review(case="k", system="a", comments=(Comment(id="report", body="x"), Comment(id="praise", body="y")))
    hit, miss = CommentState.MATCHED, CommentState.FALSE
    matching = Matching(
        policy="points",
        comments=(
            CommentOutcome(comment="report#1", state=hit, group="g", reason="F.2 Logic"),
            CommentOutcome(comment="report#2", state=miss, reason="E.2 Visual Representation"),
        ),
        groups=(GroupOutcome(group="g", members=("g",), hit=True, comments=("report#1",)),),
    )
    score = Score(case="k", system="a", metric="m", benchmark="b", parts={"right": 1.0}, matching=matching)
    outcome = Outcome(case="k", system="a", review=review)
    (view,) = view_changes([case], [outcome], [score], ["a"], "m")
    (column,) = view.columns
    assert [(c.comment.id, c.text, c.state, c.reasons) for c in column.said if c.comment] == [
        ("report#1", "x", "matched", ("F.2 Logic",)),
        ("report#2", "x", "false", ("E.2 Visual Representation",)),
        ("praise", "y", "unscored", ()),
    ]
    assert view.findings[0].hit == [("a", column.said[0].anchor)]
    assert len({c.anchor for c in column.said}) == 3
