from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from engine_small import make_case
from reviewgauge.api.review import teach
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress, Reviewer
from reviewgauge.core.records import Case, Change, Comment, Review


@dataclass(frozen=True)
class Pupil(Reviewer):
    """Remembers the ids that it was handed."""

    learns: ClassVar[bool] = True

    heard: tuple[str, ...] = ()

    def review(self, change: Change) -> Review:
        return Review(case=change.id or "", system=self.system)

    def fit(self, cases: Iterable[Case], progress: Progress | None = None) -> Pupil:
        return replace(self, heard=tuple(case.id for case in cases))


class Lookup(Pupil):
    leaves_one_out: ClassVar[bool] = True


def cases(*numbers: int) -> list[Case]:
    return [make_case(number, diff=False) for number in numbers]


def test_no_case_under_review_is_learnt_from() -> None:
    learnt, drops = teach(Pupil(), cases(1, 2, 3, 4), cases(2, 4, 9))
    assert isinstance(learnt, Pupil)
    assert learnt.heard == ("case-001", "case-003")
    assert [(drop.item, drop.reason) for drop in drops] == [
        ("case-002", "is under review itself: not learnt from"),
        ("case-004", "is under review itself: not learnt from"),
    ]


def test_the_same_code_under_another_id_is_not_learnt_from() -> None:
    learnt, drops = teach(Pupil(), [make_case(1), make_case(2, diff=False)], [make_case(9)])
    assert isinstance(learnt, Pupil)
    assert learnt.heard == ("case-002",)
    assert [drop.item for drop in drops] == ["case-001"]


def test_a_reviewer_that_leaves_one_out_gets_all_and_it_is_said() -> None:
    learnt, drops = teach(Lookup(), cases(1, 2, 3), cases(2, 3))
    assert isinstance(learnt, Pupil)
    assert learnt.heard == ("case-001", "case-002", "case-003")
    (drop,) = drops
    assert drop.item == "2 training cases"
    assert teach(Lookup(), cases(1), cases(2))[1] == []


def test_nothing_left_to_learn_from() -> None:
    with pytest.raises(UserError, match=r"all 2 training cases are under review.*systematic"):
        teach(Pupil(), cases(1, 2), cases(1, 2))


ANSWER = "This divides by zero when the basket is empty; return 0 in that case."


def answering(case: Case, body: str = ANSWER) -> Case:
    return case.model_copy(update={"references": (Comment(id="c", body=body),)})


@pytest.mark.parametrize("reviewer", [Pupil(), Lookup()], ids=["one that learns", "one that looks up"])
def test_a_copy_of_the_answers_under_another_change_is_not_learnt_from(reviewer: Pupil) -> None:
    asked, other, copy, honest = cases(1, 2, 3, 4)
    benchmark = [answering(asked), answering(other, "Another finding, of which nothing is said anywhere else at all.")]
    learnt, drops = teach(reviewer, [answering(copy, ANSWER.upper()), honest], benchmark)
    assert isinstance(learnt, Pupil)
    assert learnt.heard == ("case-004",)
    reason = "has a comment of a case under review, word for word: not learnt from"
    assert [(drop.item, drop.reason) for drop in drops] == [("case-003", reason)]


def test_answers_of_one_case_under_the_name_of_another_are_not_looked_up() -> None:
    asked, other = answering(make_case(1, diff=False)), make_case(2, diff=False)
    learnt, drops = teach(Lookup(), [answering(other), asked], [asked, other])
    assert isinstance(learnt, Pupil)
    assert learnt.heard == (asked.id,)
    assert [drop.item for drop in drops] == ["2 training cases", other.id]


def test_what_a_benchmark_says_twice_is_looked_up() -> None:
    benchmark = [answering(case) for case in cases(1, 2)]
    learnt, _ = teach(Lookup(), benchmark, benchmark)
    assert isinstance(learnt, Pupil)
    assert learnt.heard == ("case-001", "case-002")
