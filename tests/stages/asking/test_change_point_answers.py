"""Lists of change-points as models write them: read, or refused with a reason that a model can act on."""

from __future__ import annotations

import json

import pytest

from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.stages.asking.change_points import LEAVES, ChangePoint, read_change_points

USUAL = {
    "point": "The loop never ends", "type": "F.2", "mention": "T1", "introduced": "C1", "resolved": "C2", "code": None,
    "explanation": "it iterates",
}  # fmt: skip
MENTIONS, COMMITS = ["T1", "R1"], ["C1", "C2", "C3"]


def read(text: str) -> list[ChangePoint]:
    return read_change_points(text, MENTIONS, COMMITS)


def listed(*entries: dict[str, object]) -> str:
    return json.dumps({"points": [{**USUAL, **entry} for entry in entries]})


def test_the_leaves_of_the_taxonomy_are_the_papers_eleven() -> None:
    assert len(LEAVES) == 11


def test_readable() -> None:
    assert read('{"points": []}') == []
    assert read(f"<think>none?</think>Here:\n```json\n{listed({})}\n```") == [
        ChangePoint(point="The loop never ends", type="F.2", mention="T1", introduced="C1", resolved="C2",
            explanation="it iterates"),
    ]  # fmt: skip
    (found,) = read(
        listed({"type": "E.3.2 Solution Approach", "mention": "r1", "code": "  while x:  ", "point": "a\n b"})
    )
    assert (found.type, found.mention, found.code, found.point) == ("E.3.2", "R1", "while x:", "a b")
    assert len(read(listed({}, {"type": "F.4"}))) == 2
    assert read(listed({"code": " "}))[0].code is None
    without = {key: value for key, value in USUAL.items() if key != "code"}
    assert read(json.dumps({"points": [without]}))[0].code is None


@pytest.mark.parametrize(("text", "reason"), [
    ("There are no change-points.", "no JSON object"),
    ('{"points": ["x"]}', 'entry 1 of "points" must be an object'),
    (listed({"point": " "}), '"point" of entry 1 of "points" holds no text'),
    (listed({"explanation": None}), '"explanation" of entry 1 of "points" must be text'),
    (listed({}, {"type": "E.1"}), '"type" of entry 2 of "points" must be one of E.1.1'),
    (listed({"type": "F.2 Check"}), '"type" of entry 1 of "points" must be one of E.1.1'),
    (listed({"mention": "T2"}), "\"mention\" of point 1 is 'T2', and there are T1, R1"),
    (listed({"introduced": "C0"}), "and there are C1, C2, C3"),
    (listed({"resolved": "abc1234"}), "\"resolved\" of point 1 is 'ABC1234'"),
    (listed({"resolved": "C1"}), "came with C1 and is resolved by C1, which is not a later commit"),
    (listed({"introduced": "C3", "resolved": "C2"}), "not a later commit"),
    (listed({"code": 3}), '"code" of entry 1 of "points" must be text, not 3'),
    (listed({}, {}), "the same point twice"),
])  # fmt: skip
def test_unreadable(text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as error:
        read(text)
    assert reason in str(error.value)
