"""What was posted becomes reviews of the state that was looked at."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pull_toys import ANN, BOB, BOT, candidate, remark, thread
from pulls_in_git import FIRST, Story, on, swapped
from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import PullRequest, Remark, Revision
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages.collect_reviews import CollectReviews

OPENED = datetime(2023, 12, 31, 10, tzinfo=UTC)  # the commits of the story are of the next day
STAGE = CollectReviews(reviews_by=("helper", "bob"))


@pytest.fixture
def story(tmp_path: Path) -> Story:
    made = Story(tmp_path / "code")
    made.push({"a.py": swapped(FIRST, n13="    with open(x) as z:")})
    return made


def by_bot(name: str, line: int, hours: float = 1, body: str = "This leaks.", **more: Any) -> Any:
    said = remark(f"r{name}", BOT, body).model_copy(update={"created": OPENED + timedelta(hours=hours)})
    return thread(name, said, line=line, **more)


def submitted(name: str, by: Any, commit: str, state: str = "COMMENTED", body: str = "") -> Remark:
    return Remark(id=name, author=by, commit=commit, state=state, body=body, created=OPENED + timedelta(hours=2))


def collected(
    pull: PullRequest, folder: Path, stage: CollectReviews = STAGE
) -> tuple[list[Candidate], list[tuple[str, str]]]:
    place = BuildFolder(folder / "bench")
    try:
        made = list(stage.each(candidate(pull, head=pull.head), place))
    finally:
        place.close()
    drops = [(one.item, one.reason) for one in made if isinstance(one, Drop)]
    return [one for one in made if isinstance(one, Candidate)], drops


def with_reviews(pull: PullRequest, *reviews: Remark) -> PullRequest:
    revisions = tuple(
        one.model_copy(update={"pushed": OPENED + timedelta(minutes=30 * n)}) for n, one in enumerate(pull.revisions)
    )
    return pull.model_copy(update={"reviews": reviews, "created": OPENED, "revisions": revisions})


def test_a_comment_stands_in_the_review_of_the_state_it_was_made_on(story: Story, tmp_path: Path) -> None:
    first, last = story.heads
    pull = story.pull(by_bot("1", 13), on(12, "2"), by_bot("3", 11, hours=3, commit=last))
    (early, late), drops = collected(with_reviews(pull), tmp_path)
    assert not drops
    assert [one.id for one in (early, late)] == [f"acme/shop/pull/1@{head[:12]}" for head in (first, last)]
    assert (early.case.change.head, late.case.change.head) == (first, last)
    assert "z = open(x)" in (early.case.change.files[0].patch or "")
    assert [(one.system, [c.id for c in one.comments]) for one in early.reviews] == [
        ("helper", ["thread-1"]),
        ("bob", ["thread-2"]),
    ]
    assert [(one.system, one.case) for one in late.reviews] == [("helper", late.id)], "bob never looked at it"
    assert [one.case.facts["revision"] for one in (early, late)] == [1, 2]
    assert early.case.facts["pull"] == "acme/shop#1"


def test_each_comment_says_what_became_of_it_and_when_it_came(story: Story, tmp_path: Path) -> None:
    (early,), _ = collected(with_reviews(story.pull(by_bot("1", 13))), tmp_path)
    ((comment,),) = [one.comments for one in early.reviews]
    assert comment.extra["adoption"] == {
        "changed": True, "resolved": None, "answered": False, "thumbs_up": 0, "thumbs_down": 0, "base_changed": 0,
        "base_lines": 3,
    }  # fmt: skip
    assert (comment.extra["after_push"], comment.extra["after_open"]) == (3600, 3600)
    assert comment.span is not None and (comment.span.path, comment.span.start) == ("a.py", 13)


def test_a_look_that_found_nothing_is_an_empty_review(story: Story, tmp_path: Path) -> None:
    first, last = story.heads
    looked = submitted("9", BOT, last, body="## Summary by Helper\nNothing found.")
    (early, late), _ = collected(with_reviews(story.pull(by_bot("1", 13)), looked), tmp_path)
    assert [len(one.comments) for one in (*early.reviews, *late.reviews)] == [1, 0]
    traces = [json.loads(one.trace or "") for one in (*early.reviews, *late.reviews)]
    assert [(one["look"], one["looks"]) for one in traces] == [(1, 2), (2, 2)]
    assert first != last


def test_a_state_that_is_lost_is_no_look(story: Story, tmp_path: Path) -> None:
    """Comments a pull request are counted over the looks that are here."""
    pull = story.pull(by_bot("1", 13, commit="1" * 40), by_bot("2", 12))
    gone = Revision(head="1" * 40, pushed=OPENED)
    made = with_reviews(pull)
    (early,), drops = collected(made.model_copy(update={"revisions": (gone, *made.revisions)}), tmp_path)
    assert drops == [(f"acme/shop/pull/1@{'1' * 12}", "its commits are not at hand")]
    ((review,),) = [early.reviews]
    assert [one.id for one in review.comments] == ["thread-2"]
    told = json.loads(review.trace or "")
    assert (told["look"], told["looks"]) == (1, 1)


def test_an_answer_is_no_look(story: Story, tmp_path: Path) -> None:
    answer = submitted("9", BOB, story.heads[-1])
    approved = submitted("8", BOB, story.heads[-1], state="APPROVED")
    pull = story.pull(by_bot("1", 13))
    assert len(collected(with_reviews(pull, answer), tmp_path / "a")[0]) == 1
    (_, late), _ = collected(with_reviews(pull, approved), tmp_path / "b")
    assert [(one.system, one.comments) for one in late.reviews] == [("bob", ())]


def test_chatter_is_no_comment_but_a_look(story: Story, tmp_path: Path) -> None:
    (early,), _ = collected(with_reviews(story.pull(by_bot("1", 13, body="LGTM"))), tmp_path)
    assert [(one.system, one.comments) for one in early.reviews] == [("helper", ())]


def test_references_are_of_others_than_those_who_are_measured(story: Story, tmp_path: Path) -> None:
    other = thread("3", remark("x", BOB.model_copy(update={"login": "cy"}), "Name it."), line=11)
    (early,), _ = collected(with_reviews(story.pull(by_bot("1", 13), on(12, "2"), other)), tmp_path)
    assert [one.id for one in early.case.references] == ["thread-3"]
    assert early.case.verdict is False
    (alone,), _ = collected(with_reviews(story.pull(on(12, "2"))), tmp_path / "b")
    assert alone.case.references == () and alone.case.verdict is None


def test_ones_own_pull_request_is_not_reviewed(story: Story, tmp_path: Path) -> None:
    pull = story.pull(thread("1", remark("1", ANN), line=13))
    stage = CollectReviews(reviews_by=("ann",))
    assert collected(pull, tmp_path, stage) == ([], [("acme/shop/pull/1", "nobody of reviews_by looked at it")])


def test_a_state_whose_commits_are_gone_is_a_counted_drop(story: Story, tmp_path: Path) -> None:
    pull = with_reviews(story.pull(by_bot("1", 13), by_bot("2", 13, commit=story.heads[-1])))
    gone = pull.model_copy(update={"git": None})
    (late,), drops = collected(gone, tmp_path)
    assert late.case.change.head == pull.head, "the final state needs no commits"
    assert drops == [(f"acme/shop/pull/1@{story.heads[0][:12]}", "its commits are not at hand")]


def test_nobody_and_the_same_one_twice_are_refused() -> None:
    with pytest.raises(ValueError, match="needs logins"):
        CollectReviews()
    with pytest.raises(ValueError, match="is named twice"):
        CollectReviews(reviews_by=("Helper[bot]", "helper"))
