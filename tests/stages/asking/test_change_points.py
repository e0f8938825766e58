"""When several lists of change-points are the same, and the words for how they are not."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.stages.asking.change_points import (
    COUNTS,
    KINDS,
    RULES,
    Agreed,
    ChangePoint,
    Disagreed,
    Rule,
    agreement,
)

COMMITS = {"C1": "1" * 40, "C2": "2" * 40, "C3": "3" * 40}


def point(kind: str = "F.2", resolved: str = "C2", words: str = "the loop", mention: str = "T1") -> ChangePoint:
    return ChangePoint(point=words, type=kind, mention=mention, introduced="C1", resolved=resolved, explanation="so")


A, B, OTHER_COMMIT = point(), point("F.4"), point(resolved="C3")


@pytest.mark.parametrize(
    ("answers", "reason", "detail"),
    [
        ([[A], [], [A]], COUNTS, "request 2 lists 0 change-points, requests 1 and 3 list 1"),
        ([[], [A], []], COUNTS, "request 2 lists 1 change-point, requests 1 and 3 list 0"),
        (
            [[A], [A], [B]],
            KINDS,
            "request 3 lists F.4 resolved by C2 (2222222), requests 1 and 2 list F.2 resolved by C2 (2222222)",
        ),
        (
            [[OTHER_COMMIT], [A], [A]],
            KINDS,
            "request 1 lists F.2 resolved by C3 (3333333), requests 2 and 3 list F.2 resolved by C2 (2222222)",
        ),
        (
            [[A, B], [B, A], [A, A]],
            KINDS,
            "request 3 lists F.2 resolved by C2 (2222222), requests 1 and 2 list F.4 resolved by C2 (2222222)",
        ),
        (
            [[A], [], [A, B]],
            COUNTS,
            "no two requests agree; request 1: F.2 resolved by C2 (2222222); request 2: none; request 3: F.2 resolved "
            "by C2 (2222222) and F.4 resolved by C2 (2222222)",
        ),
        (
            [[A], [A], [A], [], [B]],
            COUNTS,
            "request 4 lists 0 change-points, requests 1, 2 and 3 list 1; request 5 lists F.4 resolved by C2 (2222222)"
            ", requests 1, 2 and 3 list F.2 resolved by C2 (2222222)",
        ),
    ],
)
def test_what_differs_is_named(answers: list[list[ChangePoint]], reason: str, detail: str) -> None:
    assert agreement(answers, "count+type+commit", COMMITS) == Disagreed(reason, detail)


@pytest.mark.parametrize(
    ("answers", "rules"),
    [
        ([[A], [point(words="in other words")], [A]], {"count+type+commit", "count+type", "count", "majority"}),
        ([[A, B], [B, A], [A, B]], {"count+type+commit", "count+type", "count", "majority"}),
        ([[A], [OTHER_COMMIT], [A]], {"count+type", "count", "majority"}),
        ([[A], [OTHER_COMMIT], [point(resolved="C1")]], {"count+type", "count"}),
        ([[A], [B], [A]], {"count", "majority"}),
        ([[A], [B], [OTHER_COMMIT]], {"count"}),
        ([[A], [], [A]], {"majority"}),
        ([[], [], []], {"count+type+commit", "count+type", "count", "majority"}),
        ([[A], [A, B], []], set()),
        ([[A], []], set()),
    ],
)
def test_what_each_rule_takes(answers: list[list[ChangePoint]], rules: set[str]) -> None:
    assert {rule for rule in RULES if isinstance(agreement(answers, rule, COMMITS), Agreed)} == rules


def test_the_first_request_that_agrees_is_kept_with_the_words_of_the_others() -> None:
    answers = [[B], [A, point("F.4", words="second")], [point("F.4", words="third"), point(words="third loop")]]
    found = agreement(answers, "majority", COMMITS)
    assert found == Agreed(answers[1], [["third loop"], ["third"]])


POINTS = st.builds(point, st.sampled_from(["F.2", "F.4"]), st.sampled_from(["C2", "C3"]))
ANSWERS = st.lists(st.lists(POINTS, max_size=3), min_size=1, max_size=4)


@given(ANSWERS, st.sampled_from(RULES), st.randoms())
def test_neither_the_order_of_requests_nor_that_of_points_decides(
    answers: list[list[ChangePoint]], rule: Rule, chance: object
) -> None:
    found = agreement(answers, rule, COMMITS)
    shuffled = [sorted(points, key=lambda _: chance.random()) for points in answers]  # type: ignore[attr-defined]
    again = agreement(shuffled[::-1], rule, COMMITS)
    assert type(found) is type(again)
    if isinstance(found, Agreed) and isinstance(again, Agreed) and rule in ("count+type+commit", "majority"):
        kinds = [Counter((one.type, one.resolved) for one in each.points) for each in (found, again)]
        assert kinds[0] == kinds[1]
    if isinstance(found, Disagreed):
        assert found.detail
        assert found.reason in (COUNTS, KINDS)


@given(ANSWERS)
def test_stricter_rules_take_less(answers: list[list[ChangePoint]]) -> None:
    strict, types, count = (
        isinstance(agreement(answers, rule, COMMITS), Agreed) for rule in ("count+type+commit", "count+type", "count")
    )
    assert strict <= types <= count
    assert strict <= isinstance(agreement(answers, "majority", COMMITS), Agreed)
