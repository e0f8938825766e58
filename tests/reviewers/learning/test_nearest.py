"""What the retrieval reviewers have in common, on each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Case, Change, ChangedFile, Span, Task
from reviewgauge.core.results import Failed
from reviewgauge.core.specs import load, signature
from reviewgauge.reviewers.learning.nearest import Nearest
from training_cases import SUBJECTS, change, hunk, training

pytest.importorskip("bm25s")

REVIEWERS = ["bm25_knn", "comment_finder", "comment_finder(variant='published')"]


def taught(spec: str, cases: list[Case] | None = None) -> Nearest:
    reviewer = load(Reviewer, spec)
    assert isinstance(reviewer, Nearest)
    return reviewer.fit(cases or training())


@pytest.fixture(params=REVIEWERS)
def spec(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_comment_on_the_closest_change_is_repeated_at_the_focus(spec: str) -> None:
    reviewer = taught(spec)
    for subject in SUBJECTS:
        (comment,) = reviewer.review(change(subject, "new", extra="  # new")).comments
        assert comment.body == f"Close the {subject} afterwards."
        assert comment.span == Span(path="a.py", start=2)
        assert comment.extra["said of"] == subject


def test_the_change_under_review_never_answers_for_itself(spec: str) -> None:
    reviewer = taught(spec)
    under_its_id = change("cursor", "cursor", extra="  # new")
    under_another = change("cursor", "new")
    for asked in (under_its_id, under_another):
        assert "cursor" not in {comment.extra["said of"] for comment in reviewer.review(asked).comments}


def test_one_comment_a_hunk_the_closest_first_and_none_twice(spec: str) -> None:
    files = tuple(
        ChangedFile(path=f"{n}.py", patch=hunk(subject, extra))
        for n, (subject, extra) in enumerate([("canvas", "; x = y"), ("socket", "  # new"), ("canvas", "; q")])
    )
    wide = Change(id="new", repo="o/r", files=files)
    assert {c.body for c in taught(spec).review(wide).comments} == {
        "Close the canvas afterwards.",
        "Close the socket afterwards.",
    }
    reviewer = replace(load(Reviewer, spec), most=1)  # type: ignore[call-arg]
    (comment,) = reviewer.fit(training()).review(wide).comments
    assert comment.span is not None


def test_assess_repeats_the_verdict(spec: str) -> None:
    reviewer = taught(spec, training(Task.ASSESS))
    for subject, verdict in (("socket", True), ("cursor", False), ("parser", True), ("canvas", False)):
        review = reviewer.review(change(subject, "new", Task.ASSESS, extra="  # new"))
        assert (review.verdict, review.comments) == (verdict, ())
    with pytest.raises(Failed, match="no training example with a verdict"):
        taught(spec).review(change("socket", "new", Task.ASSESS))


def test_what_it_cannot_do_is_a_failure(spec: str) -> None:
    reviewer = taught(spec)
    with pytest.raises(Failed, match="ranks no lines"):
        reviewer.review(change("socket", "new", Task.LOCATE))
    with pytest.raises(Failed, match="no hunk of text"):
        reviewer.review(Change(id="new", repo="o/r", files=(ChangedFile(path="a.png", binary=True),)))
    with pytest.raises(Failed, match="needs the code"):
        reviewer.review(Change(id="new", repo="o/r"))
    notes = reviewer.prepare([change("socket", "new", Task.LOCATE)])
    assert [drop.item for drop in notes] == ["4 examples", "1 change"]


def test_it_must_be_taught(spec: str) -> None:
    with pytest.raises(UserError, match="--train DATASET"):
        load(Reviewer, spec).prepare([change("socket", "new")])


def test_what_it_learnt_is_pinned_and_no_part_of_its_spec(spec: str) -> None:
    reviewer = taught(spec)
    assert signature(reviewer) == signature(load(Reviewer, spec))
    assert reviewer.pins()["examples"] == "4"
    assert reviewer.pins() == taught(spec).pins() != taught(spec, training()[:3]).pins()


@pytest.mark.parametrize(
    "bad", ["bm25_knn(most=0)", "bm25_knn(k1=-1.0)", "bm25_knn(b=2.0)", "comment_finder(candidates=0)"]
)
def test_bad_parameters(bad: str) -> None:
    with pytest.raises(UserError, match=r"must"):
        load(Reviewer, bad)
