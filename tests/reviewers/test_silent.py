from __future__ import annotations

from reviewgauge.core.records import Change
from reviewgauge.reviewers.silent import Silent


def test_it_says_nothing_and_needs_no_code() -> None:
    review = Silent().review(Change(id="c1", repo="r"))
    assert (review.case, review.system, review.comments) == ("c1", "silent", ())
    assert not Silent().needs_diff
