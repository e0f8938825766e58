from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from engine_small import make_case
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress, Reviewer
from reviewgauge.core.records import Case, Change, Review
from reviewgauge.engine.training import teach


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
