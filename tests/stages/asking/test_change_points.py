"""When several lists of change-points are the same, and how it is said that they are not."""

from __future__ import annotations

import pytest

from reviewgauge.stages.asking.change_points import COUNTS, KINDS, Agreed, ChangePoint, Disagreed, agreement


def point(kind: str = "F.2", resolved: str = "C2", words: str = "the loop") -> ChangePoint:
    return ChangePoint(point=words, type=kind, mention="T1", introduced="C1", resolved=resolved, explanation="so")


A, B, OTHER_COMMIT = point(), point("F.4"), point(resolved="C3")


@pytest.mark.parametrize(("answers", "reason", "detail"), [
    ([[A], [], [A]], COUNTS, "request 1: F.2 resolved by C2; request 2: none; request 3: F.2 resolved by C2"),
    ([[A], [B]], KINDS, "request 1: F.2 resolved by C2; request 2: F.4 resolved by C2"),
    ([[OTHER_COMMIT], [A]], KINDS, "request 1: F.2 resolved by C3; request 2: F.2 resolved by C2"),
    ([[A, B], [A, A]], KINDS,
        "request 1: F.2 resolved by C2, F.4 resolved by C2; request 2: F.2 resolved by C2, F.2 resolved by C2"),
])  # fmt: skip
def test_what_differs_is_named(answers: list[list[ChangePoint]], reason: str, detail: str) -> None:
    assert agreement(answers) == Disagreed(reason, detail)


def test_the_first_request_is_kept_with_the_words_of_the_others() -> None:
    answers = [[A, point("F.4", words="second")], [point("F.4", words="third"), point(words="third loop")]]
    assert agreement(answers) == Agreed(answers[0], [["third loop"], ["third"]])
    assert agreement([[], [], []]) == Agreed([], [])
