"""Reading a model's two lists of claims."""

from __future__ import annotations

import json

import pytest

from reviewgauge.claims.model import read_claims, written_claims
from reviewgauge.models.answers.text import Unreadable

READ = (("claim", "`tax` is a new parameter."), ("claim", "It is 0."), ("implication", "Callers may pass a tax."))
GOOD = written_claims(READ)


@pytest.mark.parametrize(("text", "found"), [
    (GOOD, READ), (f"```json\n{GOOD}\n```", READ),
    (GOOD.replace("It is", "It\\n  is"), READ),
    ('{"claims": [], "implications": []}', ()),
])  # fmt: skip
def test_two_lists_are_read(text: str, found: tuple[tuple[str, str], ...]) -> None:
    assert read_claims(text) == found


@pytest.mark.parametrize(("text", "problem"), [
    ("", "is empty"),
    ("Claims:\n- A.\n\nImplications:\n- B.", "JSON"),
    ('{"claims": []}', '"implications" is missing'),
    (GOOD.replace("It is 0.", "I'm sorry, but I can't help with that."), "refusal"),
    (GOOD.replace("It is 0.", "..."), "holds no text"),
    (GOOD.replace("It is 0.", "x" * 1001), "at most 1000"),
    (json.dumps({"claims": ["A."] * 61, "implications": []}), "60 items"),
])  # fmt: skip
def test_anything_else_is_unreadable(text: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read_claims(text)
