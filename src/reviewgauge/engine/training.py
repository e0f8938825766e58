"""Hands training cases to a reviewer that learns, without those that it is to review or whose answers it would know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress, Reviewer
from reviewgauge.core.records import Case
from reviewgauge.core.results import Drop
from reviewgauge.core.same_change import answer_marks, identity_marks

_ITSELF = "is under review itself: not learnt from"
_ANSWERED = "has a comment of a case under review, word for word: not learnt from"
_LOOKED_UP = "also under review: no change is reviewed with what is known about itself"


def teach(
    reviewer: Reviewer, training: Iterable[Case], cases: Sequence[Case], progress: Progress | None = None
) -> tuple[Reviewer, list[Drop]]:
    """The reviewer that has learnt from `training`, and what was left out since it is among `cases`.

    A reviewer that leaves the change under review out by itself gets that too. Raises UserError where nothing is
    left to learn from.
    """
    guard = _Guard(cases)
    itself: list[str] = []
    answered: list[str] = []

    def allowed() -> Iterator[Case]:
        seen = used = 0
        for case in training:
            seen += 1
            same = guard.same(case)
            if same:
                itself.append(case.id)
            if same and not reviewer.leaves_one_out:
                continue
            if guard.knows_answers(case, same):
                answered.append(case.id)
                continue
            used += 1
            yield case
        if seen and not used:
            raise UserError(
                f"all {seen} training cases are under review themselves, or have the answers",
                remedy="review a part of them (--stage 'systematic(every=10)'): the others are learnt from",
            )

    learnt = reviewer.fit(allowed(), progress)
    drops = [Drop(item=case, by="training", reason=_ANSWERED) for case in answered]
    if not reviewer.leaves_one_out:
        return learnt, [Drop(item=case, by="training", reason=_ITSELF) for case in itself] + drops
    count = f"{len(itself)} training case{'s' * (len(itself) != 1)}"
    return learnt, [Drop(item=count, by="training", reason=_LOOKED_UP)] * bool(itself) + drops


class _Guard:
    """What the cases under review are known by. Each question takes the time that its own case is long."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._by_mark: dict[str, int] = {}
        self._by_answer: defaultdict[str, set[int]] = defaultdict(set)
        for number, case in enumerate(cases):
            for mark in identity_marks(case.id, case.change):
                self._by_mark.setdefault(mark, number)
            for mark in answer_marks(case):
                self._by_answer[mark].add(number)

    def same(self, case: Case) -> set[int]:
        """Cases under review that are about the change of `case`: one for each mark that they share."""
        marks = identity_marks(case.id, case.change)
        return {self._by_mark[mark] for mark in marks if mark in self._by_mark}

    def knows_answers(self, case: Case, same: set[int]) -> bool:
        """Whether it has an answer that is not that of `same`, which a reviewer leaves out where it matters."""
        found = (self._by_answer.get(mark) for mark in answer_marks(case))
        return any(owners is not None and owners.isdisjoint(same) for owners in found)
