"""Answers as models write them to the two questions of `points`: read where they are unambiguous, refused where not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.metrics.matching.asking_points import Extracted, read_hits, read_points
from reviewgauge.models.answers.readers import Unreadable

LEAK = '{"comment": 1, "point": "Close the file in load()", "type": "F.3", "severity": 6}'
NAME = '{"comment": 2, "point": "Rename `x`", "type": "E.1.1", "severity": 2}'
A = Extracted(comment=1, point="Close the file in load()", type="F.3", severity=6)
B = Extracted(comment=2, point="Rename `x`", type="E.1.1", severity=2)


def listed(*entries: str) -> str:
    return '{"points": [' + ", ".join(entries) + "]}"


READABLE_POINTS = [
    (listed(LEAK), [A]),
    (listed(LEAK, NAME), [A, B]),
    (listed(), []),
    ('{"points":[]}', []),
    (f"```json\n{listed(LEAK)}\n```", [A]),
    (f"```\n{listed(LEAK)}\n```", [A]),
    (f"Here are the change-points raised by the review:\n\n{listed(LEAK, NAME)}", [A, B]),
    ('{\n  "points": [\n    ' + LEAK + ",\n    " + NAME + ",\n  ]\n}", [A, B]),
    (f"<think>Comment 1 talks about a leak. F.3 or F.4?</think>\n{listed(LEAK)}", [A]),
    (listed(LEAK.replace('"F.3"', '"F.3 Resource"')), [A]),
    (listed(LEAK.replace('"F.3"', '"F.3: Resource"')), [A]),
    (listed(LEAK.replace('"F.3"', '"f.3"')), [A]),
    (listed(LEAK.replace("6}", "6.0}")), [A]),
    (listed(LEAK.replace("6}", '6, "reason": "a handle is lost on each call"}')), [A]),
    (listed(NAME.replace('"E.1.1"', '"E.1"')), [B.model_copy(update={"type": "E.1"})]),
    (listed(NAME.replace('"E.1.1"', '"E.3"')), [B.model_copy(update={"type": "E.3"})]),
    (listed(LEAK.replace("Close the file in load()", "Close the\\n  file in load()")), [A]),
]
UNREADABLE_POINTS = [
    f"{listed(NAME)}\n\nThe first comment is praise and raises no change-point.",
    "",
    "The review raises no change-points.",
    "I'm sorry, but I can't help with that.",
    "[]",
    f"[{LEAK}]",
    "1. Close the file in load() (F.3, severity 6)\n2. Rename x (E.1.1, severity 2)",
    listed(LEAK)[:-9],
    '{"points": [' + LEAK + ", ...]}",
    '{"points": "none"}',
    '{"points": null}',
    '{"change_points": [' + LEAK + "]}",
    '{"points": ["Close the file in load()"]}',
    listed(LEAK.replace('"F.3"', '"F.7"')),
    listed(LEAK.replace('"F.3"', '"F"')),
    listed(LEAK.replace('"F.3"', '"Resource leak"')),
    listed(LEAK.replace('"F.3"', '"F.3 Check"')),
    listed(LEAK.replace('"F.3"', '"F.3/F.4"')),
    listed(LEAK.replace("6}", "11}")),
    listed(LEAK.replace("6}", "0}")),
    listed(LEAK.replace("6}", '"high"}')),
    listed(LEAK.replace("6}", "6.5}")),
    listed(LEAK.replace("6}", "true}")),
    listed(LEAK.replace('"comment": 1', '"comment": 3')),
    listed(LEAK.replace('"comment": 1', '"comment": null')),
    listed(LEAK.replace("Close the file in load()", "  ")),
    listed(LEAK.replace(', "severity": 6', "")),
    listed(LEAK, LEAK),
    f"{listed(LEAK)}\n\nWait, there is one more:\n\n{listed(LEAK, NAME)}",
    f"<think>{listed(LEAK)}",
]

K, P = ["K1", "K2"], ["P1", "P2", "P3"]
ONE = [frozenset({"P2"}), frozenset()]


def hits(first: str, second: str, *, keys: tuple[str, str] = ("K1", "K2")) -> str:
    entries = (f'{{"known": "{key}", "predictions": {who}}}' for key, who in zip(keys, (first, second), strict=True))
    return '{"hits": [' + ", ".join(entries) + "]}"


GOOD = hits('["P2"]', "[]")
READABLE_HITS = [
    (hits('["P2"]', "[]"), ONE),
    (hits("[]", "[]"), [frozenset(), frozenset()]),
    (hits('["P1", "P2"]', '["P2"]'), [frozenset({"P1", "P2"}), frozenset({"P2"})]),
    (hits('["P3","P1","P2"]', "[]"), [frozenset(P), frozenset()]),
    (hits("[]", '["P2"]', keys=("K2", "K1")), ONE),
    (f"```json\n{GOOD}\n```", ONE),
    (f"```\n{GOOD}\n```", ONE),
    (f"Here are the hits:\n{GOOD}", ONE),
    (f"<think>P2 is K1?</think>{GOOD}", ONE),
    (hits('["P2",]', "[]"), ONE),
    (GOOD.replace("}, {", "},\n  {"), ONE),
    (hits('["P2"]', '[], "why": "nobody says so"'), ONE),
    (GOOD.replace("]}]", "]},]"), ONE),
    (GOOD.replace('{"hits"', '{"reasoning": "P2 names the same leak", "hits"'), ONE),
]
UNREADABLE_HITS = [
    f"{GOOD}\nK2 is about the retry, which no prediction mentions.",
    "",
    "P2 hits K1.",
    "None of the predictions hit any known change-point.",
    "{}",
    '{"hits": []}',
    '{"hits": {}}',
    '{"hits": {"K1": ["P2"], "K2": []}}',
    '{"hits": [{"known": "K1", "predictions": ["P2"]}]}',
    hits('["P2"]', "[]", keys=("K1", "K1")),
    hits('["P2"]', "[]", keys=("K1", "K3")),
    hits('["P2"]', "[]", keys=("K1", "P1")),
    hits('["P4"]', "[]"),
    hits('["K2"]', "[]"),
    hits('["P2", "P2"]', "[]"),
    hits('"P2"', "[]"),
    hits("null", "[]"),
    hits('["P2"]', "false"),
    hits("[2]", "[]"),
    hits('["Close the file"]', "[]"),
    GOOD[:-12],
    GOOD + "\nOn reflection:\n" + hits("[]", "[]"),
    "I cannot compare these without the code.",
]


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


KEYS = st.sampled_from(["points", "hits", "known", "predictions", "comment", "point", "type", "severity"])
LEAVES = st.none() | st.booleans() | st.integers(-3, 12) | st.floats(allow_nan=False)
JSON = st.recursive(
    LEAVES | st.sampled_from([*K, *P, "F.2", "x"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner),
    max_leaves=12,
)


@given(JSON)
def test_nothing_but_the_typed_error_comes_out(value: object) -> None:
    text = json.dumps(value)
    for read in (lambda: read_points(text, 2), lambda: read_hits(text, K, P)):
        try:
            read()
        except Unreadable as error:
            assert str(error)


@given(st.lists(st.frozensets(st.sampled_from(P)), min_size=2, max_size=2))
def test_what_is_written_is_read(expected: list[frozenset[str]]) -> None:
    entries = [{"known": k, "predictions": sorted(p)} for k, p in zip(K, expected, strict=True)]
    assert read_hits(json.dumps({"hits": entries}), K, P) == expected
