"""Answers as models write them to the two questions of `points`: read where they are unambiguous, refused where not."""

from __future__ import annotations

import pytest

from reviewgauge.metrics.matching.asking_points import Extracted, read_hits, read_points
from reviewgauge.models.answers.readers import Unreadable

LEAK = '{"comment": 1, "point": "Close the file in load()", "type": "F.3", "severity": 6}'
NAME = '{"comment": 2, "point": "Rename `x`", "type": "E.1.1", "severity": 2}'
A = Extracted(comment=1, point="Close the file in load()", type="F.3", severity=6)
B = Extracted(comment=2, point="Rename `x`", type="E.1.1", severity=2)


def listed(*entries: str) -> str:
    return '{"points": [' + ", ".join(entries) + "]}"


READABLE_POINTS = [
    (listed(LEAK, NAME), [A, B]),
    (listed(), []),
    (f"```json\n{listed(LEAK)}\n```", [A]),
    (f"<think>Comment 1 talks about a leak. F.3 or F.4?</think>\n{listed(LEAK)}", [A]),
    (listed(LEAK.replace('"F.3"', '"f.3: Resource"')), [A]),
    (listed(LEAK.replace("6}", '6.0, "reason": "a handle is lost on each call"}')), [A]),
    (listed(LEAK.replace("Close the file in load()", "Close the\\n  file in load()")), [A]),
]
UNREADABLE_POINTS = [
    "The review raises no change-points.",
    listed(LEAK)[:-9], '{"points": null}',
    '{"points": ["Close the file in load()"]}',
    listed(LEAK.replace('"F.3"', '"F.7"')),
    listed(LEAK.replace('"F.3"', '"F.3 Check"')),
    listed(LEAK.replace("6}", "11}")), listed(LEAK.replace("6}", "6.5}")), listed(LEAK.replace("6}", "true}")),
    listed(LEAK.replace('"comment": 1', '"comment": 3')),
    listed(LEAK.replace("Close the file in load()", "  ")),
    listed(LEAK.replace(', "severity": 6', "")),
    listed(LEAK, LEAK),
]  # fmt: skip

K, P = ["K1", "K2"], ["P1", "P2", "P3"]
ONE = [frozenset({"P2"}), frozenset()]


def hits(first: str, second: str, *, keys: tuple[str, str] = ("K1", "K2")) -> str:
    entries = (f'{{"known": "{key}", "predictions": {who}}}' for key, who in zip(keys, (first, second), strict=True))
    return '{"hits": [' + ", ".join(entries) + "]}"


GOOD = hits('["P2"]', "[]")
READABLE_HITS = [
    (hits('["P2"]', "[]"), ONE),
    (hits('["P1", "P2"]', '["P2"]'), [frozenset({"P1", "P2"}), frozenset({"P2"})]),
    (hits("[]", '["P2"]', keys=("K2", "K1")), ONE),
    (GOOD.replace('{"hits"', '{"reasoning": "P2 names the same leak", "hits"'), ONE),
]
UNREADABLE_HITS = [
    f"{GOOD}\nK2 is about the retry, which no prediction mentions.",
    '{"hits": {"K1": ["P2"], "K2": []}}',
    '{"hits": [{"known": "K1", "predictions": ["P2"]}]}',
    hits('["P2"]', "[]", keys=("K1", "K1")),
    hits('["P2"]', "[]", keys=("K1", "K3")),
    hits('["P4"]', "[]"), hits('["P2", "P2"]', "[]"), hits("null", "[]"), hits("[2]", "[]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), READABLE_POINTS)
def test_points_that_can_be_read(text: str, expected: list[Extracted]) -> None:
    assert read_points(text, 2) == expected


@pytest.mark.parametrize("text", UNREADABLE_POINTS)
def test_points_that_cannot(text: str) -> None:
    with pytest.raises(Unreadable):
        read_points(text, 2)


@pytest.mark.parametrize(("text", "expected"), READABLE_HITS)
def test_hits_that_can_be_read(text: str, expected: list[frozenset[str]]) -> None:
    assert read_hits(text, K, P) == expected


@pytest.mark.parametrize("text", UNREADABLE_HITS)
def test_hits_that_cannot(text: str) -> None:
    with pytest.raises(Unreadable):
        read_hits(text, K, P)


def test_the_reason_says_what_to_put_right() -> None:
    with pytest.raises(Unreadable, match=r"has no entry on K2"):
        read_hits('{"hits": [{"known": "K1", "predictions": []}]}', K, P)
    with pytest.raises(Unreadable, match=r"of \"points\" must be one of E.1, E.1.1.* not 'F.7'"):
        read_points(listed(LEAK.replace('"F.3"', '"F.7"')), 2)
